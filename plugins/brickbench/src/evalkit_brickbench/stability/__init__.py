"""Does it stand: a screen of linear programs, then rigid-body simulation of what stays open."""
