"""What a model is told: the system prompt, and the text that accompanies each observation.

The prompt is part of the benchmark's contract: it states every rule the validator enforces. It is versioned
and hashed; numbers come from `constants`, so a changed strength or price changes the hash too.
"""

from __future__ import annotations

import hashlib
import json
from typing import Literal

from evalkit_polybridge.constants import (
    COORDINATE_DECIMALS,
    FINISH_BEYOND_EDGE_M,
    LOOSE_BUDGET,
    MATERIALS,
    MAX_CALLS,
    MAX_PHYSICS_ATTEMPTS,
    WINDOW_S,
    Material,
)
from evalkit_polybridge.feedback import Feedback, FrameChoice
from evalkit_polybridge.graph import Level, Node

PROMPT_VERSION = "1"

Situation = Literal["start", "rejected", "failed"]

REPORTED_FEEDBACK = Feedback()
"""The feedback of the reported results."""

_TASK = f"""\
You design bridges for a bridge-building game. A design is a graph: nodes are joints, edges are straight
members between two joints. Members are hinged at the joints and carry load along their length; a member
breaks when the force in it, pulling or pushing, exceeds its strength.

# Goal
Get every vehicle of the level across. The vehicles start on the left bank and drive right, one behind
the other. A run succeeds when each of them is at least {FINISH_BEYOND_EDGE_M:g} m beyond the edge of
the right bank within {WINDOW_S:g} s. The context gives their number and weights; a design has to carry
all of them, wherever they stand, and itself.

# World
x points right, y points up, in metres. Anchors are fixed joints of the level. Anchor 1 is always the
end of the road at the left bank and anchor 2 the end of the road at the right bank, whatever other
anchors share their x. Both banks and all platforms listed in the context are solid ground that vehicles
can drive on.
The vehicles need one continuous path from bank to bank. They drive on Road members and on ground, on
nothing else. Road is needed only where no ground supports the path: across a platform none has to be
built, but the path must meet the platform's upper corners, which are anchors.
Forbidden regions are areas no member and no joint may enter or touch. """

_EXACT_REGIONS = """\
The polygons in the context are
exactly the geometry the validator checks."""

_MOVED_REGIONS = """\
The validator checks the
polygons of the context with every side moved {way} by {offset_m:g} m: regions are {size} than the
context and the pictures show them."""

_REPLY = """\
# Reply
Reply with one raw JSON object and nothing else: no Markdown fence, no text around it, no comments, no
trailing commas. Always send the complete design: all nodes, the level's anchors included, and all
edges. What you leave out is not built. The shape of a reply, for a level with anchors 1 at (0, 0) and 2
at (4, 0):
{example}
- `action` is always "modify".
- `thought_process` is a brief summary, never scored: first the concept, the load path and the route
  around forbidden regions; on a repair, the evidence you used and the concrete changes.
- A node has `id`, `x`, `y` and `isKinematic`: true for the level's anchors, false for every joint you
  add.
- An edge has `id`, `type` (the number of its material, never 0, which is reserved for nodes),
  `anchorAID` and `anchorBID` (the ids of its two end nodes) and `rate` (0).
- Coordinates are rounded to {decimals} decimals before anything is checked."""

_RULES = """\
# Rules
The validator reports every violation with one of these codes. It neither completes a design nor
predicts whether it will stand.
Form of the reply
- PARSE_ERROR: the reply is exactly one JSON object.
- TOO_LARGE: it is of a reasonable size; a bridge needs tens of members, not thousands.
- ACTION: `action` is present and is "modify".
- MISSING_FIELD, WRONG_TYPE: every field is there and of its type; ids are positive whole numbers. Only
  isKinematic (false) and rate (0) may be left out.
- UNKNOWN_FIELD: no other fields; they are ignored.
- NON_FINITE, OUT_OF_RANGE: coordinates are finite and within the level's surroundings.
Ids and anchors
- DUPLICATE_NODE_ID, DUPLICATE_EDGE_ID: nodes and edges share one id space, and each id is used once.
- NON_SEQUENTIAL_IDS: number new nodes and edges in one sequence that goes on from the highest anchor
  id.
- ANCHOR_MISSING, ANCHOR_MOVED, ANCHOR_RENAMED, ANCHOR_DYNAMIC: every anchor stays in the design with
  its id, its coordinates and isKinematic true.
- INVENTED_ANCHOR: every other node is dynamic.
Members
- UNKNOWN_ENDPOINT: both ends of an edge are nodes of the design.
- SELF_EDGE, ZERO_LENGTH: an edge joins two different nodes at two different points.
- UNKNOWN_MATERIAL, MATERIAL_NOT_ADMITTED: its type is in the table of materials.
- EDGE_TOO_LONG: it is no longer than its material allows; split a longer one with a node in between.
- DUPLICATE_EDGE: no second edge of the same material joins the same two nodes; one of another material
  may.
Whole design
- ISOLATED_NODE: every node you add is an end of some edge. Unused anchors are fine.
- DISCONNECTED: every node you add is linked through edges to an anchor of the level.
- OVER_BUDGET: the sum over all edges of length × price stays within the budget. Nodes cost nothing.
- CLEARANCE: no node and no edge lies inside, crosses or touches a forbidden region that applies to it."""

