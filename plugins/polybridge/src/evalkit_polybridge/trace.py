"""An episode call by call: what became of each, what it cost, how its design differs from the one before.

Nodes are the same if they stand in the same place; of the others those with the same id have moved. Members
are the same if they join the same two nodes: an agent that numbers its design anew has changed nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evalkit import Episode, Task
from evalkit.report import Column, Table, cell_text
from evalkit_polybridge.constants import MATERIALS
from evalkit_polybridge.designs import level_from_inputs
from evalkit_polybridge.editor import dollars
from evalkit_polybridge.graph import Bridge, Edge, Level, Node
from evalkit_polybridge.trajectory import Call, Trajectory, read_trajectory
from evalkit_polybridge.words import counted

WORDS = {"V": "refused", "F": "failed", "S": "crossed", "?": "broken off"}

#: Characters of a violation's message that are shown.
_MESSAGE_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Difference:
    """How a design differs from an earlier one; counts of nodes and members, cost in dollars.

    Anchors don't count. A moved node takes its members with it; `changed_members` have another material.
    """

    added_nodes: int
    removed_nodes: int
    moved_nodes: int
    added_members: int
    removed_members: int
    changed_members: int
    cost: float

    @property
    def is_none(self) -> bool:
        """The two designs are the same thing."""
        return not any((self.added_nodes, self.removed_nodes, self.moved_nodes)) and not any(
            (self.added_members, self.removed_members, self.changed_members)
        )


@dataclass(frozen=True, slots=True)
class Step:
    """A call as a trace shows it.

    `problems` are a line for each code of a refused call, with what the validator said. `since` is the
    number of the call that `difference` compares with: the last one before that brought a design.
    """

    call: Call
    design: Bridge | None
    problems: tuple[str, ...]
    since: int | None
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class Trace:
    """An episode's level, trajectory and steps."""

    key: str
    level: Level
    trajectory: Trajectory
    steps: tuple[Step, ...]


def trace(episode: Episode, task: Task) -> Trace:
    """The trace of an episode."""
    trajectory = read_trajectory(episode)
    steps: list[Step] = []
    last: Step | None = None
    for call in trajectory.calls:
        design = call.design
        difference = None
        if design is not None and last is not None and last.design is not None:
            difference = compare(last.design, design)
        since = None if difference is None or last is None else last.call.number
        steps.append(Step(call, design, _problems(call), since, difference))
        last = steps[-1] if design is not None else last
    level = level_from_inputs(task.inputs)
    return Trace(episode.key.text(), level, trajectory, tuple(steps))


def _problems(call: Call) -> tuple[str, ...]:
    """A line per code: the first message, and how many more there are; a mistake is its code alone."""
    if call.outcome != "V":
        return ()
    found = call.turn.violations
    listed = [] if found is None else [v for v in found["violations"] if not v.get("advisory")]
    lines = []
    for code in call.codes:
        messages = [str(v["message"]) for v in listed if v["code"] == code]
        more = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
        first = _cut(cell_text(messages[0])) if messages else "no such call"
        lines.append(f"{code}{more}: {first}")
    return tuple(lines)


def compare(before: Bridge, after: Bridge) -> Difference:
    """What `after` has that `before` hadn't, and the other way round."""
    old, new = _free(before), _free(after)
    same = _same_place(old, new)
    moved = {i for i in new.keys() - same.keys() if i in old and i not in same.values()}
    names = {i: i for i in after.node_by_id()} | same | {i: i for i in moved}
    unmatched = new.keys() - same.keys() - moved
    members_before = _members(before.edges, {})
    members_after = _members(after.edges, names | {i: -i - 1 for i in unmatched})
    shared = members_before.keys() & members_after.keys()
    kept = sum((members_before[ends] & members_after[ends]).total() for ends in shared)
    changed = sum(
        min(
            (members_before[ends] - members_after[ends]).total(),
            (members_after[ends] - members_before[ends]).total(),
        )
        for ends in shared
    )
    return Difference(
        added_nodes=len(unmatched),
        removed_nodes=len(old) - len(same) - len(moved),
        moved_nodes=len(moved),
        added_members=_total(members_after) - kept - changed,
        removed_members=_total(members_before) - kept - changed,
        changed_members=changed,
        cost=after.cost() - before.cost(),
    )


def _free(bridge: Bridge) -> dict[int, Node]:
    return {i: node for i, node in bridge.node_by_id().items() if not node.fixed}


def _same_place(old: Mapping[int, Node], new: Mapping[int, Node]) -> dict[int, int]:
    """Ids of new nodes → ids of the old nodes in the same place; the same id goes first."""
    places: dict[tuple[float, float], list[int]] = {}
    for i, node in old.items():
        places.setdefault((node.x, node.y), []).append(i)
    same = {}
    for i in sorted(new, key=lambda i: i not in places.get((new[i].x, new[i].y), ())):
        here = places.get((new[i].x, new[i].y), [])
        if here:
            same[i] = here.pop(here.index(i) if i in here else 0)
    return same


_Members = dict[tuple[int, int], Counter[int]]


def _members(edges: tuple[Edge, ...], names: Mapping[int, int]) -> _Members:
    """Materials of the members between two nodes, under the names of these."""
    members: _Members = {}
    for edge in edges:
        a, b = sorted((names.get(edge.a, edge.a), names.get(edge.b, edge.b)))
        members.setdefault((a, b), Counter())[edge.material] += 1
    return members


def _total(members: _Members) -> int:
    return sum(counted.total() for counted in members.values())


