"""What judges are asked about a design, and how their replies are read: integers from 1 to 10 by criterion.

text = request_text(RUBRICS["D.2"], "a step ladder")
scores = parse_scores("proportion: 7\ncoherence: 8\nrefinement: 5", RUBRICS["D.2"])
half = judged(list(scores.values()))
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

LOWEST, HIGHEST = 1, 10

_LINE = re.compile(r"([a-z_]{1,40})\s*:\s*([0-9]{1,2})", re.ASCII | re.IGNORECASE)


class ReplyError(ValueError):
    """A judge's reply isn't what was asked for; the message is the reason, in one line."""


@dataclass(frozen=True)
class Rubric:
    """A judged metric: `shown` says what the pictures are, `criteria` what each number is about."""

    metric: str
    shown: str
    criteria: Mapping[str, str]


RUBRICS: Mapping[str, Rubric] = {
    "D.1": Rubric(
        "D.1",
        "Picture 1 shows what {name} looks like. Picture 2 shows a design of it, each part in a colour of "
        "its own: assembled above, exploded below, each from the front right and from behind. Judge how the "
        "design is cut into parts, not how well it looks.",
        {
            "boundaries": "Do parts end where those of the real object end, at seams, joints and changes of "
            "material, rather than in the middle of something?",
            "granularity": "Are there about as many parts as the real object is made of: neither whole "
            "groups in one lump, nor single pieces in fragments?",
            "separability": "Could each part be made by itself and be taken off the others, with nothing "
            "trapped, interwoven or hanging in the air?",
        },
    ),
    "D.2": Rubric(
        "D.2",
        "The picture shows a design of {name} as a model of grey clay from six sides. Judge it as a product "
        "designer would, by its shape alone: colours and materials are left out on purpose.",
        {
            "proportion": "Are the sizes of the whole and of its parts in good relation to each other?",
            "coherence": "Do all parts belong together in form, thickness and alignment, as one object?",
            "refinement": "Is it worked out: edges, transitions and details that were thought about, nothing "
            "crude, leftover or misplaced?",
        },
    ),
    "D.3": Rubric(
        "D.3",
        "Picture 1 shows {name} as it should be. Picture 2 shows a design of it as a model of grey clay "
        "from six sides. Judge how much the design resembles the object; colours and materials don't matter.",
        {
            "inventory": "Are all visible parts of the object there, and none that it doesn't have?",
            "placement": "Is each part where the object has it, turned the same way?",
            "relative_scale": "Are the sizes of the parts in relation to each other those of the object?",
            "detail_fidelity": "Do the parts have the shape and the details that the object's have?",
        },
    ),
}
"""Judged metrics with their criteria; each criterion counts the same."""


def request_text(rubric: Rubric, name: str) -> str:
    """What a judge reads after the pictures of a design of the object `name`."""
    criteria = "\n".join(f"{criterion}: {question}" for criterion, question in rubric.criteria.items())
    answer = "\n".join(f"{criterion}: <integer>" for criterion in rubric.criteria)
    return (
        f"{rubric.shown.format(name=' '.join(name.split()))}\n\n"
        f"Give each criterion an integer from {LOWEST} (fails completely) to {HIGHEST} (as good as a "
        f"professional's work); {LOWEST + 4} is mediocre.\n\n{criteria}\n\n"
        f"Reply with exactly these {len(rubric.criteria)} lines and nothing else:\n{answer}"
    )


def parse_scores(reply: str, rubric: Rubric) -> dict[str, int]:
    """The integers of a reply, in the order of the rubric.

    Every criterion has to be there once, on a line of its own, and there may be nothing else. Raises
    ReplyError.
    """
    found: dict[str, int] = {}
    for line in reply.splitlines():
        if line.strip():
            criterion, score = _read_line(line.strip(), rubric)
            if criterion in found:
                raise ReplyError(f"{criterion} is scored twice")
            found[criterion] = score
    if missing := [criterion for criterion in rubric.criteria if criterion not in found]:
        raise ReplyError(f"{missing[0]} isn't scored")
    return {criterion: found[criterion] for criterion in rubric.criteria}


def _read_line(line: str, rubric: Rubric) -> tuple[str, int]:
    match = _LINE.fullmatch(line)
    if match is None or (criterion := match[1].lower()) not in rubric.criteria:
        shown = line if len(line) <= 60 else f"{line[:60]}…"
        raise ReplyError(f"{shown!r} is no line `criterion: integer`")
    score = int(match[2])
    if not LOWEST <= score <= HIGHEST:
        raise ReplyError(f"{criterion} is {score}, not from {LOWEST} to {HIGHEST}")
    return criterion, score
