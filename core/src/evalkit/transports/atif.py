"""Trajectories of a run in the Agent Trajectory Interchange Format, ATIF v1.8: one JSON file per episode.

Each call that an agent made is a step, what it saw first is the step before them. `docs/transports.md` says
what becomes what.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalkit.errors import RecordError
from evalkit.run.scoring import RunScores
from evalkit.store.reader import RunReader
from evalkit.store.writer import pretty_json, write_atomically
from evalkit.transports._driven import recorded_observation
from evalkit.transports._present import observation_text
from evalkit.types import Episode, EpisodeKey, Event, Turn

SCHEMA_VERSION = "ATIF-v1.8"
#: Media types of pictures that the format knows, and the endings of their files.
_ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}


def export_run(
    reader: RunReader, scores: RunScores, folder: Path, unreadable: dict[EpisodeKey, str]
) -> Iterator[Path]:
    """Write a trajectory per finished episode, and its pictures under `images/`; yields the files.

    Episodes whose log is damaged are named in `unreadable`. StorageError if nothing can be written.
    """
    agents = {agent["id"]: agent for agent in reader.manifest["agents"]}
    for key in reader.index():
        try:
            episode = reader.episode(key)
            values = {id: by[key].value for id, by in scores.episode_scores.items() if key in by}
            document = _Trajectory(reader, episode, agents[key.agent], folder).document(values)
        except RecordError as error:
            unreadable[key] = str(error)
            continue
        path = folder / f"{key.file_stem()}.json"
        write_atomically(path, [pretty_json(document)])
        yield path


@dataclass(slots=True)
class _Exchange:
    """The replies of a model and the calls that came of them."""

    responses: list[Event] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)


class _Trajectory:
    """One episode on its way into the format."""

    def __init__(self, reader: RunReader, episode: Episode, agent: Mapping[str, Any], folder: Path) -> None:
        self._reader, self._episode, self._agent, self._folder = reader, episode, agent, folder
        self._requests = list(episode.of("model_request"))

    def document(self, scores: Mapping[str, float | None]) -> dict[str, Any]:
        """The whole trajectory as JSON; `scores` are the episode's metrics."""
        manifest, key = self._reader.manifest, self._episode.key
        steps = [{"step_id": number, **step} for number, step in enumerate([self._task(), *self._steps()], 1)]
        return {
            "schema_version": SCHEMA_VERSION,
            "session_id": self._reader.name,
            "trajectory_id": f"{self._reader.name}/{key.text()}",
            "agent": self._agent_entry(),
            "steps": steps,
            "final_metrics": self._final_metrics(len(steps), scores),
            "extra": {
                "suite": f"{manifest['suite']['name']}@{manifest['suite']['version']}",
                "protocol_hash": manifest["protocol_hash"],
                "key": key.as_dict(),
                "seed": self._episode.events[0]["seed"],
            },
        }

    def _agent_entry(self) -> dict[str, Any]:
        known = {"id", "version"}
        entry: dict[str, Any] = {"name": self._agent["id"], "version": self._agent["version"]}
        if self._requests:
            entry["model_name"] = self._requests[0]["model"]
        return entry | {"extra": {k: v for k, v in self._agent.items() if k not in known and v}}

    def _task(self) -> dict[str, Any]:
        """The step of the user: what the agent saw first."""
        events = self._episode.events
        first = next((e for e in events if e["kind"] in ("observation", "action")), events[0])
        shown = first if first["kind"] == "observation" else {}
        return {"timestamp": _timestamp(first), "source": "user", "message": self._content(shown)}

    def _steps(self) -> Iterator[dict[str, Any]]:
        """A step of the agent per reply."""
        for exchange in _exchanges(self._episode):
            first = (exchange.responses or [turn.action for turn in exchange.turns])[0]
            step: dict[str, Any] = {"timestamp": _timestamp(first), "source": "agent"}
            texts = (self._episode.load(e["text"]) for e in exchange.responses if e.get("text"))
            step["message"] = "\n\n".join(texts)
            if exchange.turns:
                step["tool_calls"] = [self._tool_call(turn) for turn in exchange.turns]
                step["observation"] = {"results": [self._result(turn) for turn in exchange.turns]}
            if not self._agent.get("transport"):  # what a client from outside asks its model isn't known
                step["llm_call_count"] = len(exchange.responses)
            if exchange.responses:
                step["metrics"] = _tokens(exchange.responses, "")
            yield step

    def _tool_call(self, turn: Turn) -> dict[str, Any]:
        action = turn.action
        arguments = self._episode.load(action["arguments"])
        return {"tool_call_id": _call_id(turn), "function_name": action["tool"], "arguments": arguments}

    def _result(self, turn: Turn) -> dict[str, Any]:
        shown = turn.observation or turn.result or {}
        extra: dict[str, Any] = {}
        if turn.result is not None:
            extra = {"ok": turn.result["ok"], "state": turn.result["state"]}
        if turn.violations is not None:
            extra["violations"] = [violation["code"] for violation in turn.violations["violations"]]
        if turn.executions:
            extra["executions"] = {e["executor"]: e["success"] for e in turn.executions}
        return {"source_call_id": _call_id(turn), "content": self._content(shown), "extra": extra}

    def _content(self, event: Mapping[str, Any]) -> str | list[dict[str, Any]]:
        """Text, or text and pictures, whose files are written."""
        seen = recorded_observation(event, self._episode.load, self._reader.blob)
        text = observation_text(seen)
        pictures = [
            {"type": "image", "source": {"media_type": image.media_type, "path": path}}
            for image in seen.images
            if (path := self._picture(image.data(), image.media_type))
        ]
        return [{"type": "text", "text": text}, *pictures] if pictures else text

    def _picture(self, data: bytes, media_type: str) -> str | None:
        """Write a picture and return its path in the folder; None for a type that the format lacks."""
        if media_type not in _ENDINGS:
            return None
        path = f"images/{hashlib.sha256(data).hexdigest()[:20]}{_ENDINGS[media_type]}"
        if not (self._folder / path).exists():
            write_atomically(self._folder / path, [data])
        return path

    def _final_metrics(self, steps: int, scores: Mapping[str, float | None]) -> dict[str, Any]:
        end = self._episode.end
        extra = {
            "end": end["reason"],
            "detail": end.get("detail", ""),
            "counters": dict(self._episode.counters),
            "scores": dict(scores),
        }
        totals = _tokens(list(self._episode.of("model_response")), "total_")
        return {**totals, "total_steps": steps, "extra": extra}