# --- In words ----------------------------------------------------------------------------------------


def trace_text(found: Trace) -> str:
    """The trace for people, one paragraph per call."""
    budget = dollars(found.level.budget)
    lines = [f"{cell_text(found.key)}   {str(found.trajectory) or 'no call'}   budget {budget}"]
    for step in found.steps:
        lines += ["", *_step_lines(step, found.level)]
    return "\n".join(lines) + "\n"


def _step_lines(step: Step, level: Level) -> Iterator[str]:
    yield f"call {step.call.number}: {step.call.outcome} {WORDS[step.call.outcome]}"
    yield from (f"  {line}" for line in facts(step, level))
    yield from (f"  {line}" for line in step.problems)


def facts(step: Step, level: Level) -> Iterator[str]:
    """Size and cost of a step's design, what changed, and how its run went, a line each."""
    if step.design is not None:
        cost = step.design.cost()
        share = f"{100 * cost / level.budget:.1f} % of the budget" if level.budget > 0 else "no budget"
        members = Counter(edge.material for edge in step.design.edges)
        named = ", ".join(f"{n} {_material(kind)}" for kind, n in sorted(members.items()))
        free = len(_free(step.design))
        size = f"{counted(free, 'node')} beside the anchors, {named or 'no member'}"
        yield f"{_dollars(cost)} ({share}), {size}"
    if step.difference is not None:
        yield f"since call {step.since}: {difference_text(step.difference)}"
    if step.call.execution is not None:
        yield run_text(step)


def difference_text(difference: Difference) -> str:
    """A difference on one line."""
    if difference.is_none:
        return "the same design"
    nodes = (difference.added_nodes, difference.removed_nodes, difference.moved_nodes, "moved")
    members = (
        difference.added_members,
        difference.removed_members,
        difference.changed_members,
        "of another material",
    )
    parts = [f"{noun} {_changes(*c)}" for noun, c in (("nodes", nodes), ("members", members)) if any(c[:3])]
    sign = "+" if difference.cost >= 0 else "-"
    return "; ".join([*parts, f"cost {sign}{_dollars(abs(difference.cost))}"])


def run_text(step: Step) -> str:
    """How a step's run went, on one line."""
    data = step.call.evidence
    said = [str(data.get("outcome", WORDS[step.call.outcome]))]
    if data.get("duration_s") is not None:
        said.append(f"after {data['duration_s']:.2f} s")
    text = f"run: {' '.join(said)}"
    if data.get("first_break_s") is None:
        return f"{text}, nothing broke" if "first_break_s" in data else text
    member = _member_text(step.design, data["first_break_member"])
    return f"{text}; first break at {data['first_break_s']:.2f} s: {member}; {data['broken']} broke in all"


def traces_table(played: Iterable[tuple[Episode, Task]]) -> Table:
    """A row per episode: letters, cost of the last design, budget, first break of the last run."""
    rows = []
    for episode, task in played:
        found = trace(episode, task)
        costs = [step.design.cost() for step in found.steps if step.design is not None]
        runs = [step.call.evidence for step in found.steps if step.call.ran]
        broke = runs[-1].get("first_break_s") if runs else None
        names = (episode.key.agent, task.id, str(found.trajectory))
        rows.append((*names, costs[-1] if costs else None, found.level.budget, broke))
    heads = ("last cost ($)", "budget ($)", "first break (s)")
    return Table(
        "polybridge.traces",
        "Episodes, a letter per call",
        (*map(Column, ("agent", "level", "calls")), *(Column(head, "right") for head in heads)),
        tuple(rows),
        "V refused, F legal but not crossed, S crossed; costs and breaks are the last call's",
    )


def trace_json(found: Trace) -> dict[str, Any]:
    """The trace as JSON."""
    return {
        "key": found.key,
        "level": found.level.name,
        "outcomes": str(found.trajectory),
        "budget": found.level.budget,
        "calls": [_step_json(step) for step in found.steps],
    }


def _step_json(step: Step) -> dict[str, Any]:
    data = step.call.evidence
    names = ("outcome", "duration_s", "first_break_s", "first_break_member", "broken")
    return {
        "call": step.call.number,
        "outcome": step.call.outcome,
        "codes": list(step.call.codes),
        "messages": list(step.problems),
        "cost": None if step.design is None else round(step.design.cost(), 4),
        "nodes": None if step.design is None else len(step.design.nodes),
        "members": None if step.design is None else len(step.design.edges),
        "since": step.since,
        "difference": None if step.difference is None else asdict(step.difference),
        "run": {name: data[name] for name in names if name in data} or None,
    }


def _member_text(design: Bridge | None, edge_id: int) -> str:
    edges = () if design is None else design.edges
    edge = next((edge for edge in edges if edge.id == edge_id), None)
    return f"member {edge_id}" + (f" ({_material(edge.material)}, nodes {edge.a}-{edge.b})" if edge else "")


def _material(number: int) -> str:
    return MATERIALS[number].name.lower() if number in MATERIALS else f"type {number}"


def _changes(added: int, removed: int, changed: int, how: str) -> str:
    shown = [f"+{added}"] * bool(added) + [f"-{removed}"] * bool(removed)
    return ", ".join([*shown, *([f"{changed} {how}"] if changed else [])])


def _dollars(amount: float) -> str:
    return dollars(round(amount))


def _cut(text: str) -> str:
    return text if len(text) <= _MESSAGE_CHARACTERS else f"{text[: _MESSAGE_CHARACTERS - 1]}…"
