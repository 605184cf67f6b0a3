"""The levels: 189 in 27 families, 60 held-out ones, and the catalogue of their calibrated budgets."""

from evalkit_polybridge.levels.families import FAMILIES, Family, generate
from evalkit_polybridge.levels.heldout import heldout

__all__ = ["FAMILIES", "Family", "generate", "heldout"]
