"""PolyBridgeBench: bridges as graphs, judged by whether vehicles cross them."""

__version__ = "0.1.0"
