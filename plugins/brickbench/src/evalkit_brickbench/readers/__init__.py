"""Readers for what other systems write: BrickNet's path text and BrickGPT's list of bricks, as scenes.

from evalkit_brickbench.readers.samples import read_scene

scene = read_scene(text)   # ReaderError names the line that can't be read
"""
