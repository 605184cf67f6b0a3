"""LMBuild for evalkit: articulated objects built from parts, joints and materials."""
