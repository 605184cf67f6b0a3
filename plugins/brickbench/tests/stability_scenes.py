"""Scenes with known truth, from boxes, prisms and cylinders. Lengths in LDU; `up` counts upwards from y = 0.

Boxes of one component are glued; different components only touch.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import ConvexHull

from evalkit_brickbench.scene import Floats, Mesh, Scene


def convex_mesh(points: Floats, inset: float = 0.0) -> Mesh:
    """The hull of points [n, 3], each plane `inset` further inside."""
    hull = ConvexHull(points)
    faces = []
    for face, equation in zip(hull.simplices, hull.equations, strict=True):
        a, b, c = points[face]
        turned = np.cross(b - a, c - a) @ equation[:3] < 0
        faces.append(face[::-1] if turned else face)
    moved = points.astype(float).copy()
    for i, point in enumerate(points):
        planes = np.unique(
            np.round(hull.equations[np.abs(hull.equations @ [*point, 1]) < 1e-6, :3], 6), axis=0
        )
        moved[i] -= inset * np.linalg.pinv(planes) @ np.ones(len(planes))
    return Mesh(moved, np.array(faces, dtype=np.int32), inset)


@dataclass
class Shapes:
    """A mesh source that knows the shapes that builders made."""

    inset: float = 0.0
    points: dict[str, Floats] = field(default_factory=dict)
    id: str = "test shapes"

    def mesh(self, stem: str) -> Mesh | None:
        return convex_mesh(self.points[stem], self.inset) if stem in self.points else None


@dataclass
class Builder:
    """Collects parts and their components."""

    shapes: Shapes = field(default_factory=Shapes)
    stems: list[str] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    matrices: list[Floats] = field(default_factory=list)
    positions: list[tuple[float, float, float]] = field(default_factory=list)

    def add(
        self, component: int, stem: str, points: Floats, x: float, up: float, z: float, turn: Floats
    ) -> None:
        self.shapes.points[stem] = points
        self.stems.append(stem)
        self.labels.append(component)
        self.matrices.append(turn)
        self.positions.append((x, -up, z))

    def box(
        self,
        component: int,
        x: float,
        up: float,
        z: float,
        w: float,
        h: float,
        d: float,
        turn: Floats | None = None,
    ) -> Builder:
        """A box w × h × d whose bottom is centred on (x, up, z), turned about that point."""
        corners = np.array([(i, j, k) for i in (-w / 2, w / 2) for j in (-h, 0.0) for k in (-d / 2, d / 2)])
        self.add(component, f"box {w:g} {h:g} {d:g}", corners, x, up, z, np.eye(3) if turn is None else turn)
        return self

    def cylinder(
        self,
        component: int,
        x: float,
        up: float,
        z: float,
        radius: float,
        h: float,
        turn: Floats | None = None,
    ) -> Builder:
        """A standing 16-sided cylinder."""
        angle = 2 * np.pi * np.arange(16) / 16
        ring = np.stack([radius * np.cos(angle), np.zeros(16), radius * np.sin(angle)], axis=1)
        points = np.concatenate([ring, ring - [0, h, 0]])
        self.add(
            component, f"cylinder {radius:g} {h:g}", points, x, up, z, np.eye(3) if turn is None else turn
        )
        return self

    def cone(
        self, component: int, x: float, up: float, z: float, low: float, high: float, h: float
    ) -> Builder:
        """A 16-sided cone standing on the radius `low`, with `high` above."""
        angle = 2 * np.pi * np.arange(16) / 16
        ring = np.stack([np.cos(angle), np.zeros(16), np.sin(angle)], axis=1)
        points = np.concatenate([low * ring, high * ring - [0, h, 0]])
        self.add(component, f"cone {low:g} {high:g} {h:g}", points, x, up, z, np.eye(3))
        return self

    def wedge(self, component: int, x: float, up: float, z: float, w: float, h: float, d: float) -> Builder:
        """A ramp that rises to +x."""
        points = np.array([(-w / 2, 0, -d / 2), (-w / 2, 0, d / 2), (w / 2, 0, -d / 2), (w / 2, 0, d / 2),
                           (w / 2, -h, -d / 2), (w / 2, -h, d / 2)])  # fmt: skip
        self.add(component, f"wedge {w:g} {h:g} {d:g}", points, x, up, z, np.eye(3))
        return self

    def cup(self, component: int, x: float, up: float, z: float, inner: float, h: float) -> Builder:
        """Floor and four walls, 4 LDU thick, open above; `inner` wide inside."""
        outer = inner + 8
        self.box(component, x, up, z, outer, 4, outer)
        for side in (-1, 1):
            self.box(component, x + side * (inner / 2 + 2), up + 4, z, 4, h - 4, outer)
            self.box(component, x, up + 4, z + side * (inner / 2 + 2), inner, h - 4, 4)
        return self

    def ring(self, component: int, x: float, up: float, z: float, inner: float, h: float) -> Builder:
        """Four walls, 4 LDU thick, open above and below."""
        for side in (-1, 1):
            self.box(component, x + side * (inner / 2 + 2), up, z, 4, h, inner + 8)
            self.box(component, x, up, z + side * (inner / 2 + 2), inner, h, 4)
        return self

    def scene(self) -> Scene:
        n = len(self.stems)
        return Scene(
            stems=tuple(self.stems),
            colours=np.full(n, 4, dtype=np.int32),
            matrices=np.array(self.matrices),
            positions=np.array(self.positions, dtype=float),
            paths=("",) * n,
            steps=np.zeros(n, dtype=np.int32),
        )


def tilt(degrees: float) -> Floats:
    """A rotation about z; positive leans to +x at the top."""
    a = np.radians(degrees)
    return np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1.0]])


def spin(degrees: float) -> Floats:
    """A rotation about the vertical."""
    a = np.radians(degrees)
    return np.array([[np.cos(a), 0, np.sin(a)], [0, 1.0, 0], [-np.sin(a), 0, np.cos(a)]])


def tower(count: int, step: float = 0.0) -> Builder:
    """Loose bricks on top of each other, each `step` further to the side."""
    b = Builder()
    for k in range(count):
        b.box(k, k * step, 24 * k, 0, 40, 24, 40)
    return b


def wall(count: int) -> Builder:
    """One component of `count` bricks: courses of 40 on each other."""
    b = Builder()
    for k in range(count):
        b.box(0, 20 * (k % 40), 24 * (k // 40), 0, 20, 24, 40)
    return b


def in_the_air(height: float) -> Builder:
    """A brick on the ground, another far from it above the ground."""
    return Builder().box(0, 0, 0, 0, 40, 24, 40).box(1, 200, height, 0, 40, 24, 40)


def above(height: float) -> Builder:
    """A brick in the air above another one."""
    return Builder().box(0, 0, 0, 0, 80, 24, 80).box(1, 0, 24 + height, 0, 40, 24, 40)


def overhang(reach: float) -> Builder:
    """A plank of 80 whose middle is `reach` beyond the edge of the block underneath."""
    return Builder().box(0, 0, 0, 0, 40, 24, 40).box(1, 20 + reach, 24, 0, 80, 8, 40)


def arch(span: float) -> Builder:
    """A beam over two loose towers of three bricks."""
    b = Builder()
    for k in range(3):
        b.box(k, -span / 2, 24 * k, 0, 20, 24, 20).box(3 + k, span / 2, 24 * k, 0, 20, 24, 20)
    return b.box(6, 0, 72, 0, span + 20, 24, 20)


def lone_overhang(reach: float) -> Builder:
    """One component: a foot and an arm whose common centre of mass is `reach` beyond the foot's edge."""
    # foot 20 × 24 × 20 at 0 (mass 9600); arm 80 × 12 × 20 (mass 19200) centred at m: com = 2m/3 = 10 + reach
    return Builder().box(0, 0, 0, 0, 20, 24, 20).box(0, 1.5 * (10 + reach), 24, 0, 80, 12, 20)


