"""What an agent is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from evalkit_brickbench.part_rules import PartRules

BRIEF_VERSION = "2"

Kit = Literal["library", "ldraw"]

_TASK = """\
Design a LEGO model for this prompt:

    {prompt}

{rules}

It has to hold in the hand and on the table: parts connect by their studs, tubes, pins, axles, clips, hinges
and balls, no two parts may overlap by more than {depth:g} LDU, and released on a flat table nothing may fall
or slide by more than 3 LDU. Parts outside of the catalogue make the model invalid.

Experienced designers will look at it from all sides, beside other models for the same prompt, and ask which
one shows better what the prompt says, and which one is the better design by the standard of a published set.
"""

_LIBRARY = """
How to work
-----------
There is a Python library to build with, `evalkit_brickbench.build`. GUIDE.md explains it with examples that
run: read it first. `./python build.py` runs your program with the library; other Pythons don't have it. The
prompt and the part rules are in task.json.

Hand in `build.py`, a program whose function `build()` returns the finished Assembly:

    from evalkit_brickbench.build import Assembly, at, broken_rules, check, view

    def build():
        model = Assembly("tower")
        base = model.add("brick 2x4", at(), color="red")
        top = model.attach("brick 2x2", to=base.stud[0], by="hole[0]", color="white")
        model.attach("slope brick 45 2x2", to=top.stud[0], by="hole[0]", color="blue")
        return model

    if __name__ == "__main__":
        model = build()
        print(check(model{profile}))       # parts, connections, collisions, stability
        print(broken_rules(model))  # what task.json asks for and the model doesn't keep
        view(model, "view.png")     # look at it: four sides on a sheet
        model.write("model.mpd")

It is run once, by itself, without network, in at most {seconds:g} seconds and {memory} GB; it can import the
library, numpy and scipy, and no other file of yours. What it builds is your model. A `model.mpd` counts only
if there is no `build.py`.

Build in pieces, look at pictures early, check often, and spend your effort on the design: shape, proportions,
colours and details that make the subject.
"""

_LDRAW = """
How to work
-----------
LDRAW.md explains the format, and `ldraw` is the official library of parts. The prompt and the part rules are
in task.json.

Hand in the model as an LDraw file named model.mpd in this folder (UTF-8; sub-models as `0 FILE` blocks are
welcome, the first block is the model). One line places one part:
`1 COLOUR X Y Z A B C D E F G H I PART.dat`. Lengths are LDraw units: a stud is 20 wide, a brick 24 and a
plate 8 high; -y is up.
"""


def task_text(inputs: Mapping[str, Any], depth_ldu: float = 1.0) -> str:
    """The prompt, the part rules, and what makes a model valid and good."""
    return _TASK.format(prompt=inputs["prompt"], rules=_rules(PartRules.of(inputs)), depth=depth_ldu)


def brief_text(
    inputs: Mapping[str, Any],
    kit: Kit = "library",
    profile: str = "brickbench",
    depth_ldu: float = 1.0,
    seconds: float = 120.0,
    memory_gb: int = 4,
) -> str:
    """The brief of a task in a workspace; the last two are what build.py may use."""
    task = task_text(inputs, depth_ldu)
    if kit == "ldraw":
        return task + _LDRAW
    named = "" if profile == "brickbench" else f', "{profile}"'
    return task + _LIBRARY.format(profile=named, seconds=seconds, memory=memory_gb)


def _rules(rules: PartRules | None) -> str:
    if rules is None:
        return "Use as many parts as it takes."
    if rules.stock is None:
        return f"Use {rules.min_parts} to {rules.max_parts} parts."
    pieces = sum(rules.stock.values())
    return (
        f"Use only what is in stock, {pieces} pieces: part_rules.stock of the task lists how many there are "
        "of each part in each LDraw colour. You don't have to use them all."
    )