_EVIDENCE = """\
# Turns
You have a limited number of calls; each message says which one it is. A reply that breaks a rule uses
up a call: the draft comes back as you sent it, with the validator's message, and is not built. Every
legal design is run at once; there is no separate command to start it. The episode ends with the first
success.
After a run that did not succeed you see {sight}. \
`failure_or_timeout` only says that not every vehicle arrived in time; it proves no
cause.

# What to trust
- For constraints (budget, materials, vehicles, ground, forbidden regions): the context.
- For ids and coordinates{of_what}: the current save.
- For violations: the validator's message.
- Pictures only help to picture the scene; never measure in them. What you {take} about
  the cause of a failure is a hypothesis.
{turns}"""

_HISTORY = """\
- Whatever in earlier turns contradicts the latest context, save or validator message is out of date:
  drop it."""
_NO_HISTORY = """\
- Every message stands for itself: your earlier replies and what you were told then are not shown again."""

_FEW_FRAMES: dict[FrameChoice, str] = {"uniform": "a few\nframes", "last": "the last\nframes"}

_SITUATIONS: dict[Situation, str] = {
    "start": "Image: the editor. Below: the context and the current save, which holds the level's anchors.",
    "rejected": (
        "Your last reply broke the rules and was not built. Below: the validator's message, your draft, the "
        "context and the current save. Image: the editor, showing that save, not the draft."
    ),
    "failed": (
        "Your last design was legal. It was run and ended as failure_or_timeout. Below: the record of the "
        "run, the context and the current save, which is that design. "
    ),
}
_WITHOUT_TOPOLOGY: dict[Situation, str] = {
    "start": _SITUATIONS["start"],
    "rejected": (
        "Your last reply broke the rules and was not built. Below: the validator's message, your draft, the "
        "context and the current save, which holds the level's anchors alone. Image: the editor with the "
        "design that was run last, if there was one, not the draft."
    ),
    "failed": (
        "Your last design was legal. It was run and ended as failure_or_timeout. Below: the record of the "
        "run, the context and the current save, which holds the level's anchors alone. "
    ),
}


def system_prompt(
    level: Level, *, skill: str = "", region_offset_m: float = 0.0, feedback: Feedback = REPORTED_FEEDBACK
) -> str:
    """The instructions for a level: the same for all levels that admit the same materials.

    `skill` is an extra section of advice, empty in the reported setting; `region_offset_m` is what forbidden
    regions are grown by before they are checked.
    """
    reply = _REPLY.format(example=_example(), decimals=COORDINATE_DECIMALS)
    task = _TASK + _regions(region_offset_m)
    sections = [task, _materials_section(level), reply, _RULES, _evidence(feedback)]
    if skill:
        sections.append(f"# Advice\n{skill.strip()}")
    return "\n\n".join(sections) + "\n"


def turn_message(
    level: Level,
    call: int,
    *,
    physics_attempts: int,
    situation: Situation,
    max_calls: int | None = MAX_CALLS,
    max_physics_attempts: int | None = MAX_PHYSICS_ATTEMPTS,
    feedback: Feedback = REPORTED_FEEDBACK,
) -> str:
    """The text above an observation: which call this is (from 1), runs used so far, and what is attached.

    `situation` says what came before: nothing, a rejected draft, or a run that did not succeed. A maximum of
    None says that there is no limit. `feedback.frames` are on the contact sheet that goes with it.
    """
    attached = (_SITUATIONS if feedback.topology else _WITHOUT_TOPOLOGY)[situation]
    if situation == "failed":
        attached += _pictures(feedback)
    return (
        f"Level {level.name}, call {_of(call, max_calls)}; "
        f"physics attempts used: {_of(physics_attempts, max_physics_attempts)}.\n"
        f"{attached}\n"
        "Reply with the complete design as one raw JSON object."
    )


