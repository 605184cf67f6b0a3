"""Formulas of the metrics: from a design, the facts of its object and the kernel to scores with evidence."""
