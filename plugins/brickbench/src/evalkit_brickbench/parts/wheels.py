"""The part catalogue in the data files of the `bricknet` and `brickagent` wheels.

14,603 parts with 325,291 connectors, aliases, titles, bounds, keywords, mirror images and the seating of
pins. The files are read as data, checked against pinned hashes and loaded when first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evalkit_brickbench.parts._wheel_cache import Arrays, bounds_arrays, connector_arrays, split
from evalkit_brickbench.parts._wheel_files import (
    ALIASES,
    COLOUR_NAMES,
    IDS,
    KEYWORDS,
    LABELS,
    MIRRORS,
    SEATING,
    TITLES,
    MissingDataError,
    combined_id,
)
from evalkit_brickbench.parts.catalogue import Connectors, Resolved
from evalkit_brickbench.scene import Floats, Ints

__all__ = ["MirrorImage", "MissingDataError", "Seating", "WheelCatalogue"]


@dataclass(frozen=True, slots=True, eq=False)
class MirrorImage:
    """The part that looks like another one in a mirror.

    The geometry of `stem`, put through the reflection `pose` [4, 4], is that of the original; connector i of
    the original then lies where connector `connectors[i]` of the image does, −1 where none does.
    """

    stem: str
    pose: Floats
    connectors: Ints


@dataclass(frozen=True, slots=True)
class Seating:
    """Data on how far pins go into sockets, by `stem:connector`: rows as the wheel has them."""

    pins: Mapping[str, Sequence[bool | int | None]]
    sockets: Mapping[str, Sequence[bool | int | None]]


class WheelCatalogue:
    """Parts by stem (lower case, without `.dat`); see `evalkit_brickbench.parts.catalogue.Catalogue`.

    Any method raises `MissingDataError` if its data isn't installed.
    """

    @property
    def id(self) -> str:
        """Distribution, version and the hash of the labels and aliases."""
        return combined_id((LABELS, ALIASES))

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, stem: str) -> bool:
        return stem in self._rows

    def stems(self) -> Iterable[str]:
        """Stems of all parts with connectors, sorted."""
        return self._rows.keys()

    def resolve(self, stem: str) -> Resolved | None:
        """Follow aliases from a stem; None if they end outside the catalogue or go round in a circle."""
        pose = np.eye(4)
        seen = {stem}
        while (alias := self._aliases.get(stem)) is not None:
            stem, row = alias
            if stem in seen:
                return None
            seen.add(stem)
            pose = pose @ self._arrays["alias_poses"][row]
        return Resolved(stem, pose) if stem in self._rows else None

    def connectors(self, stem: str) -> Connectors:
        """Connectors of a part by its resolved stem; KeyError if it is unknown."""
        row = self._rows[stem]
        arrays = self._arrays
        part = slice(arrays["starts"][row], arrays["starts"][row + 1])
        groups = arrays["groups"][part]
        codes = arrays["group_codes"][groups]
        return Connectors(
            kinds=codes[:, 0],
            subtypes=tuple(self._subtypes[group] for group in groups),
            polarities=codes[:, 1],
            origins=arrays["origins"][part],
            frames=arrays["frame_table"][arrays["frames"][part]],
            extras=arrays["extras"][part],
        )

    def bounds(self, stem: str) -> Floats | None:
        """Corners [2, 3] of the box around a part, LDU, or None if they aren't known."""
        stems, corners = self._bounds
        row = stems.get(stem)
        return None if row is None else corners[row]

    def title(self, stem: str) -> str | None:
        """The name of a part for people, in lower case."""
        return self.titles.get(stem)

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """Names of parts for people by stem."""
        titles: Mapping[str, str] = TITLES.load()
        return titles

    @cached_property
    def keywords(self) -> Mapping[str, Sequence[str]]:
        """Words to search for by stem."""
        keywords: Mapping[str, Sequence[str]] = KEYWORDS.load()
        return keywords

    @cached_property
    def foreign_ids(self) -> Mapping[str, str]:
        """Stems by the names that other catalogues have for the same parts."""
        ids: Mapping[str, str] = IDS.load()
        return ids

    @cached_property
    def colour_names(self) -> Mapping[str, int]:
        """LDraw colour codes by name."""
        names: Mapping[str, int] = COLOUR_NAMES.load()
        return names

    @cached_property
    def seating(self) -> Seating:
        """How far pins go into sockets."""
        data = SEATING.load()
        return Seating(data["pin"], data["socket"])

    def mirror_image(self, stem: str) -> MirrorImage | None:
        """The reflection of a part in its yz plane, or None if no part is known for it."""
        parts, connectors = self._mirrors
        if stem not in parts:
            return None
        image, pose = parts[stem]
        rows = [-1 if row is None else row for row in connectors.get(stem, ())]
        return MirrorImage(image, np.array(pose), np.array(rows, np.int32))

    @cached_property
    def _arrays(self) -> Arrays:
        return connector_arrays()

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {stem: row for row, stem in enumerate(split(self._arrays["stems"]))}

    @cached_property
    def _subtypes(self) -> list[str]:
        return split(self._arrays["group_subtypes"])

    @cached_property
    def _aliases(self) -> dict[str, tuple[str, int]]:
        stems, targets = split(self._arrays["alias_stems"]), split(self._arrays["alias_targets"])
        return {stem: (target, row) for row, (stem, target) in enumerate(zip(stems, targets, strict=True))}

    @cached_property
    def _bounds(self) -> tuple[dict[str, int], Floats]:
        arrays = bounds_arrays()
        return {stem: row for row, stem in enumerate(split(arrays["stems"]))}, arrays["corners"]

    @cached_property
    def _mirrors(self) -> tuple[Mapping[str, tuple[str, list[list[float]]]], Mapping[str, list[int | None]]]:
        data = MIRRORS.load()
        return data["parts"], data["connectors"]
