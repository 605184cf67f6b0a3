"""What an agent is given to build with, and how the program that it hands in is run."""
