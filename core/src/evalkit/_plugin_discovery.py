"""Entry points of the group `evalkit`, read so that one damaged distribution doesn't hide the others."""

from __future__ import annotations

from importlib.metadata import Distribution, EntryPoint, distributions
from typing import NamedTuple

from evalkit._plugin_checks import one_line

GROUP = "evalkit"


class Found(NamedTuple):
    """An entry point and the distribution that declares it."""

    point: EntryPoint
    distribution: Distribution


def discover() -> tuple[dict[str, Found], dict[str, tuple[str, Distribution]]]:
    """Entry points by plugin name, sorted; and distributions that can't be read, with the reason.

    Distributions are read one by one, because `importlib.metadata.entry_points` fails as a whole on one
    damaged file. Where two distributions use one name, it is followed by the distribution's name.
    """
    points: list[Found] = []
    unreadable: dict[str, tuple[str, Distribution]] = {}
    seen = set()
    for distribution in distributions():
        try:
            if f"[{GROUP}]" not in (distribution.read_text("entry_points.txt") or ""):
                continue
            if distribution.name in seen:  # shadowed by an earlier folder of sys.path
                continue
            seen.add(distribution.name)
            points += [Found(p, distribution) for p in distribution.entry_points.select(group=GROUP)]
        except Exception as error:  # noqa: BLE001 - foreign metadata may be damaged in any way
            reason = f"its entry_points.txt can't be read: {one_line(error)}"
            unreadable[str(distribution.metadata["Name"])] = (reason, distribution)
    names = [p.point.name for p in points]
    found = {_name(p, unique=names.count(p.point.name) == 1): p for p in points}
    return dict(sorted(found.items())), unreadable


def _name(found: Found, *, unique: bool) -> str:
    return found.point.name if unique else f"{found.point.name} ({found.distribution.name})"