def prompt_sha256(
    *, skill: str = "", region_offset_m: float = 0.0, feedback: Feedback = REPORTED_FEEDBACK
) -> str:
    """SHA-256 of everything above as a model would read it on a fixed level that admits every material.

    The arguments are those of `system_prompt`.
    """
    anchors = (Node(1, 0.0, 0.0, True), Node(2, 10.0, 0.0, True))
    level = Level("level", 10.0, 0.0, anchors, (3.0,), tuple(sorted(MATERIALS)), float(LOOSE_BUDGET))
    turns = [
        turn_message(level, 1, physics_attempts=0, situation=situation, feedback=feedback)
        for situation in _SITUATIONS
    ]
    prompt = system_prompt(level, skill=skill, region_offset_m=region_offset_m, feedback=feedback)
    text = json.dumps([PROMPT_VERSION, prompt, *turns])
    return hashlib.sha256(text.encode()).hexdigest()


def _regions(offset_m: float) -> str:
    if offset_m == 0.0:
        return _EXACT_REGIONS
    way, size = ("outwards", "larger") if offset_m > 0.0 else ("inwards", "smaller")
    return _MOVED_REGIONS.format(way=way, size=size, offset_m=abs(offset_m))


def _evidence(feedback: Feedback) -> str:
    seen = ["the current design"] if feedback.topology else []
    seen.append("a fresh picture of the editor")
    if feedback.frames:
        seen.append(f"{_FEW_FRAMES[feedback.choice]} of the run")
    return _EVIDENCE.format(
        sight=" and ".join(filter(None, [", ".join(seen[:-1]), seen[-1]])),
        take="take from the frames" if feedback.frames else "suppose",
        of_what="" if feedback.topology else " of anchors",
        turns=_HISTORY if feedback.history else _NO_HISTORY,
    )


def _pictures(feedback: Feedback) -> str:
    frames = feedback.frames
    if not frames:
        return "Image: the editor."
    counted = "1 frame" if frames == 1 else f"{frames} frames"
    if feedback.choice == "last":
        counted = f"the last {counted.removeprefix('1 ')}"
    return (
        f"Images, in this order: the editor; a contact sheet of {counted} of the run with "
        f"{'its time' if frames == 1 else 'their times'}."
    )


def _of(number: int, limit: int | None) -> str:
    return str(number) if limit is None else f"{number} of {limit}"


def _materials_section(level: Level) -> str:
    rows = "\n".join(_material_row(MATERIALS[number]) for number in level.materials)
    return (
        "# Materials of this level\n"
        "| type | material | strength (PN) | longest member (m) | price ($ per m) |\n"
        "|---|---|---|---|---|\n"
        f"{rows}\n"
        "Strength is a force in PolyNewtons (PN), the same in tension and compression. "
        "Vehicle weights are given in PolyGrams (PG)."
    )


def _material_row(material: Material) -> str:
    return (
        f"| {material.type} | {material.name} | {material.strength_pn:g} | {material.max_length_m:g} | "
        f"{material.cost_per_m:g} |"
    )


def _example() -> str:
    """A legal reply for a 4 m gap: two Road members that meet in the middle."""
    nodes = [
        {"id": 1, "x": 0, "y": 0, "isKinematic": True},
        {"id": 2, "x": 4, "y": 0, "isKinematic": True},
        {"id": 3, "x": 2, "y": 0, "isKinematic": False},
    ]
    edges = [
        {"id": 4, "type": 1, "anchorAID": 1, "anchorBID": 3, "rate": 0},
        {"id": 5, "type": 1, "anchorAID": 3, "anchorBID": 2, "rate": 0},
    ]
    thought = "Format only: two road members over a short gap."
    return json.dumps({"action": "modify", "thought_process": thought, "nodes": nodes, "edges": edges})
