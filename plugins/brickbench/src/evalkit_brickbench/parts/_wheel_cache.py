"""Connectors, aliases and bounds of the wheels as compact arrays, converted once into the user's cache.

Parsing the compressed JSON takes about a second; reading the arrays a few milliseconds. A cache file is
named by the hashes of its sources and its format, is written to a temporary name and moved into place, so
that several processes may start at once, and is rebuilt when its checksums say that it is damaged.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from evalkit_brickbench.parts._labels import angles_and_extra, canonical_rows, frames_of
from evalkit_brickbench.parts._wheel_files import ALIASES, BOUNDS, LABELS, DataFile
from evalkit_brickbench.parts.catalogue import KINDS, POLARITIES

Arrays = dict[str, NDArray[Any]]

FORMAT = 1  # raise it when the arrays of a cache file change


def connector_arrays() -> Arrays:
    """Labels and aliases of `bricknet` (p parts, c connectors in canonical order, a aliases).

    `stems`: names of the parts, in order, as UTF-8 joined by newlines. `starts` [p + 1]: first connector of
    each part. `groups` [c]: index into the rows (kind, polarity) of `group_codes` and the names of
    `group_subtypes`. `origins` [c, 3] in LDU. `frames` [c]: index into `frame_table` [f, 3, 3]. `extras` [c].
    `alias_stems`, `alias_targets`: names joined by newlines, `alias_poses` [a, 4, 4].
    """
    return _cached("connectors", (LABELS, ALIASES), _convert_connectors)


def bounds_arrays() -> Arrays:
    """Boxes of `brickagent`: `stems`, joined by newlines, and `corners` [p, 2, 3] in LDU."""
    return _cached("bounds", (BOUNDS,), _convert_bounds)


def join(names: list[str]) -> NDArray[np.uint8]:
    """Names as bytes joined by newlines: no padding, one array."""
    return np.frombuffer("\n".join(names).encode(), np.uint8)


def split(joined: NDArray[Any]) -> list[str]:
    """The names in `joined`."""
    return joined.tobytes().decode().split("\n")


def cache_folder() -> Path:
    """The user's cache folder of this plugin."""
    return Path(platformdirs.user_cache_dir("evalkit")) / "brickbench"


def _cached(
    name: str, sources: tuple[DataFile, ...], convert: Callable[[Mapping[DataFile, bytes]], Arrays]
) -> Arrays:
    """Arrays from the cache, or converted from the sources, whose hashes are checked either way."""
    raw = {source: source.read() for source in sources}
    key = hashlib.sha256("".join([str(FORMAT), *(source.sha256 for source in sources)]).encode()).hexdigest()
    path = cache_folder() / f"{name}-{key[:16]}.npz"
    arrays = _read(path)
    if arrays is None:
        arrays = convert(raw)
        _write(path, arrays)
    return arrays


def _read(path: Path) -> Arrays | None:
    """The arrays of a cache file; None where there is none or the checksums inside don't agree."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error):
        return None


def _write(path: Path, arrays: Arrays) -> None:
    """Write a cache file at once; a folder that can't be written to only costs the next start its time."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(buffer.getbuffer())
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)


def _convert_connectors(raw: Mapping[DataFile, bytes]) -> Arrays:
    labels = LABELS.parse(raw[LABELS])
    aliases = sorted(ALIASES.parse(raw[ALIASES])["rows"], key=lambda row: str(row["src"]))
    by_stem = {name.removesuffix(".dat"): kinds for name, kinds in labels.items()}
    stems = sorted(by_stem)
    group_of: dict[tuple[int, int, str], int] = {}
    starts, groups, rows = [0], [], []
    for stem in stems:
        for kind, subtype, polarity, row in canonical_rows(by_stem[stem]):
            group = group_of.setdefault(
                (KINDS.index(kind), POLARITIES.index(polarity), subtype), len(group_of)
            )
            groups.append(group)
            rows.append([*row[:3], *angles_and_extra(kind, row)])
        starts.append(len(rows))
    table = np.array(rows, np.float64)
    angles, frames = np.unique(table[:, 3:6], axis=0, return_inverse=True)
    return {
        "stems": join(stems),
        "starts": np.array(starts, np.int32),
        "groups": np.array(groups, np.uint8),
        "group_codes": np.array([key[:2] for key in group_of], np.int8),
        "group_subtypes": join([key[2] for key in group_of]),
        "origins": np.ascontiguousarray(table[:, :3]),
        "frames": frames.reshape(-1).astype(np.uint16),
        "frame_table": frames_of(angles),
        "extras": np.ascontiguousarray(table[:, 6]),
        "alias_stems": join([row["src"] for row in aliases]),
        "alias_targets": join([row["dst"] for row in aliases]),
        "alias_poses": np.array([_pose(row["final_matrix_3x4"]) for row in aliases]),
    }


def _pose(numbers: list[float]) -> NDArray[np.float64]:
    """The twelve numbers x y z a b … i of an LDraw line as a pose [4, 4]."""
    pose = np.eye(4)
    pose[:3, 3] = numbers[:3]
    pose[:3, :3] = np.reshape(numbers[3:], (3, 3))
    return pose


def _convert_bounds(raw: Mapping[DataFile, bytes]) -> Arrays:
    boxes = BOUNDS.parse(raw[BOUNDS])
    stems = sorted(boxes)
    return {"stems": join(stems), "corners": np.array([boxes[stem] for stem in stems], np.float64)}
