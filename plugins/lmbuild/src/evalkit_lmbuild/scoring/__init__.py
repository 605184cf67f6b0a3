"""Formulas of the metrics: a design, the facts of the object and the kernel's field give a score and its evidence."""