def _exchanges(episode: Episode) -> Iterator[_Exchange]:
    """Replies and the calls that followed, in order; calls of one reply share their turn's number."""
    turns = iter(episode.turns())
    exchange, number = _Exchange(), None
    for event in episode.events:
        if event["kind"] == "model_response":
            if exchange.turns:
                yield exchange
                exchange, number = _Exchange(), None
            exchange.responses.append(event)
        elif event["kind"] == "action":
            if exchange.turns and event["turn"] != number:
                yield exchange
                exchange = _Exchange()
            number = event["turn"]
            exchange.turns.append(next(turns))
    if exchange.turns or exchange.responses:
        yield exchange


def _tokens(responses: list[Event], prefix: str) -> dict[str, int]:
    """Tokens of several replies; a count that a provider didn't give is left out, never 0."""
    names = {"input": "prompt_tokens", "output": "completion_tokens", "cached": "cached_tokens"}
    found = {}
    for name, called in names.items():
        counts = [n for e in responses if (n := e.get("usage", {}).get(name)) is not None]
        if counts:
            found[prefix + called] = sum(counts)
    return found


def _call_id(turn: Turn) -> str:
    return f"call-{turn.number}"


def _timestamp(event: Event) -> str:
    return datetime.datetime.fromtimestamp(event["time"], datetime.UTC).isoformat()
