"""Releases: what runs played, in files that others can check without trusting whoever wrote them.

`gather` reads runs, `layout` says what files an episode becomes, `manifest` what they all claim, `write` puts
them into a folder; `check` reads such a folder and recomputes whatever the claims can be recomputed from.
"""
