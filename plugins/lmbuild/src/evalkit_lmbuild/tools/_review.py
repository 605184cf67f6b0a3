"""Looking at the whole: the scene as it is, checks, measures, renderings."""

from __future__ import annotations

from typing import Any

from evalkit_lmbuild.design import Design
from evalkit_lmbuild.kernel import components, gap, origin_ok
from evalkit_lmbuild.scene import Scene
from evalkit_lmbuild.tools import _arguments as given
from evalkit_lmbuild.tools._geometry import BELOW_M, collisions, field_of
from evalkit_lmbuild.tools._joints import joint_notes, missing_from_sequence
from evalkit_lmbuild.tools._placing import GROUND, metres, placed
from evalkit_lmbuild.tools._session import Outcome, Picture, Refusal, Session

LISTED = 20
DEFAULT_VIEWS = ("cond", "iso", "front", "side")
COUNTERS = {
    "tool_calls": "tool_calls",
    "meter:checks": "checks",
    "meter:renders": "renders",
    "meter:creates": "creates",
}


def get_scene(session: Session, call: None) -> Outcome:
    """Everything that was set so far, and what is left of the budgets."""
    scene = session.scene
    state = scene.state()
    left = {
        name: int(session.budget_left[key]) for key, name in COUNTERS.items() if key in session.budget_left
    }
    return Outcome(
        {
            "round": scene.round,
            "rounds": session.rules.rounds,
            "instances": [
                {"instance_id": entry.pop("id"), "part_id": entry.pop("part"), **entry}
                for entry in state["instances"]
            ],
            "joints": [{"joint_id": entry.pop("id"), **entry} for entry in state["joints"]],
            "sequence": state["sequence"],
            "created_parts": list(scene.created),
            "budget_left": left,
        }
    )


def check(session: Session, call: None) -> Outcome:
    """Collisions, connection, stability and what is missing."""
    return Outcome(check_report(session.scene))


def check_report(scene: Scene) -> dict[str, Any]:
    """The result of `check`."""
    return design_report(scene.to_design())


def design_report(design: Design) -> dict[str, Any]:
    """What `check` says of a design; without parts there is little of it."""
    report: dict[str, Any] = {"n_parts": len(design.parts)}
    if design.parts:
        report |= _geometry(design)
    return report | {
        "joint_issues": _joint_issues(design),
        "parts_without_role": [part.id for part in design.parts if part.role is None],
        "parts_without_material": [part.id for part in design.parts if part.material is None],
        "parts_missing_from_sequence": missing_from_sequence(design),
        "n_joints": len(design.joints),
    }


def _geometry(design: Design) -> dict[str, Any]:
    field = field_of(design)
    colliding = collisions(field, design)
    ids = [part.id for part in design.parts]
    lows = {part.id: float(part.world.bounds[0][2]) for part in design.parts}
    edges = [*field.touching(), *_joined(design)]
    groups = sorted(components(ids, edges), key=lambda group: -sum(field.volume(part) for part in group))
    tilt = field.tilt()
    return {
        "collisions": [found.as_pair() for found in colliding[:LISTED]],
        "n_collisions": len(colliding),
        "connected_groups": len(groups),
        "not_connected_to_main_group": sorted(part for group in groups[1:] for part in group),
        "lowest_point_z_m": round(min(lows.values()), 4) + 0.0,
        "parts_below_ground": [part for part in ids if lows[part] < -BELOW_M],
        "resting_on_ground": [part for part in ids if abs(lows[part]) <= BELOW_M],
        "stability": {
            "critical_tilt_deg": round(float(tilt.angle_deg), 2) + 0.0,
            "support_margin_m": round(float(tilt.margin_m), 4) + 0.0,
        },
        "voxel_res_m": field.pitch,
    }


def _joined(design: Design) -> list[tuple[str, str]]:
    """Pairs that a joint connects: its origin is near both."""
    return [(joint.parent, joint.child) for joint in design.joints if origin_ok(design, joint)]


def _joint_issues(design: Design) -> list[dict[str, Any]]:
    issues = []
    for joint in design.joints:
        others = Design(design.parts, tuple(other for other in design.joints if other.id != joint.id))
        notes = joint_notes(others, joint)
        if notes:
            issues.append({"joint_id": joint.id, "issues": notes})
    return issues


def measure(session: Session, call: given.Measure) -> Outcome:
    """The gap between two parts, or between a part and the ground."""
    scene = session.scene
    if call.a == call.b:
        raise Refusal(f"{call.a!r} is measured against itself; name two different things")
    if GROUND in (call.a, call.b):
        return Outcome(_above_ground(scene, call.b if call.a == GROUND else call.a, call.a == GROUND))
    a, b = (scene.part(placed(scene, name).id) for name in (call.a, call.b))
    field = field_of(Design((a, b)))
    found = gap(a, b)
    return Outcome(
        {
            "gap_m": round(float(found.gap_m), 5),
            "point_a": metres(found.point_a),
            "point_b": metres(found.point_b),
            "midpoint": metres(found.midpoint),
            "touching": bool(field.touching()),
            "overlap_cm3": round(field.overlap(a.id, b.id) * 1e6, 2),
        }
    )


def _above_ground(scene: Scene, name: str, ground_first: bool) -> dict[str, Any]:
    part = scene.part(placed(scene, name).id)
    vertices = part.world.vertices
    lowest = vertices[vertices[:, 2].argmin()]
    points = [metres(lowest), metres((lowest[0], lowest[1], 0.0))]
    a, b = points[::-1] if ground_first else points
    height = float(lowest[2])
    return {
        "gap_m": round(max(height, 0.0), 5),
        "point_a": a,
        "point_b": b,
        "midpoint": metres((lowest[0], lowest[1], height / 2)),
        "touching": bool(height <= BELOW_M),
        "overlap_cm3": 0.0,
        "below_ground_m": round(max(-height, 0.0), 5),
    }


def render(session: Session, call: given.Render) -> Outcome:
    """Pictures of the scene from several sides, with the parts' ids."""
    if not session.scene.instances:
        raise Refusal("nothing is placed, so there is nothing to see; place parts first (place_part)")
    views = tuple(dict.fromkeys(call.views or DEFAULT_VIEWS))
    return Outcome({"views": list(views)}, scene_pictures(session.scene.to_design(), views))


def scene_pictures(design: Design, views: tuple[str, ...] = DEFAULT_VIEWS) -> tuple[Picture, ...]:
    """The labelled grid of views, if anything is placed."""

    def draw() -> bytes:
        from evalkit_lmbuild.pictures import agent_grid

        return agent_grid(design, views)

    return (Picture("scene.png", draw),) if design.parts else ()


def submit(session: Session, call: None) -> Outcome:
    """Hand in what is built; the review comes with the answer, if another round follows."""
    return Outcome()
