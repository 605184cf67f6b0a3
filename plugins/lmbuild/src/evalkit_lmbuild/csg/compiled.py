"""What compiling a CSG program gives."""

from __future__ import annotations

from dataclasses import dataclass

from evalkit_lmbuild.design import Floats, Mesh, Vector


@dataclass(frozen=True, eq=False)
class Compiled:
    """A part made by a program.

    `mesh` (m, the centre of its bounding box in the origin), `size` extents in m, `volume` m³, `pieces` how
    many solids it is and `piece_volumes` their volumes in m³ (largest first), `recentred_by` the centre of
    its bounding box in the program's own frame (m), and `warnings` for the author of the program.
    """

    mesh: Mesh
    size: Vector
    volume: float
    piece_volumes: tuple[float, ...]
    recentred_by: Vector
    warnings: tuple[str, ...] = ()

    @property
    def pieces(self) -> int:
        """How many separate solids the part is."""
        return len(self.piece_volumes)

    @property
    def n_triangles(self) -> int:
        """Triangles of the mesh."""
        return len(self.mesh.faces)

    @classmethod
    def of(
        cls, mesh: Mesh, piece_volumes: tuple[float, ...], centre: Floats, warnings: tuple[str, ...]
    ) -> Compiled:
        """With size and volume taken from the mesh and its pieces."""
        width, depth, height = mesh.size.tolist()
        x, y, z = (centre + 0.0).tolist()
        return cls(mesh, (width, depth, height), sum(piece_volumes), piece_volumes, (x, y, z), warnings)
