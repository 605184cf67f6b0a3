"""Models that look at pictures of designs: what they are shown, how they are asked."""
