"""Checks on assemblies: the same that decide whether a submission is valid.

What they need (solvers, meshes) is imported when the first one runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evalkit_brickbench.build._assembly import Assembly, PlacedPart
from evalkit_brickbench.build._connectors import connectors_of_part
from evalkit_brickbench.build._errors import BuildError
from evalkit_brickbench.build._files import mpd_of, scene_of
from evalkit_brickbench.build._knowledge import catalogue

if TYPE_CHECKING:
    from evalkit_brickbench.inspection import Inspection

ProfileName = Literal["brickbench", "bricknet-0.1.0"]
VIEW_PX = 768


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Joint:
    """A connection: two parts, their connectors by name, its family ("stud", "axle", …), and how far it is
    from a perfect fit, in LDU and rad, in what the family holds fast."""

    one: PlacedPart
    other: PlacedPart
    one_connector: str
    other_connector: str
    family: str
    residual_ldu: float
    residual_rad: float

    def __str__(self) -> str:
        return f"{self.one}.{self.one_connector} - {self.other}.{self.other_connector} ({self.family})"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Clash:
    """Two parts that run into each other. `kind`: "surface", "containment" or "duplicate"; `overlap`: the
    size in LDU of what the boxes around them share."""

    one: PlacedPart
    other: PlacedPart
    kind: str
    overlap: tuple[float, float, float]

    def __str__(self) -> str:
        size = " x ".join(f"{v:.3g}" for v in self.overlap)
        return f"{self.one} and {self.other}: {self.kind}, boxes share {size} LDU"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Check:
    """What the checks say of a model.

    `ok`: all parts known, no clash, stable. `components`: the sets of parts that hang together, in the order
    of their first parts. `stable`: None where it wasn't looked at (clashes come first) or can't be told.
    `text`: the whole report.
    """

    ok: bool
    parts: int
    components: tuple[tuple[PlacedPart, ...], ...]
    clashes: tuple[Clash, ...]
    stable: bool | None
    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def connections(model: Assembly) -> tuple[Joint, ...]:
    """All connections of a model, sorted by parts."""
    from evalkit_brickbench.connections import FAMILIES, connect

    parts = model.parts
    edges = connect(scene_of(model), catalogue())
    return tuple(
        Joint(
            parts[a],
            parts[b],
            connectors_of_part(parts[a].stem)[ca].name,
            connectors_of_part(parts[b].stem)[cb].name,
            FAMILIES[family],
            ldu,
            rad,
        )
        for a, b, ca, cb, family, ldu, rad in zip(
            edges.part_a.tolist(),
            edges.part_b.tolist(),
            edges.connector_a.tolist(),
            edges.connector_b.tolist(),
            edges.families.tolist(),
            edges.residual_ldu.tolist(),
            edges.residual_rad.tolist(),
            strict=True,
        )
    )


def clashes(model: Assembly, profile: ProfileName = "brickbench") -> tuple[Clash, ...]:
    """Pairs of parts that run into each other, under the depth that a profile allows (1.0 or 0.5 LDU)."""
    from evalkit_brickbench.collisions import PROFILES, collide
    from evalkit_brickbench.parts.providers import providers

    known = providers()
    found = collide(scene_of(model), known.meshes, known.catalogue, PROFILES[profile])
    parts = model.parts
    return tuple(
        _clash(parts, i, j, kind, box)
        for (i, j), kind, box in zip(found.pairs.tolist(), found.kinds, found.boxes.tolist(), strict=True)
    )


def check(model: Assembly, profile: ProfileName = "brickbench") -> Check:
    """Put a model through the checks of the benchmark: connections, collisions, stability on the ground.

    BuildError for a model without parts.
    """
    from evalkit_brickbench.report import as_text

    found = _inspected(model, profile, stand=True)
    parts = model.parts
    collisions = found.collisions
    pairs = [] if collisions is None else collisions.pairs.tolist()
    colliding = (
        [] if collisions is None else zip(pairs, collisions.kinds, collisions.boxes.tolist(), strict=True)
    )
    labels = found.components.labels.tolist()
    groups: list[list[PlacedPart]] = [[] for _ in found.components.sizes]
    for part, label in zip(parts, labels, strict=True):
        if label >= 0:
            groups[label].append(part)
    stable = None if found.stability is None else found.stability.stable
    return Check(
        ok=found.collision_free and stable is True and not found.connections.unknown and not found.failures,
        parts=len(parts),
        components=tuple(map(tuple, groups)),
        clashes=tuple(_clash(parts, i, j, kind, box) for (i, j), kind, box in colliding),
        stable=stable,
        text="\n".join(as_text(found, model.name)),
    )


def view(
    model: Assembly, path: str | Path = "view.png", side: int | None = None, size_px: int = VIEW_PX
) -> Path:
    """Write a picture (PNG) of a model and return its path.

    Four sides on a sheet, with colliding and moving parts in colour below where there are any; or one of the
    eight sides that judges see: 0 is the front, each further one 45° to the right.
    """
    if not model.parts:
        raise BuildError(f"{model.name} has no parts to look at")
    path = Path(path)
    path.write_bytes(picture(mpd_of(model), model.name, side, size_px))
    return path


def picture(data: bytes, name: str, side: int | None = None, size_px: int = VIEW_PX) -> bytes:
    """The picture that `view` writes, of the model in an MPD file."""
    from evalkit.render3d import png
    from evalkit_brickbench.inspection import inspect
    from evalkit_brickbench.pictures import VIEWS, draw, instances, sheet

    if side is not None and side not in range(VIEWS):
        raise BuildError(f"there is no side {side}: there are 0 … {VIEWS - 1}")
    found = inspect(data, f"{name}.mpd", stand=False)
    if side is None:
        pictures = [drawn.data for drawn in sheet(found)]
    else:
        shown = instances(found)
        pictures = [png(draw(shown, side, size_px))] if shown else []
    if not pictures:
        raise BuildError(f"{name} has no part with a known shape")
    return pictures[0]


def _inspected(model: Assembly, profile: ProfileName, *, stand: bool) -> Inspection:
    from evalkit_brickbench.inspection import Protocol, inspect

    if not model.parts:
        raise BuildError(f"{model.name} has no parts to look at")
    return inspect(mpd_of(model), f"{model.name}.mpd", Protocol(profile), stand=stand)


def _clash(parts: tuple[PlacedPart, ...], i: int, j: int, kind: str, box: list[list[float]]) -> Clash:
    x, y, z = (high - low for low, high in zip(*box, strict=True))
    return Clash(parts[i], parts[j], kind, (x, y, z))
