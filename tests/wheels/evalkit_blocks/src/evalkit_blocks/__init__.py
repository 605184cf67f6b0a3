"""Blocks: stack boxes up to a height without toppling. A toy that has everything a benchmark can have."""
