"""Agents of the core: they play any benchmark."""
