"""Ways to play an episode from outside: a shell, MCP, Gymnasium; and the export of what was played.

The walk is always `evalkit.episode.play`. Here it runs in a thread whose agent waits for a client's calls,
so that budgets, counters, state hashes and the record are those of any other episode.
"""
