"""Requests in, results out: one settled world per engine model, a branch of it per motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from evalkit_lmbuild.design import Design, Joint
from evalkit_lmbuild.kernel import Field, KernelError
from evalkit_lmbuild.kernel.sweeps import SWEEP_LIMIT
from evalkit_lmbuild.simulation.building import build
from evalkit_lmbuild.simulation.contacts import Contacts, contacts_of
from evalkit_lmbuild.simulation.errors import EngineLimitError
from evalkit_lmbuild.simulation.fitness import unfit
from evalkit_lmbuild.simulation.groups import Tree
from evalkit_lmbuild.simulation.model import Model
from evalkit_lmbuild.simulation.motions import (
    HOLD_STEPS,
    PUSH_STEPS,
    RAMP_STEPS,
    REACHED,
    Start,
    actuate,
    drives,
    roll,
)
from evalkit_lmbuild.simulation.requests import (
    MAX_CANDIDATES,
    WORKS_FROM,
    Actuate,
    Attempt,
    MaskedPair,
    Motion,
    MotionResult,
    Roll,
    Settings,
    Settled,
    SimulationResult,
)
from evalkit_lmbuild.simulation.settling import settle
from evalkit_lmbuild.simulation.world import World, open_world

MAX_TARGETS = 6
"""Targets of one request that are driven to, per joint and freedom."""

MAX_WORK = {"mujoco": 3e8, "pybullet": 5e7}
"""Steps × contacts × degrees of freedom that the motions of one call may cost, a minute or two; counted, not
timed, so that results don't depend on the machine. Each motion has an equal part of it, so that none depends
on what others cost or on their order."""


def simulate(
    design: Design, geometry: Field | Contacts, requests: Sequence[Motion], settings: Settings | None = None
) -> SimulationResult:
    """Simulate a design at rest and every requested motion; the same inputs give the same bits.

    `geometry` is the kernel's field of the design's parts, or what would be read from it. A design that can't
    be simulated is answered with status "unfit" and zeros. Raises ValueError for requests that name joints or
    parts the design doesn't have, and `EngineMissingError` where PyBullet isn't installed.
    """
    settings = settings or Settings()
    _check(design, requests)
    problem = unfit(design)
    if not problem:
        try:
            contacts = geometry if isinstance(geometry, Contacts) else contacts_of(design, geometry)
        except KernelError as error:
            problem = str(error)
    if problem:
        return _unfit(requests, settings, problem)
    model, tree = build(design, contacts, settings)
    start: Start = partial(open_world, engine=settings.engine)
    try:
        world = start(model)
    except EngineLimitError as error:
        return _unfit(requests, settings, str(error))
    try:
        settled = settle(world, model)
        stage = _Stage(design, contacts, settings, model, tree, world, start, len(requests))
        motions = tuple(stage.play(r) if settled.rests else _refused(r, settled) for r in requests)
    finally:
        world.close()
    return SimulationResult(
        settled,
        motions,
        settings,
        root=model.bodies[0].parts,
        bodies=tuple(body.parts for body in model.bodies),
        dropped_loops=_dropped(tree, model),
        excluded=_excluded(model),
    )


@dataclass(eq=False)
class _Stage:
    """A settled world and what its motions are judged with; `motions` share the work that may be done."""

    design: Design
    contacts: Contacts
    settings: Settings
    model: Model
    tree: Tree
    world: World
    start: Start
    motions: int

    def play(self, request: Motion) -> MotionResult:
        """Run one motion."""
        return self._rolled(request) if isinstance(request, Roll) else self._actuated(request)

    def _runs(self, steps: int) -> int:
        """How often a motion may run so many steps."""
        share = MAX_WORK[self.settings.engine] / self.motions
        return int(share // (steps * max(1, self.world.contacts()) * max(1, self.model.degrees)))

    def _weight(self) -> str:
        """Why a motion has no more runs."""
        return f"too much work: {self.world.contacts()} contacts, {self.model.degrees} degrees of freedom"

    def _actuated(self, request: Actuate) -> MotionResult:
        """The best of the candidate joints, as far as there is work left to try them."""
        joints = [
            next(j for j in self.design.joints if j.id == name) for name in request.joints[:MAX_CANDIDATES]
        ]
        notes: list[str] = []
        attempts: list[Attempt] = []
        runs = self._runs(RAMP_STEPS + HOLD_STEPS)
        if not runs:
            return MotionResult(request, 0.0, "unfit", self._weight())
        for joint in joints:
            note = self._note(joint)
            if note:
                notes.append(note)
            attempts += self._driven(joint, request, runs - len(attempts))
            if attempts and max(attempt.score for attempt in attempts) >= REACHED:
                break
            if len(attempts) >= runs:
                notes.append(f"no more than {runs} runs: {self._weight()}")
                break
        if not attempts:
            reason = notes[0] if notes else f"joint {joints[0].id} has no range other than 0"
            return MotionResult(request, 0.0, "unjointed", reason, notes=tuple(notes))
        best = max(attempts, key=lambda attempt: attempt.score)
        masked = self._masked(best)
        status, reason = _status(best, masked)
        flush = self._flush(best)
        return MotionResult(
            request, best.score, status, reason, tuple(attempts), best, masked, flush, tuple(notes)
        )

    def _driven(self, joint: Joint, request: Actuate, runs: int) -> list[Attempt]:
        """A candidate joint driven to its targets, at most so often, until one is reached."""
        attempts: list[Attempt] = []
        model, world = self.model, self.world
        passive = _in_loop_with(self.model, joint.id)
        if passive:
            model = self.model.released(passive)
            world = self.start(model)
            if not settle(world, model).rests:
                world.close()
                return [
                    Attempt(joint.id, "turn", 0.0, 0.0, 0.0, 0.0, "unstable with the loop's joints released")
                ]
        try:
            for drive in list(drives(self.design, model, joint, request))[: min(runs, 2 * MAX_TARGETS)]:
                attempts.append(actuate(world, model, drive))
                if attempts[-1].score >= REACHED:
                    break
        finally:
            if passive:
                world.close()
        return attempts

    def _rolled(self, request: Roll) -> MotionResult:
        if not self._runs(2 * PUSH_STEPS):
            return MotionResult(request, 0.0, "unfit", self._weight())
        settled, attempts = roll(self.model, request.parts, self.start)
        if not settled.rests:
            reason = f"with released wheels: {settled.reason}"
            return MotionResult(request, 0.0, settled.status, reason)
        best = max(attempts, key=lambda attempt: attempt.score)
        status, reason = _status(best, ())
        return MotionResult(request, best.score, status, reason, tuple(attempts), best)

    def _sides(self, attempt: Attempt) -> tuple[set[str], Joint]:
        """Parts that a driven joint carries, and the joint."""
        body = self.model.body_with(attempt.joint)
        assert body is not None, "only joints of the tree are driven"
        moving = {part for index in self.model.downstream(body) for part in self.model.bodies[index].parts}
        return moving, next(joint for joint in self.design.joints if joint.id == attempt.joint)

    def _masked(self, attempt: Attempt) -> tuple[MaskedPair, ...]:
        """Switched-off collisions between what the attempt moved and what stayed, with the sweep of each."""
        moving, joint = self._sides(attempt)
        pairs = [(a, b) if a in moving else (b, a) for a, b in _excluded(self.model)]
        pairs = [(mover, rest) for mover, rest in pairs if mover in moving and rest not in moving]
        found = []
        for mover, rest in pairs:
            ends = (mover, rest) if joint.child in moving else (rest, mover)
            limit = SWEEP_LIMIT / (self.motions * len(pairs))
            free = self.contacts.sweep(joint, *ends, limit) if self.contacts.sweep else None
            found.append(MaskedPair(mover, rest, free))
        return tuple(found)

    def _flush(self, attempt: Attempt) -> tuple[tuple[str, str], ...]:
        """Pairs that lie flush and slide past each other in the attempt."""
        if attempt.freedom != "slide":
            return ()
        moving, _ = self._sides(attempt)
        return tuple((a, b) for a, b in self.model.flush if (a in moving) != (b in moving))

    def _note(self, joint: Joint) -> str:
        """What is simulated differently from what a candidate joint declares."""
        if not joint.moves:
            return f"joint {joint.id} is fixed"
        if joint in self.tree.inert:
            return f"both ends of joint {joint.id} are in one rigid body"
        if joint.id in _dropped(self.tree, self.model):
            return f"joint {joint.id} closes a loop and is dropped"
        if self.model.body_with(joint.id) is None:
            return f"joint {joint.id} closes a loop; it holds but isn't driven"
        return f"joint {joint.id} is a hinge and a slide on one body" if joint.type == "cylindrical" else ""


def _status(best: Attempt, masked: Sequence[MaskedPair]) -> tuple[str, str]:
    """Status and reason of the best attempt."""
    if best.problem:
        return best.problem.split(":")[0].split()[0], best.problem
    unit = "m" if best.freedom in ("slide", "push") else "rad"
    reached = f"{best.joint or 'the push'} reached {best.reached:.3f} of {best.target:.3f} {unit}"
    if best.score < WORKS_FROM:
        return "blocked", reached
    hidden = [pair for pair in masked if pair.free_share is not None and pair.free_share < 1.0]
    if hidden:
        pair = min(hidden, key=lambda p: p.free_share or 0.0)
        return "masked", f"{reached} through {pair.resting}, whose collision with {pair.moving} is masked"
    return "works", reached


def _unfit(requests: Sequence[Motion], settings: Settings, problem: str) -> SimulationResult:
    """The result of a design that can't be simulated."""
    settled = Settled("unfit", problem)
    return SimulationResult(settled, tuple(_refused(request, settled) for request in requests), settings)


