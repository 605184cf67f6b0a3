"""What an agent is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit_brickbench.part_rules import PartRules

BRIEF_VERSION = "1"

_TEXT = """\
Design a LEGO model for this prompt:

    {prompt}

Leave it as an LDraw file named model.mpd in this folder (UTF-8; sub-models as `0 FILE` blocks are welcome,
the first block is the model). One line places one part: `1 COLOUR X Y Z A B C D E F G H I PART.dat`. Lengths
are LDraw units: a stud is 20 wide, a brick 24 and a plate 8 high; -y is up.

{rules}

It has to hold in the hand and on the table: parts connect by their studs, tubes, pins, axles, clips, hinges
and balls, no two parts may overlap by more than {depth:g} LDU, and released on a flat table nothing may fall
or slide by more than 3 LDU. Parts outside of the catalogue make the model invalid.

Experienced designers will look at it from all sides, beside other models for the same prompt, and ask which
one shows better what the prompt says, and which one is the better design by the standard of a published set.
"""


def brief_text(inputs: Mapping[str, Any], depth_ldu: float = 1.0) -> str:
    """The brief of a task."""
    return _TEXT.format(prompt=inputs["prompt"], rules=_rules(PartRules.of(inputs)), depth=depth_ldu)


def _rules(rules: PartRules | None) -> str:
    if rules is None:
        return "Use as many parts as it takes."
    if rules.stock is None:
        return f"Use {rules.min_parts} to {rules.max_parts} parts."
    pieces = sum(rules.stock.values())
    return (
        f"Use only what is in stock, {pieces} pieces: task.json lists under part_rules.stock how many there "
        "are of each part in each LDraw colour. You don't have to use them all."
    )
