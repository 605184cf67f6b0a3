"""What an agent is told at the start: the world, the rules, how to work; the brief itself is the task's."""

from __future__ import annotations

from collections.abc import Mapping

from evalkit_lmbuild.settings import BuildSettings

_WORLD = """\
You build an object out of parts, in a world with +Z up, the ground at z = 0 and the front of the \
object toward -Y. Lengths are metres. A part's own origin is the centre of its bounding box; \
`position` says where that centre goes. A rotation is [rx, ry, rz] in degrees about the fixed X, \
then Y, then Z axes. Ids are 1 to 48 letters, digits, _ or -."""

_PARTS = {
    "A": "Parts come from a catalogue (list_parts, view_catalog_sheet, inspect_part); you can't make others.",
    "B": "Parts come from a catalogue (list_parts, view_catalog_sheet, inspect_part), or from create_part.",
    "C": "You make every part yourself with create_part; there is no catalogue.",
}

_PROGRAMS = """\
A program for create_part is {"nodes": [...], "output": id}: 1 to 96 nodes in order, each {"id": \
text, "op": name, ...}, that refer to earlier nodes by id (never nested). Operations: box(size [x, \
y, z]), cylinder(radius, height, radius_top) along Z, sphere(radius), torus(major, minor), \
extrude(polygon [[x, y], ...] counter-clockwise, height), revolve(profile [[r, z], ...] \
counter-clockwise, degrees), union, difference, intersection, hull (inputs: [ids]), transform(input, \
position, rotation), mirror(input, normal). Dimensions are 0.0005 to 3 m. The result is recentred on \
its bounding box. Example: {"nodes": [{"id": "outer", "op": "cylinder", "radius": 0.05, "height": \
0.1}, {"id": "inner", "op": "cylinder", "radius": 0.04, "height": 0.2}, {"id": "tube", "op": \
"difference", "inputs": ["outer", "inner"]}], "output": "tube"}"""

_GOOD = """\
What counts: that everything holds together and stands, that parts meet without running into each \
other, that the object has the shape, the parts and the motions of the real thing, that joints move \
what they should over the right range, that the parts can be put together in the order you give, and \
that materials suit. So give every part a role (what it is in the object, in plain words) and a \
material, connect parts where they meet (add_joint with the origin on both parts; fixed joints too), \
and set the assembly sequence. Then check, look (render), and submit. Nothing counts that isn't \
submitted."""


def system_prompt(settings: BuildSettings, limits: Mapping[str, float], calls: int) -> str:
    """The prompt under settings; `limits` are those of the episode by counter, `calls` those of a round."""
    paragraphs = [_WORLD, _PARTS[settings.tier]]
    if settings.tier != "A":
        paragraphs.append(_PROGRAMS)
    paragraphs += [_GOOD, _budgets(settings, limits, calls)]
    return "\n\n".join(paragraphs)


def _budgets(settings: BuildSettings, limits: Mapping[str, float], calls: int) -> str:
    meters = [
        f"{limits[f'meter:{name}']:g} {name}"
        for name in ("checks", "renders", "creates")
        if f"meter:{name}" in limits
    ]
    text = f"You have {_calls(settings, limits, calls)} tool calls, failed ones included; "
    text += "past them only submit is served."
    if meters:
        text += f" In the whole episode: {', '.join(meters)}."
    text += " At most 80 parts may be placed at once."
    if settings.rounds == 1:
        return text + " There is one round: submit ends the episode."
    return text + (
        f" There are {settings.rounds} rounds: each submit but the last is answered by a review, after which "
        "you may revise and submit again; the last submission counts."
    )


def _calls(settings: BuildSettings, limits: Mapping[str, float], calls: int) -> str:
    """The calls of a round, or of the episode where its own limit is as low."""
    most = limits.get("tool_calls", calls * settings.rounds)
    if settings.rounds == 1 or most <= calls:
        return f"{min(most, calls):g}"
    return f"{calls} a round (what is left is carried over; at most {most:g} in all)"
