"""CSG programs: solids that agents write as lists of operations, compiled to watertight meshes.

`compile_program` loads manifold3d; checking alone (`read_program`) doesn't.
"""

from __future__ import annotations

from evalkit_lmbuild.csg.compiled import Compiled
from evalkit_lmbuild.csg.program import OPERATIONS, Node, Program, ProgramError, read_program

__all__ = ["OPERATIONS", "Compiled", "Node", "Program", "ProgramError", "compile_program", "read_program"]


def compile_program(program: object, *, strict: bool = True) -> Compiled:
    """Compile a CSG program (an object or its JSON text) to a watertight mesh, recentred on its bounding box.

    `strict` is the released protocol; without it clockwise rings are reversed, unknown fields ignored (both
    with a warning) and `shell` works. The same program gives the same bits in every process. Raises
    ProgramError, also where the program would be too large or take too long.
    """
    from evalkit_lmbuild.csg import compiler  # manifold3d and scipy, only when something is compiled

    return compiler.build(program, strict=strict)
