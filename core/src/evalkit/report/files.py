"""The pictures and files of an episode, as files in a folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path

from evalkit.errors import StorageError
from evalkit.types import Artifact, Episode, Event


def recorded_artifacts(episode: Episode, blob: Callable[[str], bytes]) -> Iterator[Artifact]:
    """Pictures seen, files of designs and files of executions, each named after its event's number.

    `blob` fetches bytes by their hash. Pictures that nobody looked at were never drawn and are left out.
    """
    for event in episode.events:
        for name, reference in _references(event):
            yield Artifact(f"{event['seq']:03}-{name}", blob(reference))


def write_artifacts(artifacts: Iterable[Artifact], folder: Path) -> list[Path]:
    """Write each artifact into the folder and return the paths; StorageError if that can't be done.

    Names come from agents and plugins: whatever could lead out of the folder is replaced, and a second
    artifact of a name gets a number.
    """
    written: dict[str, Path] = {}
    path = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for artifact in artifacts:
            path = folder / _free_name(_safe_name(artifact.name), written)
            path.write_bytes(artifact.data)
            written[path.name.lower()] = path
    except OSError as error:
        raise StorageError(f"can't write {path}: {error.strerror or error}") from error
    return list(written.values())


def _references(event: Event) -> Iterator[tuple[str, str]]:
    for image in event.get("images", ()):
        if image["blob"] is not None:
            yield _picture_name(image["name"]), image["blob"]
    if event["kind"] == "result" and event.get("candidate") is not None:
        yield from event["candidate"].get("files", {}).items()
    for artifact in event.get("artifacts", ()):
        yield artifact["name"], artifact["blob"]


def _picture_name(name: str) -> str:
    return name if Path(name).suffix else f"{name}.png"


def _safe_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).lstrip(".")[:120] or "file"


def _free_name(name: str, taken: Container[str]) -> str:
    """The name, or the name with a number if a file of that name exists in any case."""
    stem, suffix = Path(name).stem, Path(name).suffix
    free, number = name, 2
    while free.lower() in taken:
        free = f"{stem}-{number}{suffix}"
        number += 1
    return free
