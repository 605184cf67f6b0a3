"""What is known about parts: names, aliases, connectors, bounds, meshes, and where it comes from."""
