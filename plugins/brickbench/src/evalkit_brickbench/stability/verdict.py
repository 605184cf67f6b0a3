"""The verdict: screen first, simulate what stays open, admit what can't be told."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench.parts.catalogue import Catalogue
from evalkit_brickbench.scene import Floats, MeshSource, Scene
from evalkit_brickbench.stability import constants as c
from evalkit_brickbench.stability.balance import centre_margin, feet, tilt_shift, tips
from evalkit_brickbench.stability.bodies import Body, make_bodies
from evalkit_brickbench.stability.contacts import (
    GROUND,
    Contacts,
    FacingCache,
    clusters,
    contacts_between,
    ground_contacts,
    join,
)
from evalkit_brickbench.stability.pieces import PIECE_LIMIT, EngineBody, Pieces
from evalkit_brickbench.stability.programs import drops, free_motion, residual_gaps, rests
from evalkit_brickbench.stability.simulation import available_engine, engine_version, run
from evalkit_brickbench.stability.solids import Solid, Solids, placed_solids
from evalkit_brickbench.stability.worker import Outcome

TOO_MANY_PIECES = f"more than {PIECE_LIMIT:,} faces near other components: too many to simulate"


@dataclass(frozen=True, slots=True)
class ComponentMotion:
    """What happens to one component. `drop_ldu`: how far it can fall straight down (0 = it rests);
    `displacement_ldu`: how far it moves, as far as the verdict had to look; `furthest_part`: the part of
    which a corner moves furthest; `centre_margin_ldu`: how far its centre of mass is inside its support,
    seen from above (negative outside, None if nothing supports it where it is)."""

    component: int
    parts: int
    moves: bool | None
    drop_ldu: float
    displacement_ldu: float
    furthest_part: int
    centre_margin_ldu: float | None


@dataclass(frozen=True, slots=True)
class ClusterVerdict:
    """Components (labels) within reach of each other, judged together. `method`: screen, simulation or
    undetermined; `reason`: one line for people."""

    components: tuple[int, ...]
    stable: bool | None
    method: str
    reason: str


@dataclass(frozen=True, slots=True)
class Stability:
    """Whether a scene stands (None: undetermined), how that was found, and what moves.

    `ground_part` is the part that sets the height of the ground, `ground_ldu`. `touching`: pairs of
    components that rest on or hold each other without being connected. `engine` is set where something
    was simulated. `notes` are for people: flags, fallbacks, what was left out.
    """

    stable: bool | None
    method: str
    max_displacement_ldu: float
    components: tuple[ComponentMotion, ...]
    clusters: tuple[ClusterVerdict, ...]
    ground_part: int | None
    ground_ldu: float | None
    touching: tuple[tuple[int, int], ...]
    notes: tuple[str, ...]
    engine: str | None
    geometry: str
    constants: Mapping[str, float]

    @property
    def in_the_air(self) -> tuple[ComponentMotion, ...]:
        """Components that start in the air."""
        return tuple(motion for motion in self.components if motion.drop_ldu > c.AIR_LDU)

    @property
    def moving(self) -> tuple[ComponentMotion, ...]:
        """Components that move further than the limit."""
        return tuple(motion for motion in self.components if motion.moves)

    def as_dict(self) -> dict[str, object]:
        """All fields as plain values."""
        return asdict(self)


def judge_stability(
    scene: Scene,
    component_of: NDArray[np.integer] | Sequence[int],
    meshes: MeshSource,
    *,
    engine: str = "pybullet",
    seconds: float = 20.0,
    catalogue: Catalogue | None = None,
    solids: Solids | None = None,
    cache: FacingCache | None = None,
    screen: bool = True,
) -> Stability:
    """Judge whether a scene without collisions stands.

    `component_of` [n] labels the connected components of the parts from 0; −1 leaves a part out. The
    `catalogue` resolves aliases. `seconds` bounds all simulation together. `solids` and
    `cache` can be kept between calls with the same meshes. Without `screen` everything is simulated.
    Raises `ValueError` for labels that don't fit or an unknown engine.
    """
    labels = np.asarray(component_of, dtype=np.int64)
    if labels.shape != (len(scene),):
        raise ValueError(f"{len(scene)} parts need as many component labels, not {labels.shape}")
    chosen = available_engine(engine)
    found, rotations, positions = placed_solids(scene, solids or Solids(meshes), catalogue, labels)
    bodies = make_bodies(labels, found, rotations, positions)
    notes = _left_out(scene, labels, found)
    if not bodies:
        notes.append("no part with a known shape")
        return Stability(
            None, "undetermined", 0.0, (), (), None, None, (), tuple(notes), None, meshes.id, c.as_dict()
        )  # fmt: skip
    judge = _Judge(bodies, found, rotations, positions, cache or FacingCache())
    pending = [judge.screened(group) if screen else None for group in judge.groups]
    judge.simulate([i for i, verdict in enumerate(pending) if verdict is None], pending, chosen, seconds)
    return judge.result([v for v in pending if v is not None], notes, chosen, engine, meshes.id)


def _left_out(scene: Scene, labels: NDArray[np.int64], found: list[Solid | None]) -> list[str]:
    notes = []
    unknown = int((labels < 0).sum())
    if unknown:
        notes.append(f"{unknown} unknown part{'' if unknown == 1 else 's'} left out")
    shapeless = sorted({scene.stems[i] for i in np.flatnonzero(labels >= 0) if found[i] is None})
    if shapeless:
        notes.append(f"no shape known, left out: {', '.join(shapeless)}")
    rough = sorted({s.key[0] for s in found if s is not None and s.fallback})
    if rough:
        notes.append(f"mass from voxels, the mesh is open: {', '.join(rough)}")
    return notes


class _Judge:
    """One scene on the way to its verdict."""

    def __init__(
        self,
        bodies: list[Body],
        solids: list[Solid | None],
        rotations: Floats,
        positions: Floats,
        cache: FacingCache,
    ) -> None:
        self.bodies = bodies
        self.placed = (solids, rotations, positions)
        lowest = max(bodies, key=lambda body: body.lowest_ldu)
        self.ground_ldu, self.ground_part = lowest.lowest_ldu, lowest.lowest_part
        between, near = contacts_between(bodies, *self.placed, cache)
        self.contacts = join([between, ground_contacts(bodies, self.ground_ldu)])
        self.groups = clusters(len(bodies), near)
        self.drop = drops(len(bodies), self.contacts)
        self.moved = self.drop.copy()
        self.furthest = np.array([body.lowest_part for body in bodies])
        self.moves: list[bool | None] = [None] * len(bodies)
        self.fixed = np.zeros(len(bodies), dtype=bool)
        self.notes: list[str] = []
        self.simulated = False

    # -- screen ------------------------------------------------------------------------------------------

    def screened(self, group: list[int]) -> ClusterVerdict | None:
        """The verdict on a cluster if the screen can tell, None if not."""
        falling = [i for i in group if self.drop[i] > c.DROP_FAILS_LDU]
        for i in group:
            if abs(self.drop[i] - c.LIMIT_LDU) <= c.DROP_FLAG_LDU:
                self.notes.append(
                    f"component {self.bodies[i].label} starts {self.drop[i]:.2f} LDU in the air: "
                    f"too close to the limit of {c.LIMIT_LDU:g} to be sure"
                )
        if falling:
            worst = max(falling, key=lambda i: float(self.drop[i]))
            for i in falling:
                self.moves[i] = True
            return self._verdict(group, False, f"falls {self.drop[worst]:.2f} LDU")
        return self._lone(group[0]) if len(group) == 1 else self._together(group)

    def _lone(self, i: int) -> ClusterVerdict | None:
        body = self.bodies[i]
        if c.LIMIT_LDU - self.drop[i] < c.DROP_FAILS_LDU - c.LIMIT_LDU:
            return None
        level = centre_margin(body, feet(body))
        if level is not None and level >= c.LONE_MARGIN_LDU + tilt_shift(body):
            return self._verdict([i], True, "centre of mass inside its support")
        motion = free_motion([body], self._part_of([i])[1], c.LONE_MARGIN_LDU + tilt_shift(body))
        if motion.max() <= c.STABLE_MOTION_LDU:
            self.moved[i] = max(self.moved[i], float(motion.max()))
            return self._verdict([i], True, "can't move noticeably")
        tip = tips(body)
        if tip is None:
            return None
        self.moves[i] = True
        self.moved[i] = tip.motion_ldu
        self.furthest[i] = body.hull_parts[tip.corner]
        return self._verdict([i], False, f"tips over: moves {tip.motion_ldu:.1f} LDU")

    def _together(self, group: list[int]) -> ClusterVerdict | None:
        bodies, contacts, drop = self._part_of(group)
        if drop.max() < c.SUPPORT_DROP_LDU and rests(bodies, contacts, drop):
            return self._verdict(group, True, "forces of support balance")
        motion = free_motion(bodies, contacts, c.SHIFT_DISPLACEMENT_LDU)
        fixed = motion <= c.STABLE_MOTION_LDU
        if fixed.all():
            self.moved[group] = np.maximum(self.moved[group], motion)
            return self._verdict(group, True, "can't move noticeably")
        if fixed.any() and drop.max() < c.SUPPORT_DROP_LDU and self._rests_on_fixed(group, fixed):
            self.moved[group] = np.maximum(self.moved[group], np.where(fixed, motion, 0.0))
            return self._verdict(group, True, "most can't move noticeably, forces support the rest")
        self.fixed[group] = fixed
        return None

    def _rests_on_fixed(self, group: list[int], fixed: NDArray[np.bool_]) -> bool:
        """Whether what could slide without friction rests on the bodies that can't, as on the ground."""
        bodies, contacts, drop = self._part_of([i for i, held in zip(group, fixed, strict=True) if not held])
        return rests(bodies, contacts, drop)

    def _part_of(self, group: list[int]) -> tuple[list[Body], Contacts, Floats]:
        """Some bodies, their contacts (numbered by these bodies, all others the ground) and their drops."""
        involved = np.isin(self.contacts.a, group) | np.isin(self.contacts.b, group)
        inside = self.contacts.select(involved)
        position = np.full(len(self.bodies) + 1, GROUND)
        position[group] = np.arange(len(group))
        renumbered = replace(inside, a=position[inside.a], b=position[inside.b])
        return [self.bodies[i] for i in group], renumbered, self.drop[group]

    def _verdict(
        self, group: list[int], stable: bool | None, reason: str, method: str = "screen"
    ) -> ClusterVerdict:
        if stable:
            for i in group:
                self.moves[i] = False
        return ClusterVerdict(tuple(self.bodies[i].label for i in group), stable, method, reason)

    # -- simulation --------------------------------------------------------------------------------------

    def simulate(
        self, open_groups: list[int], verdicts: list[ClusterVerdict | None], engine: str, seconds: float
    ) -> None:
        """Fill in the verdicts of the groups that are open, smallest first."""
        if not open_groups:
            return
        until = time.monotonic() + seconds
        pieces = Pieces()
        order = sorted(open_groups, key=lambda g: sum(len(self.bodies[i].parts) for i in self.groups[g]))
        jobs: dict[int, list[EngineBody]] = {}
        for g in order:
            made = self._engine_bodies(pieces, self.groups[g])
            if made is None:
                verdicts[g] = self._verdict(self.groups[g], None, TOO_MANY_PIECES, "undetermined")
            else:
                jobs[g] = made
        if not jobs:
            return
        self.simulated = True
        outcomes, trouble = run(engine, self.ground_ldu, list(jobs.values()), until - time.monotonic())
        for g, outcome in zip(jobs, outcomes, strict=True):
            verdicts[g] = self._from_outcome(self.groups[g], outcome, trouble)

    def _engine_bodies(self, pieces: Pieces, group: list[int]) -> list[EngineBody] | None:
        bodies = [self.bodies[i] for i in group]
        if len(group) == 1:
            return [pieces.lone(bodies[0])]
        return pieces.cluster(bodies, self.fixed[group], self.ground_ldu, *self.placed)

    def _from_outcome(self, group: list[int], outcome: Outcome | None, trouble: str) -> ClusterVerdict:
        if outcome is None:
            return self._verdict(group, None, trouble, "undetermined")
        if outcome.end == "overlap":
            return self._verdict(group, None, "pieces overlap at the start", "undetermined")
        for i, moved, corner in zip(group, outcome.displacements, outcome.corners, strict=True):
            self.moved[i] = moved
            self.furthest[i] = self.bodies[i].hull_parts[corner]
        if outcome.end == "kick":
            return self._verdict(group, None, "moves faster than it could fall", "undetermined")
        if outcome.end != "moved":
            return self._verdict(group, True, f"at rest after {outcome.steps} ms", "simulation")
        worst = max(group, key=lambda i: float(self.moved[i]))
        for i in group:
            self.moves[i] = bool(self.moved[i] > c.LIMIT_LDU)
        if outcome.speed_ldu_per_s < c.DRIFT_LDU_PER_S:
            self.notes.append(
                f"component {self.bodies[worst].label} creeps past the limit at "
                f"{outcome.speed_ldu_per_s:.1f} LDU/s without falling: numerical drift, as in tall builds"
            )
        return self._verdict(group, False, f"moves {self.moved[worst]:.2f} LDU", "simulation")

    # -- report ------------------------------------------------------------------------------------------

    def result(
        self, verdicts: list[ClusterVerdict], notes: list[str], engine: str, wanted: str, geometry: str
    ) -> Stability:
        """Everything together."""
        stable, method = overall(verdicts)
        if self.simulated and engine != wanted:
            notes.append(f"{wanted} isn't installed: simulated with {engine}")
        return Stability(
            stable=stable,
            method=method,
            max_displacement_ldu=float(self.moved.max()),
            components=self._motions(),
            clusters=tuple(verdicts),
            ground_part=self.ground_part,
            ground_ldu=self.ground_ldu,
            touching=self._touching(),
            notes=tuple(notes + self.notes),
            engine=engine_version(engine) if self.simulated else None,
            geometry=geometry,
            constants=c.as_dict(),
        )

    def _motions(self) -> tuple[ComponentMotion, ...]:
        support = self._support()
        return tuple(self._motion(i, support[i]) for i in range(len(self.bodies)))

    def _motion(self, i: int, support: Floats) -> ComponentMotion:
        body = self.bodies[i]
        return ComponentMotion(
            component=body.label,
            parts=len(body.parts),
            moves=self.moves[i],
            drop_ldu=float(self.drop[i]),
            displacement_ldu=float(self.moved[i]),
            furthest_part=int(self.furthest[i]),
            centre_margin_ldu=centre_margin(body, support),
        )

    def _support(self) -> list[Floats]:
        """Points [n, 3] where each body is held from below."""
        contacts, steep = self.contacts, c.SUPPORT_NORMAL_Y
        touching = residual_gaps(contacts, np.zeros(len(self.bodies))) < c.TOUCH_LDU
        from_b = touching & (contacts.normals[:, 1] < -steep)
        from_a = touching & (contacts.normals[:, 1] > steep) & (contacts.b != GROUND)
        held = np.concatenate([contacts.a[from_b], contacts.b[from_a]])
        points = np.concatenate([contacts.points[from_b], contacts.points[from_a]])
        order = np.argsort(held, kind="stable")
        ends = np.searchsorted(held[order], np.arange(1, len(self.bodies)))
        return np.split(points[order], ends)

    def _touching(self) -> tuple[tuple[int, int], ...]:
        near = (self.contacts.b >= 0) & (self.contacts.gaps < c.TOUCH_LDU)
        pairs = np.unique(np.column_stack([self.contacts.a[near], self.contacts.b[near]]), axis=0)
        return tuple((self.bodies[i].label, self.bodies[j].label) for i, j in pairs.tolist())


def overall(verdicts: Sequence[ClusterVerdict]) -> tuple[bool | None, str]:
    """The verdict on a scene from those on its clusters: one unstable cluster is enough; what can't be told
    leaves the scene open. The method is the weakest one that the verdict rests on."""
    unstable = [verdict.method for verdict in verdicts if verdict.stable is False]
    if unstable:
        return False, "screen" if "screen" in unstable else "simulation"
    if any(verdict.stable is None for verdict in verdicts):
        return None, "undetermined"
    return True, "simulation" if any(v.method == "simulation" for v in verdicts) else "screen"
