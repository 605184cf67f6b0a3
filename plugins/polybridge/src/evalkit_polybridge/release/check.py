"""Checking a release: everything that can be recomputed from its files is recomputed.

Files are compared with the manifest's hashes, and then the documents with each other, whatever their hashes
say: somebody who changes a file can change a hash, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalkit import UsageError
from evalkit_polybridge.release.check_claims import check_claims, declared_sessions
from evalkit_polybridge.release.check_context import Context, Key
from evalkit_polybridge.release.check_episode import Checked, check_episode
from evalkit_polybridge.release.check_pictures import check_archive, picture_fault
from evalkit_polybridge.release.check_simulation import simulate_designs
from evalkit_polybridge.release.figures import session_figures
from evalkit_polybridge.release.findings import (
    Report,
    is_picture,
    listed,
    read_bytes,
    read_json,
    texts_in,
)
from evalkit_polybridge.release.gather import SessionKey
from evalkit_polybridge.release.installed import installed
from evalkit_polybridge.release.layout import file_name, session_path
from evalkit_polybridge.release.manifest import (
    FORMAT,
    FORMAT_VERSION,
    IN_PLACE,
    LEFT_OUT,
    MANIFEST,
    PACKED,
    SESSIONS,
    file_entry,
)
from evalkit_polybridge.release.scrub import is_secret_file, secrets_in

_ROUND_FILE = re.compile(
    r"design\.json|save\.txt|frames\.json|editor\.png|contact_sheet\.png|frames/(?P<frame>[^/]+\.png)"
)
_SUMMARY_FIELDS = ("agent", "condition", "epoch", "agent_entry", "runs", "configuration", "figures")


def check_release(folder: Path, *, images: Path | None = None, simulate: bool = False) -> Report:
    """Check a release folder; `images` is the file that its pictures were packed into.

    With `simulate` every design that the embedded executor ran is run again. UsageError if the folder is no
    release or was written by a newer version.
    """
    manifest = _read_manifest(folder)
    report = Report(folder)
    _Check(folder, manifest, report, simulate=simulate).run(images)
    return report


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        raise UsageError(f"{folder} is no release: it has no file {MANIFEST}")
    try:
        manifest = read_json(read_bytes(path))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{folder} is no release, {MANIFEST} can't be read: {reason}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise UsageError(f"{path} is no manifest of a release: its format has to be {FORMAT!r}")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        remedy = "write it anew" if version in range(FORMAT_VERSION) else "upgrade evalkit-polybridge"
        raise UsageError(f"{path} has format version {version}, {FORMAT_VERSION} is read: {remedy}")
    return manifest


class _Check:
    def __init__(self, folder: Path, manifest: Mapping[str, Any], report: Report, *, simulate: bool) -> None:
        self._folder, self._manifest, self._report = folder, manifest, report
        self._simulate = simulate
        self._files = [name for name in listed(folder) if name != MANIFEST]
        self._episodes: dict[SessionKey, list[Checked]] = {}

    def run(self, images: Path | None) -> None:
        report = self._report
        with report.guarded(MANIFEST):
            self._hashes()
            self._secrets()
            self._pictures(images)
        with report.guarded(MANIFEST):
            context = Context(self._folder, self._manifest, report, installed(self._manifest))
            self._all_episodes(context)
            self._strays(context)
            self._summaries()
            check_claims(context, self._episodes)
        report.files = len(self._files) + 1

    # --- Files -----------------------------------------------------------------------------------

    def _hashes(self) -> None:
        expected = dict(self._manifest["files"])
        if self._manifest["images"]["where"] == IN_PLACE:
            expected |= self._manifest["images"]["files"]
        here = set(self._files)
        for name in sorted(expected.keys() - here):
            self._report.find("missing file", name, "the manifest lists it, it isn't there")
        for name in sorted(here - expected.keys()):
            self._report.find("extra file", name, "the manifest doesn't list it")
        for name in sorted(expected.keys() & here):
            try:
                data = read_bytes(self._folder / name)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                self._report.find("changed file", name, f"can't be read: {reason}")
                continue
            entry = file_entry(data)
            if entry["sha256"] != expected[name]["sha256"]:
                self._report.find("changed file", name, "its hash is not the manifest's")
            elif entry != expected[name]:
                self._report.find("changed file", name, "its size is not the manifest's")

    def _secrets(self) -> None:
        """Secrets in texts, and pictures that hold anything else: nobody sees a text in such a file."""
        for name in [MANIFEST, *self._files]:
            if is_secret_file(name):
                self._report.find("secret", name, "such a file holds secrets: remove it")
            path = self._folder / name
            if path.is_symlink() or not path.is_file():
                continue  # found already: no manifest lists such a thing with its hash
            with self._report.guarded(name):
                data = read_bytes(path)
                fault = picture_fault(data) if is_picture(name) else ""
                if fault:
                    self._report.find("form", name, fault)
                kinds = {kind for text in texts_in(name, data) for kind in secrets_in(text)}
                for kind in sorted(kinds):
                    self._report.find("secret", name, f"holds something that looks like this: {kind}")

    def _pictures(self, given: Path | None) -> None:
        """The archive of packed pictures; one that isn't here can't be checked, which is noted."""
        images = self._manifest["images"]
        if images["where"] not in (IN_PLACE, LEFT_OUT, PACKED):
            self._report.find("form", MANIFEST, f"pictures are {images['where']!r}, which is nowhere")
        if images["where"] == LEFT_OUT:
            self._report.notes.append("the pictures are left out")
            if images["files"]:
                self._report.find("form", MANIFEST, "lists pictures and says that they are left out")
        if images["where"] != PACKED:
            return
        path = given or self._folder.parent / str(images["archive"])
        if not path.exists():
            self._report.notes.append(f"{path.name} isn't here: its pictures are not checked")
            return
        data = read_bytes(path)
        if file_entry(data) != {name: images[name] for name in ("sha256", "size")}:
            self._report.find("changed file", path.name, "its hash and size are not the manifest's")
        check_archive(self._report, path.name, data, images["files"])

    def _strays(self, context: Context) -> None:
        """Files that the manifest lists and that no release holds."""
        for name in self._manifest["files"].keys() | self._manifest["images"]["files"].keys():
            if not self._belongs(context, name):
                self._report.find("extra file", name, "no episode has such a file")

    def _belongs(self, context: Context, name: str) -> bool:
        folder, _, rest = name.partition("/round-")
        if rest:
            number, _, file = rest.partition("/")
            rounds = map(str, range(1, context.rounds.get(folder, 0) + 1))
            found = _ROUND_FILE.fullmatch(file)
            if found is None or number not in rounds:
                return False
            frames = context.frames.get(f"{folder}/round-{number}")
            return found["frame"] is None or frames is None or found["frame"] in frames
        folder, _, file = name.rpartition("/")
        if file == "summary.json":
            return folder in {f"{SESSIONS}/{session_path(session)}" for session in self._episodes}
        # what is wrong with a trajectory or a result is said where they are read
        return name.startswith(f"{SESSIONS}/") and file in ("result.json", "trajectory.json")

    # --- Episodes and sessions -------------------------------------------------------------------

    def _all_episodes(self, context: Context) -> None:
        for path in self._named("trajectory.json"):
            with self._report.guarded(path):
                episode = check_episode(context, path)
                key = episode.key
                session = SessionKey(key.agent, key.condition, key.epoch)
                self._episodes.setdefault(session, []).append(episode)
        self._report.episodes = len(context.seen)
        for path in self._named("result.json"):
            if path.replace("/result.json", "/trajectory.json") not in self._files:
                self._report.find("missing trajectory", path, "there is a result and no trajectory")
        self._completeness(context.seen.keys())
        if self._simulate:
            simulate_designs(context)

    def _named(self, name: str) -> Iterator[str]:
        return (path for path in self._files if path.startswith(f"{SESSIONS}/") and path.endswith(f"/{name}"))

    def _completeness(self, seen: Any) -> None:
        """Every session has every level of its condition, once."""
        for session in declared_sessions(self._manifest):
            folder = f"{SESSIONS}/{session_path(session)}"
            for level in self._manifest["conditions"][session.condition]["budgets"]:
                key = Key(session.agent, session.condition, session.epoch, level)
                if key in seen or f"{folder}/{file_name(level)}/result.json" in self._files:
                    continue
                self._report.find("missing level", folder, f"{level} is not there")

    def _summaries(self) -> None:
        for session in declared_sessions(self._manifest):
            path = f"{SESSIONS}/{session_path(session)}/summary.json"
            if path not in self._files:
                self._report.find("missing file", path, "the session has no summary")
                continue
            with self._report.guarded(path):
                self._summary(path, session, read_json(read_bytes(self._folder / path)))

    def _summary(self, path: str, session: SessionKey, summary: Mapping[str, Any]) -> None:
        report, episodes = self._report, self._episodes.get(session, [])
        report.only(path, summary, _SUMMARY_FIELDS)
        if SessionKey(summary["agent"], summary["condition"], summary["epoch"]) != session:
            report.find("misplaced", path, "is the summary of another session")
        for where, name, one, other in _differences(summary["configuration"], self._manifest["inclusion"]):
            kind = "limit" if where == "limits" else "protocol"
            report.find(kind, path, f"{where}.{name} is {one!r}, the release declares {other!r}")
        if summary["agent_entry"] not in self._manifest["agents"]:
            report.find("protocol", path, "the manifest describes its agent otherwise")
        if sorted(summary["runs"]) != sorted({episode.run for episode in episodes}):
            report.find("misplaced", path, "names other runs than its episodes")
        figures = session_figures([episode.figures for episode in episodes])
        for name in sorted({**figures, **summary["figures"]}):
            if summary["figures"].get(name) != figures.get(name):
                report.find("score", path, f"{name} doesn't follow from the trajectories")


def _differences(
    configured: Mapping[str, Any], claimed: Mapping[str, Any]
) -> Iterator[tuple[str, str, Any, Any]]:
    """Where a session's configuration isn't the declared one: section, name, both values."""
    for where in ("limits", "settings", "validators", "executors"):
        one, other = configured[where], claimed[where]
        for name in sorted({**one, **other}):
            if one.get(name) != other.get(name):
                yield where, name, one.get(name), other.get(name)