def _refused(request: Motion, settled: Settled) -> MotionResult:
    """The result of any motion of an object that doesn't rest."""
    return MotionResult(request, 0.0, settled.status, settled.reason)


def _check(design: Design, requests: Sequence[Motion]) -> None:
    """Raise ValueError for a request about what the design doesn't have."""
    joints = {joint.id for joint in design.joints}
    for request in requests:
        named, known, what = (
            (request.joints, joints, "joint")
            if isinstance(request, Actuate)
            else (request.parts, design.by_id, "part")
        )
        for name in named:
            if name not in known:
                raise ValueError(f"a motion names a {what} that the design doesn't have: {name}")
        if not named:
            raise ValueError(f"a motion names no {what}")
        if (
            isinstance(request, Actuate)
            and request.targets is not None
            and len(request.targets) > MAX_TARGETS
        ):
            raise ValueError(f"{len(request.targets)} targets for {request.joints[0]}, at most {MAX_TARGETS}")


def _dropped(tree: Tree, model: Model) -> tuple[str, ...]:
    """Joints that close a loop and aren't kept."""
    kept = {closure.joint for closure in model.closures}
    return tuple(link.joint.id for link in tree.loops if link.joint.id not in kept)


def _excluded(model: Model) -> tuple[tuple[str, str], ...]:
    """Pairs of parts whose collision is switched off."""
    pairs = {
        (a, b) if a < b else (b, a)
        for first, second in model.excluded
        for a in model.solids[first].parts
        for b in model.solids[second].parts
    }
    return tuple(sorted(pairs))


def _in_loop_with(model: Model, joint: str) -> tuple[str, ...]:
    """Joints of the kept loops that a joint is part of: they have to give way when it is driven."""
    body = model.body_with(joint)
    passive: list[str] = []
    for closure in model.closures:
        chains = [model.chain(end) for end in closure.bodies]
        ring = set(chains[0]) ^ set(chains[1])
        if body in ring:
            passive += [
                f.joint for index in sorted(ring) for f in model.bodies[index].freedoms if f.joint != joint
            ]
    return tuple(dict.fromkeys(passive))
