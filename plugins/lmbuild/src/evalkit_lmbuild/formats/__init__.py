"""Files of designs: design.json with design.glb as the release writes them, and the GLBs of generators.

Nothing here is loaded before a file is read or written.
"""

from __future__ import annotations

from evalkit_lmbuild.formats.errors import CompletionError, DesignError
from evalkit_lmbuild.formats.files import parse_design, parse_json, read_design, write_design
from evalkit_lmbuild.formats.generated import JointCompletion, completed_joints, import_generated
from evalkit_lmbuild.formats.glb import MAX_TRIANGLES, read_glb, write_glb

__all__ = [
    "MAX_TRIANGLES",
    "CompletionError",
    "DesignError",
    "JointCompletion",
    "completed_joints",
    "import_generated",
    "parse_design",
    "parse_json",
    "read_design",
    "read_glb",
    "write_design",
    "write_glb",
]
