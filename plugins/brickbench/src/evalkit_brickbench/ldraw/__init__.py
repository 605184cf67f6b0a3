"""LDraw files: reading, flattening, writing, colours and geometry."""
