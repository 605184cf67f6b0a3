"""Building with tools: JSON in, JSON and pictures out, for models that can't run code.

`session.ToolSession` holds what was built and carries out calls; `arguments.TOOLS` says which there are.
Nothing here knows evalkit.
"""
