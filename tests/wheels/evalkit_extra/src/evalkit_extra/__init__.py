"""What somebody else adds to polybridge, without a word to its authors."""
