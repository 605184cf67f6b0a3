"""Assemblies in a mirror, with the parts that look like the reflections of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalkit_brickbench.build._errors import BuildError, listed
from evalkit_brickbench.build._knowledge import mirror_image, title_of
from evalkit_brickbench.build._pose import Axis, Pose
from evalkit_brickbench.build._symmetry import own_reflection
from evalkit_brickbench.scene import Floats

if TYPE_CHECKING:
    from evalkit_brickbench.build._assembly import Assembly, Member


def mirrored(model: Assembly, axis: Axis, at: float, name: str | None) -> Assembly:
    """See `Assembly.mirror`."""
    if axis not in ("x", "y", "z") or not np.isfinite(at):
        raise BuildError(f"there is no mirror at {axis!r} = {at}: give 'x', 'y' or 'z' and a finite number")
    missing = [stem for stem in sorted({part.stem for part in model.parts}) if _image(stem) is None]
    if missing:
        named = listed([f"{stem} ({title_of(stem)})" for stem in missing])
        raise BuildError(f"{model.name} can't be mirrored: no mirror image is known of {named}")
    through = _reflection(axis, at)
    return _Mirror(through, _reflection(axis, 0.0)).of(model, name or f"{model.name} mirrored", through)


def _reflection(axis: Axis, at: float) -> Floats:
    """The reflection [4, 4] across the plane `axis` = `at`."""
    row = "xyz".index(axis)
    matrix = np.eye(4)
    matrix[row, row] = -1.0
    matrix[row, 3] = 2.0 * at
    return matrix


def _image(stem: str) -> tuple[str, Floats] | None:
    """The part whose geometry, put through a reflection [4, 4], is that of `stem`: from the catalogue, or the
    part itself where it is symmetric."""
    known = mirror_image(stem)
    if known is not None:
        return known.stem, known.pose
    own = own_reflection(stem)
    return None if own is None else (stem, own)


class _Mirror:
    """Mirrors the members of the outermost assembly with one reflection, and each assembly within once, in
    its own frame."""

    def __init__(self, outer: Floats, inner: Floats) -> None:
        self._outer, self._inner = outer, inner
        self._made: dict[int, Assembly] = {}

    def of(self, model: Assembly, name: str, reflection: Floats) -> Assembly:
        """A new assembly of the mirrored members."""
        image = type(model)(name)
        for member in model.members:
            self._add(image, member, reflection)
        return image

    def _add(self, image: Assembly, member: Member, reflection: Floats) -> None:
        if member.assembly is not None:
            pose = reflection @ member.pose.matrix @ self._inner
            image.add(self._within(member.assembly), Pose(pose), member.color)
            return
        counterpart = _image(member.stem or "")
        if counterpart is not None:
            stem, own = counterpart
            image.add(stem, Pose(reflection @ member.pose.matrix @ own), member.color)

    def _within(self, assembly: Assembly) -> Assembly:
        if id(assembly) not in self._made:
            self._made[id(assembly)] = self.of(assembly, f"{assembly.name} mirrored", self._inner)
        return self._made[id(assembly)]