def seesaw(offset: float) -> Builder:
    """A plank on a narrow post, `offset` from its middle."""
    return Builder().box(0, 0, 0, 0, 8, 48, 20).box(1, offset, 48, 0, 160, 8, 20)


def loaded_seesaw(left: float, right: float) -> Builder:
    """A plank over a post with bricks on its ends of the given heights."""
    b = Builder().box(0, 0, 0, 0, 8, 24, 20).box(1, 0, 24, 0, 160, 8, 20)
    return b.box(2, -70, 32, 0, 20, left, 20).box(3, 70, 32, 0, 20, right, 20)


def leaning(degrees: float) -> Builder:
    """A loose board leaning with its top against a heavy block: held by friction at both ends."""
    a = np.radians(degrees)
    b = Builder().box(0, 100, 0, 0, 120, 200, 120)
    # bottom corner at the ground; the upper right edge touches the wall at x = 40
    w, h = 8.0, 100.0
    right_top = np.array([w / 2 * np.cos(a) + h * np.sin(a), w / 2 * -np.sin(a) + h * np.cos(a)])
    lowest = -w / 2 * np.sin(a)
    return b.box(1, 40 - right_top[0], -lowest, 0, w, h, 40, tilt(degrees))


def all_scenes() -> dict[str, tuple[Builder, bool]]:
    """Scenes by name, with the truth."""
    quarter = spin(30)
    return {
        "brick": (Builder().box(0, 0, 0, 0, 40, 24, 40), True),
        "two bricks apart": (Builder().box(0, 0, 0, 0, 40, 24, 40).box(1, 100, 0, 0, 40, 24, 40), True),
        "two bricks flush": (Builder().box(0, 0, 0, 0, 40, 24, 40).box(1, 40, 0, 0, 40, 24, 40), True),
        "air 1": (in_the_air(1), True),
        "air 2": (in_the_air(2), True),
        "air 4": (in_the_air(4), False),
        "air 8": (in_the_air(8), False),
        "above 1": (above(1), True),
        "above 2": (above(2), True),
        "above 4": (above(4), False),
        "above 8": (above(8), False),
        "beside a tower, diagonally": (
            Builder().box(0, 0, 0, 0, 40, 24, 40).box(1, 40, 24, 0, 40, 24, 40), False),
        "slim post": (Builder().box(0, 0, 0, 0, 4, 200, 4), True),
        "leaning post": (
            Builder().box(0, 0, 0.5 * 8 * np.sin(np.radians(20)), 0, 8, 100, 8, tilt(20)), False),
        "barely leaning post": (
            Builder().box(0, 0, 10 * np.sin(np.radians(1)), 0, 20, 60, 20, tilt(1)), True),
        "lone overhang inside": (lone_overhang(-1.5), True),
        "lone overhang outside": (lone_overhang(1.5), False),
        "overhang inside": (overhang(-2), True),
        "overhang just inside": (overhang(-0.8), True),
        "overhang just outside": (overhang(0.8), False),
        "overhang outside": (overhang(2), False),
        "overhang with counterweight": (overhang(4).box(2, -10, 32, 0, 20, 24, 40), True),
        "arch": (arch(80), True),
        "arch with a foot missing": (
            Builder().box(0, -40, 0, 0, 20, 72, 20).box(1, 0, 72, 0, 100, 24, 20), False),
        "caught in a cup": (Builder().cup(0, 0, 0, 0, 24, 40).box(1, 0, 4, 0, 23, 30, 23), True),
        "tall in a tight cup": (Builder().cup(0, 0, 0, 0, 24, 60).box(1, 0, 4, 0, 23.5, 150, 23.5), True),
        "above the floor of a cup": (Builder().cup(0, 0, 0, 0, 24, 40).box(1, 0, 8, 0, 23, 30, 23), False),
        "ring around a pole": (
            Builder().box(0, 0, 0, 0, 80, 8, 80).box(0, 0, 8, 0, 10, 80, 10).ring(1, 0, 8, 0, 11, 12), True),
        "ring around a pole in the air": (
            Builder().box(0, 0, 0, 0, 80, 8, 80).box(0, 0, 8, 0, 10, 80, 10)
            .ring(1, 0, 40, 0, 11, 12), False),
        "ring on the ground around a pole": (
            Builder().box(0, 0, 0, 0, 10, 80, 10).ring(1, 0, 0, 0, 11, 12), True),
        "ring held by a collar": (
            Builder().box(0, 0, 0, 0, 40, 8, 40).box(0, 0, 8, 0, 10, 80, 10).box(0, 0, 30, 0, 16, 8, 16)
            .ring(1, 0, 38, 0, 11, 12), True),
        "lid on a box": (
            Builder().cup(0, 0, 0, 0, 40, 40).box(1, 0, 40, 0, 48, 4, 48).box(1, 0, 36, 0, 38, 4, 38), True),
        "thing in a box with a lid": (
            Builder().cup(0, 0, 0, 0, 40, 40).box(1, 0, 4, 0, 20, 20, 20).box(2, 0, 40, 0, 48, 4, 48), True),
        "tower of 2": (tower(2), True),
        "tower of 10": (tower(10), True),
        "leaning tower within its base": (tower(6, 3.0), True),
        "leaning tower beyond its base": (tower(8, 8.0), False),
        "see-saw balanced": (seesaw(0), True),
        "see-saw off its post": (seesaw(5), False),
        "see-saw loaded evenly": (loaded_seesaw(24, 24), True),
        "see-saw loaded on one side": (loaded_seesaw(48, 8), False),
        "leaning steeply on a wall": (leaning(10), True),
        "cylinder": (Builder().cylinder(0, 0, 0, 0, 10, 60), True),
        "cylinder on a brick": (Builder().box(0, 0, 0, 0, 40, 24, 40).cylinder(1, 0, 24, 0, 10, 40), True),
        "cone on its tip": (Builder().cone(0, 0, 0, 0, 0.3, 12, 40).box(0, 8, 40, 0, 20, 8, 8), False),
        "cone on its base": (Builder().cone(0, 0, 0, 0, 12, 2, 40), True),
        "turned brick on a turned brick": (
            Builder().box(0, 0, 0, 0, 40, 24, 40, quarter).box(1, 0, 24, 0, 40, 24, 40, spin(75)), True),
        "brick on a slight ramp": (
            Builder().wedge(0, 0, 0, 0, 120, 12, 60)
            .box(1, 0, 6, 0, 20, 10, 20, tilt(-np.degrees(np.arctan(0.1)))), True),
        "hook on a rail": (
            Builder().box(0, 0, 0, 0, 80, 8, 80).box(0, -30, 8, 0, 8, 80, 60).box(0, 0, 80, 0, 60, 8, 8)
            .box(1, 10, 88, 0, 8, 4, 16).box(1, 10, 60, 6, 8, 28, 4).box(1, 10, 60, -6, 8, 28, 4), True),
        "bridge on the brink": (
            Builder().box(0, -50, 0, 0, 20, 24, 20).box(1, 50, 0, 0, 20, 24, 20)
            .box(2, 0, 24, 0, 81, 8, 20), True),
        "bridge too short": (
            Builder().box(0, -50, 0, 0, 20, 24, 20).box(1, 50, 0, 0, 20, 24, 20)
            .box(2, 1, 24, 0, 79, 8, 20), False),
    }  # fmt: skip
