"""Proof that tasks and metrics are right: references score high, broken ones fall where they should."""
