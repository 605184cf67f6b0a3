"""Coding agents that are programs of their own: `cli:claude`, `cli:codex`, `cli:gemini`, `cli:FILE.toml`."""
