"""What lmbuild offers to evalkit."""
