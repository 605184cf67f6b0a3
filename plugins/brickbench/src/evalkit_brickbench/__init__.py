"""BrickBench for evalkit: LDraw models, typed connectors, collisions, stability."""
