"""The tools an agent builds with. They work on a `Scene` and know nothing of evalkit.

session = Session(Scene(catalogue), Rules(tier="B"))
outcome = call(session, "place_part", {"part_id": "P001", "instance_id": "seat", "position": [0, 0, 0.4]})
outcome.data["ok"]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit_lmbuild.faults import arguments_fault
from evalkit_lmbuild.kernel import KernelError
from evalkit_lmbuild.legality import unknown
from evalkit_lmbuild.tools import _arguments, _joints, _parts, _placing, _review
from evalkit_lmbuild.tools._review import check_report, design_report, scene_pictures
from evalkit_lmbuild.tools._session import TIERS, Outcome, Picture, Refusal, Rules, Session, ToolSpec

__all__ = [
    "TIERS",
    "TOOLS",
    "Outcome",
    "Picture",
    "Refusal",
    "Rules",
    "Session",
    "ToolSpec",
    "arguments_fault",
    "call",
    "check_report",
    "design_report",
    "offered",
    "scene_pictures",
]

CHECKS, RENDERS, CREATES = "checks", "renders", "creates"
"""What is metered beside calls."""

TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec(
        "list_parts",
        "List the parts that can be placed, with their sizes; `query` filters by id and name.",
        _parts.list_parts,
        _arguments.ListParts,
    ),
    ToolSpec(
        "inspect_part",
        "Look closely at one part: size, surface, whether it is watertight, a picture.",
        _parts.inspect_part,
        _arguments.InspectPart,
    ),
    ToolSpec(
        "view_catalog_sheet",
        "Pictures of all parts of the catalogue with their ids.",
        _parts.view_catalog_sheet,
        tiers=("A", "B"),
    ),
    ToolSpec(
        "list_materials",
        "List the materials that parts can be made of, with class and density.",
        _parts.list_materials,
    ),
    ToolSpec(
        "place_part",
        "Put a part into the world under an id of its own. Says what it touches and collides with.",
        _placing.place_part,
        _arguments.PlacePart,
    ),
    ToolSpec(
        "move_part",
        "Move or turn a placed part: first `position`, then `translate_by`, then `rotation`.",
        _placing.move_part,
        _arguments.MovePart,
    ),
    ToolSpec(
        "attach",
        "Move a placed part so that an anchor of its bounding box meets an anchor of another part, or the "
        "ground: bottom to top puts it on the target.",
        _placing.attach,
        _arguments.Attach,
    ),
    ToolSpec(
        "measure",
        "Measure the gap between two placed parts, or between one and the ground.",
        _review.measure,
        _arguments.Measure,
    ),
    ToolSpec(
        "remove_part",
        "Remove a placed part, with its joints and its step of the sequence.",
        _placing.remove_part,
        _arguments.RemovePart,
    ),
    ToolSpec(
        "set_part_info",
        "Say what a placed part is (`role`) and what it is made of (`material`).",
        _placing.set_part_info,
        _arguments.SetPartInfo,
    ),
    ToolSpec(
        "add_joint",
        "Connect two placed parts. All but fixed joints need an `origin`, all but fixed and ball an `axis`.",
        _joints.add_joint,
        _arguments.AddJoint,
    ),
    ToolSpec("remove_joint", "Remove a joint.", _joints.remove_joint, _arguments.JointId),
    ToolSpec(
        "inspect_joint",
        "Tell which parts a joint moves, how far its origin is from its parts, and its limits.",
        _joints.inspect_joint,
        _arguments.JointId,
        extra=True,
    ),
    ToolSpec(
        "set_assembly_sequence",
        "Say in which order parts are assembled and in which direction each moves to its place.",
        _joints.set_assembly_sequence,
        _arguments.SetSequence,
    ),
    ToolSpec(
        "create_part",
        "Make a new part by a CSG program {'nodes': [...], 'output': id}. Metered; failures count.",
        _parts.create_part,
        _arguments.CreatePart,
        meter=CREATES,
        tiers=("B", "C"),
    ),
    ToolSpec(
        "get_scene", "Everything placed and set so far, and what is left of the budgets.", _review.get_scene
    ),
    ToolSpec(
        "check",
        "Check the whole: collisions, connected groups, stability, joints, what is missing. Metered.",
        _review.check,
        meter=CHECKS,
    ),
    ToolSpec(
        "render",
        "Pictures of the scene from several sides. Metered.",
        _review.render,
        _arguments.Render,
        RENDERS,
    ),
    ToolSpec(
        "submit",
        "Hand in the design. Ends the round; in the last round, the episode.",
        _review.submit,
        past_budget=True,
    ),
)
"""All tools, in the order in which agents see them."""

_BY_NAME = {tool.name: tool for tool in TOOLS}


def offered(rules: Rules) -> tuple[ToolSpec, ...]:
    """The tools on offer under rules."""
    return tuple(tool for tool in TOOLS if tool.offered(rules))


def call(session: Session, name: str, arguments: Mapping[str, Any]) -> Outcome:
    """Carry out a call; its data says `ok`, and where that is False `error` and the scene is as before."""
    tool = _BY_NAME.get(name)
    if tool is None or not tool.offered(session.rules):
        return _refused(unknown("tool", name, [one.name for one in offered(session.rules)]))
    if session.scene.over:
        return _refused("the episode has ended")
    if tool.arguments is not None and (fault := arguments_fault(tool.arguments, arguments)) is not None:
        return _refused(fault)
    before = session.scene.copy()
    try:
        read = None if tool.arguments is None else tool.arguments.model_validate(dict(arguments))
        outcome = tool.run(session, read)
    except (Refusal, KernelError) as refusal:
        session.scene.take(before)
        return _refused(str(refusal))
    return Outcome({"ok": True, **outcome.data}, outcome.pictures)


def _refused(why: str) -> Outcome:
    return Outcome({"ok": False, "error": why})
