"""`cassette-record:FILE=MODEL` keeps what a model answers; `cassette:FILE` answers the same without it.

A cassette is a file of JSON lines: a head, then for each call what identifies it and the reply or error.
Failures that another try could mend aren't kept.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from evalkit.canonical import canonical_json, sha256_of
from evalkit.errors import UsageError
from evalkit.models._errors import ErrorKind, ModelError
from evalkit.models._identity import differences, distance, identity
from evalkit.models._options import ModelOptions
from evalkit.models._replies import read_reply, reply_json
from evalkit.models._types import CallKey, Controls, ModelClient, ModelReply, ModelRequest, Usage

FORMAT = 1
_SHOWN = 3


class CassetteClient:
    """Answers from a cassette, byte for byte, and only what was asked when it was recorded."""

    provider = "cassette"
    attempts = 1

    def __init__(self, argument: str, options: ModelOptions) -> None:
        """`argument` is the path; UsageError if the file can't be read or is no cassette."""
        if not argument:
            raise UsageError("model 'cassette' needs a file: -m cassette:FILE")
        self._path = Path(argument)
        content = self._read()
        self._sha256 = hashlib.sha256(content).hexdigest()
        self._head, self._entries = _parsed(self._path, content)
        self.source = self._head["source"]
        self.model = self.source["model"]
        self.max_connections = options.max_connections
        self.controls = _controls(self._head["description"].get("controls", {}))
        self.defaults = _controls(self._head["description"].get("defaults", {}))

    def complete(self, request: ModelRequest, key: CallKey) -> ModelReply:
        """The recorded reply or error. ModelError `no_recording` names what differs from the nearest call."""
        asked = identity(self.source, request, key)
        entry = self._entries.get(sha256_of(asked))
        if entry is None:
            raise ModelError(ErrorKind.NO_RECORDING, self._miss(asked))
        if "error" in entry:
            error = entry["error"]
            kind = ErrorKind(error["kind"])
            usage = Usage(**error["usage"])
            raise ModelError(kind, error["message"], status=error["status"], usage=usage)
        return read_reply(entry["reply"])

    def describe(self) -> Mapping[str, Any]:
        """The cassette's path and hash, and what the recorded model said of itself."""
        recorded = self._head["description"]
        return {
            "model": self.model,
            "client": "cassette",
            "file": str(self._path),
            "sha256": self._sha256,
            "recorded": recorded,
            "prices": recorded.get("prices"),
        }

    def check(self) -> None:
        """Nothing to check: the file was read."""

    def close(self) -> None:
        """Nothing to give back."""

    def _read(self) -> bytes:
        try:
            return self._path.read_bytes()
        except OSError as error:
            hint = f"-m cassette-record:{self._path}=MODEL makes one"
            raise UsageError(f"can't read the cassette {self._path}: {error.strerror}; {hint}") from error

    def _miss(self, asked: Mapping[str, Any]) -> str:
        if not self._entries:
            return f"{self._path} holds no call"
        near = min((e["identity"] for e in self._entries.values()), key=lambda i: distance(asked, i))
        found = differences(dict(asked), near)
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        return (
            f"{self._path} has no such call; it differs from the nearest in {'; '.join(found[:_SHOWN])}{more}"
        )


