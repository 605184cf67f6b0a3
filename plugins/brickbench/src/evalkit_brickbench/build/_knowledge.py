"""What is known about parts and colours: one catalogue a process, loaded when first asked."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache

import numpy as np

from evalkit_brickbench.build._errors import BuildError
from evalkit_brickbench.build._pose import Pose
from evalkit_brickbench.ldraw.colours import FIRST_DIRECT, builtin_palette
from evalkit_brickbench.parts.providers import SearchableCatalogue, providers
from evalkit_brickbench.parts.wheels import MirrorImage, Seating, WheelCatalogue
from evalkit_brickbench.scene import Floats

INHERITED = 16
"""The colour of whatever a part is placed in."""

_DECORATED_STEM = re.compile(r"[a-z]*\d+[a-z]?(c\d+)?[pd][a-z0-9]{2,}$")
_DECORATED_TITLE = re.compile(r"(?<!without )\b(pattern|sticker)s?\b")


@cache
def catalogue() -> SearchableCatalogue:
    """The catalogue that is installed; see `evalkit_brickbench.parts.providers`."""
    return providers().catalogue


def title_of(stem: str) -> str:
    """The title of a part; its stem where it has none."""
    return catalogue().title(stem) or stem


def is_decorated(stem: str) -> bool:
    """Whether a part has a print or a sticker, by its id or its title."""
    return bool(_DECORATED_STEM.match(stem) or _DECORATED_TITLE.search(catalogue().title(stem) or ""))


def seating() -> Seating:
    """How far pins go into sockets; empty for a catalogue that doesn't say."""
    known = catalogue()
    return known.seating if isinstance(known, WheelCatalogue) else Seating({}, {})


def mirror_image(stem: str) -> MirrorImage | None:
    """The part whose geometry, reflected by the image's pose, is that of `stem`; None if none is known."""
    known = catalogue()
    if isinstance(known, WheelCatalogue):
        return known.mirror_image(stem)
    # The parts of the small catalogue are all symmetric in x.
    return MirrorImage(stem, np.diag([-1.0, 1.0, 1.0, 1.0]), np.empty(0, np.int32))


def box_of(stem: str, pose: Pose) -> Floats | None:
    """Corners [2, 3] of an upright box around a placed part in LDU, None where its size isn't known.

    It is the tight one for parts that stand square, and a little too large for others.
    """
    corners = catalogue().bounds(stem)
    if corners is None:
        return None
    every = np.array(
        [[corners[i, 0], corners[j, 1], corners[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    )
    placed = pose.apply(every)
    return np.stack([placed.min(axis=0), placed.max(axis=0)])


def color(wanted: str | int) -> int:
    """The LDraw code of a colour by name (`"red"`, `"light bluish grey"`), code or `"#RRGGBB"`.

    BuildError, with the nearest names, for a colour that there isn't.
    """
    if isinstance(wanted, int):
        if not builtin_palette().knows(wanted) and wanted not in _colour_names().values():
            raise BuildError(f"there is no colour {wanted}: give a name, an LDraw code or '#RRGGBB'")
        return wanted
    if re.fullmatch(r"#[0-9a-fA-F]{6}", wanted.strip()):
        return FIRST_DIRECT + int(wanted.strip()[1:], 16)
    plain = _plain(wanted)
    names = _colour_names()
    if plain not in names:
        near = get_close_matches(plain, names, 8, 0.6)
        hint = f"did you mean {', '.join(near)}?" if near else "give a name, an LDraw code or '#RRGGBB'"
        raise BuildError(f"there is no colour {wanted!r}: {hint}")
    return names[plain]


@cache
def _colour_names() -> dict[str, int]:
    """Codes by plain name."""
    known = catalogue()
    names = {_plain(colour.name): colour.code for colour in builtin_palette()}
    more = known.colour_names if isinstance(known, WheelCatalogue) else {}
    return {**names, **{_plain(name): code for name, code in more.items()}}


def _plain(name: str) -> str:
    """A name of a colour in one spelling."""
    return " ".join(re.sub(r"[_\-]+", " ", name.lower()).replace("gray", "grey").split())
