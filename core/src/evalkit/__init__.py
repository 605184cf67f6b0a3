"""evalkit evaluates agents that build physical things."""