class RecordingClient:
    """Passes calls on to another client and keeps the answers."""

    def __init__(self, argument: str, options: ModelOptions) -> None:
        """`argument` is `FILE=MODEL`; UsageError if it isn't, or if the file exists."""
        from evalkit.models._open import open_model

        file, _, model = argument.partition("=")
        if not file or not model:
            raise UsageError(
                "model 'cassette-record' needs a file and a model: -m cassette-record:FILE=MODEL"
            )
        self._path = Path(file)
        self._file: IO[bytes] | None = None
        self._lock = threading.Lock()
        self._inner: ModelClient = open_model(model, options)
        self.model, self.source = self._inner.model, self._inner.source
        self.provider = self._inner.provider
        self.controls, self.defaults = self._inner.controls, self._inner.defaults
        self.attempts, self.max_connections = self._inner.attempts, self._inner.max_connections
        if self._path.exists():
            raise UsageError(
                f"{self._path} exists; delete it to record anew, or replay it with -m cassette:{self._path}"
            )

    def complete(self, request: ModelRequest, key: CallKey) -> ModelReply:
        """The other client's reply or error, kept if it is final. ModelError `not_kept` if that fails."""
        asked = identity(self.source, request, key)
        try:
            reply = self._inner.complete(request, key)
        except ModelError as error:
            if not error.policy.retried and not error.policy.fatal:
                self._keep(asked, {"error": _error_json(error)}, error)
            raise
        self._keep(asked, {"reply": reply_json(reply)}, reply)
        return reply

    def describe(self) -> Mapping[str, Any]:
        """What the other client says."""
        return self._inner.describe()

    def check(self) -> None:
        """What the other client checks."""
        self._inner.check()

    def close(self) -> None:
        """Close the cassette and the other client."""
        with self._lock:
            if self._file is not None:
                self._file.close()
        self._inner.close()

    def _keep(
        self, asked: Mapping[str, Any], answer: Mapping[str, Any], outcome: ModelReply | ModelError
    ) -> None:
        line = canonical_json({"identity": dict(asked), **answer}) + b"\n"
        try:
            with self._lock:
                if self._file is None:
                    self._path.parent.mkdir(parents=True, exist_ok=True)
                    self._file = open(self._path, "xb", buffering=0)  # noqa: SIM115 - closed by close()
                    line = canonical_json(self._head()) + b"\n" + line
                _append(self._file, line)
        except OSError as error:
            why = f"can't write {self._path}: {error.strerror or error}"
            raise ModelError(ErrorKind.NOT_KEPT, why, tuple(outcome.attempts), usage=outcome.usage) from error

    def _head(self) -> dict[str, Any]:
        return {"cassette": FORMAT, "source": dict(self.source), "description": dict(self.describe())}


def _append(file: IO[bytes], line: bytes) -> None:
    """Write all of a line, or, with an OSError, none of it: others may fit where this one didn't."""
    start = file.tell()
    try:
        while line:
            line = line[file.write(line) :]
    except OSError:
        file.truncate(start)
        file.seek(start)
        raise


def _controls(given: Mapping[str, Any]) -> Controls:
    stop = given.get("stop")
    return Controls(**{**given, "stop": None if stop is None else tuple(stop)})


def _error_json(error: ModelError) -> dict[str, Any]:
    return {
        "kind": error.kind.value,
        "message": error.detail,
        "status": error.status,
        "usage": error.usage.as_dict(),
    }


def _parsed(path: Path, content: bytes) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The head, and the entries by the hash of what identifies them."""
    entries: dict[str, dict[str, Any]] = {}
    head: dict[str, Any] = {}
    complete = content[: content.rfind(b"\n") + 1]  # a killed recorder leaves a torn last line
    for number, line in enumerate(complete.splitlines(), 1):
        try:
            value = json.loads(line)
            if number == 1:
                head = _head(path, value)
            else:
                entries[sha256_of(value["identity"])] = value
        except (ValueError, LookupError, TypeError) as error:
            raise UsageError(
                f"{path}:{number}: not a cassette of evalkit ({type(error).__name__}: {error})"
            ) from error
    if not head:
        raise UsageError(f"{path} is empty, not a cassette of evalkit")
    return head, entries


def _head(path: Path, value: Any) -> dict[str, Any]:
    """The first line's content. UsageError for another version, KeyError or TypeError if it isn't one."""
    if value["cassette"] != FORMAT:
        raise UsageError(f"{path} is a cassette of version {value['cassette']}; this evalkit reads {FORMAT}")
    return {
        "source": {"model": value["source"]["model"], **value["source"]},
        "description": value["description"],
    }
