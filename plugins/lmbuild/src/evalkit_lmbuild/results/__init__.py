"""Tables and figures of runs together, from their records alone."""
