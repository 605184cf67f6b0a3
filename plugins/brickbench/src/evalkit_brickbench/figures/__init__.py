"""Figures of runs: drawn from their records alone, as SVG and PNG, to the same bytes every time."""
