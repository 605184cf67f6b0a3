"""The files of a session in the layout of the paper's records.

    <agent>/<condition>/epoch-<n>/summary.json               configuration and figures of the session
    <agent>/<condition>/epoch-<n>/<level>/result.json        figures of the episode
    <agent>/<condition>/epoch-<n>/<level>/trajectory.json    level, replies, designs, violations, runs
    <agent>/<condition>/epoch-<n>/<level>/round-<k>/         design.json, save.txt, frames.json, pictures

Everything is made from a record; texts are scrubbed on their way into a file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalkit import Episode
from evalkit.report import RecordedRun
from evalkit_polybridge.release.figures import episode_figures, session_figures
from evalkit_polybridge.release.gather import Gathered, Played, SessionKey, agent_entry
from evalkit_polybridge.release.scrub import scrubbed, scrubbed_text
from evalkit_polybridge.specs import EMBEDDED
from evalkit_polybridge.trajectory import Call, read_trajectory
from evalkit_polybridge.views import pictures

_RESPONSE_FIELDS = ("usage", "cache", "finish_reason", "model", "seconds", "error")
_FILE_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_VIEW_FILE = re.compile(r"call-(\d+)-(.+)")
_RENAMED = {"sheet.png": "contact_sheet.png"}

File = tuple[str, bytes]
"""A path below the layout's root, and its content."""


def json_bytes(value: Any) -> bytes:
    """Indented JSON with fields in the order given and a line end."""
    return (json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n").encode()


def file_name(text: str) -> str:
    """A name as a file's: itself if it can be one, else a readable part of it and a hash."""
    text = scrubbed_text(text)
    if _FILE_SAFE.fullmatch(text) and not text.endswith("."):
        return text
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:60] or "name"
    return f"{slug}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def session_path(key: SessionKey) -> str:
    """The folder of a session."""
    return f"{file_name(key.agent)}/{file_name(key.condition)}/epoch-{key.epoch}"


def files_of(gathered: Gathered, *, images: bool) -> Iterator[File]:
    """All files of all sessions, pictures (`.png`) only with `images`."""
    for key, session in sorted(gathered.sessions.items()):
        yield from _session_files(key, session, images=images)


def configuration(run: RecordedRun) -> dict[str, Any]:
    """The frozen configuration of a session: limits, settings, validators, executors."""
    protocol = run.manifest["protocol"]
    executors = {
        id: {"version": executor["version"], "constants_sha256": executor["constants_sha256"]}
        for id, executor in run.manifest["executors"].items()
    }
    result: dict[str, Any] = scrubbed(
        {
            "limits": protocol["limits"],
            "settings": protocol["settings"],
            "validators": protocol["validators"],
            "executors": executors,
        }
    )
    return result


def _session_files(key: SessionKey, session: Mapping[str, Played], *, images: bool) -> Iterator[File]:
    folder, results = session_path(key), []
    for level, played in sorted(session.items()):
        result, files = _episode_files(played, images=images)
        results.append(result)
        yield from ((f"{folder}/{file_name(level)}/{name}", data) for name, data in files)
    runs = list({played.run.name: played.run for _, played in sorted(session.items())}.values())
    summary = {
        **_key_fields(key.agent, key.condition, key.epoch),
        "agent_entry": agent_entry(runs[0], key.agent),
        "runs": [run.name for run in runs],
        "configuration": configuration(runs[0]),
        "figures": session_figures(results),
    }
    yield f"{folder}/summary.json", json_bytes(summary)


def _key_fields(agent: str, condition: str, epoch: int) -> dict[str, Any]:
    return {"agent": scrubbed_text(agent), "condition": scrubbed_text(condition), "epoch": epoch}


def _episode_files(played: Played, *, images: bool) -> tuple[dict[str, Any], list[File]]:
    episode, task = played.episode, played.task
    trajectory = read_trajectory(episode)
    key = episode.key
    identity = {**_key_fields(key.agent, key.condition, key.epoch), "level": task.id}
    strict_budget = float(task.hidden["strict_budget"])
    figures = episode_figures(trajectory, strict_budget)
    result = {**identity, "budget": _budget(task.inputs), "strict_budget": strict_budget, **figures}
    result |= {"ended": scrubbed({name: episode.end.get(name, "") for name in ("reason", "detail")})}
    document = {
        **identity,
        "run": played.run.name,
        "seed": next(episode.of("episode_start"))["seed"],
        "level_inputs": task.inputs,
        "strict_budget": strict_budget,
        "prompt_sha256": _prompt_sha256(episode),
        "rounds": [_round(episode, call) for call in trajectory.calls],
    }
    files = [("result.json", json_bytes(result)), ("trajectory.json", json_bytes(scrubbed(document)))]
    return figures, files + list(_round_files(played, trajectory.calls, images=images))


def _budget(inputs: Mapping[str, Any]) -> float:
    return float(inputs["context"]["task_context"]["budget_limit"])


def _prompt_sha256(episode: Episode) -> str:
    """The hash of the prompt that this episode began with."""
    first = next(episode.of("observation"), {})
    prompt = episode.load(first.get("data", {}).get("prompt", ""))
    return hashlib.sha256(str(prompt).encode()).hexdigest()


def _round(episode: Episode, call: Call) -> dict[str, Any]:
    """One call of the agent: what it sent, what was found wrong, what came of it, what it was told."""
    turn, load = call.turn, episode.load
    result = turn.result or {}
    violations = [] if turn.violations is None else turn.violations["violations"]
    document: dict[str, Any] = {
        "round": call.number,
        "outcome": call.outcome,
        "time": turn.action["time"],
        "reply": call.reply,
        "mistake": None if result.get("ok", True) else str(load(result["data"])["code"]),
        "design": None if not result.get("candidate") else load(result["candidate"]["data"]),
        "violations": [dict(violation) for violation in violations],
        "executions": [
            {
                name: load(event[name])
                for name in ("executor", "version", "constants_sha256", "success", "data")
            }
            for event in turn.executions
        ],
        "model_calls": _model_calls(episode, turn.action["seq"]),
        "feedback": None,
    }
    if turn.observation is not None:
        document["feedback"] = _feedback(episode, turn.observation)
    return document


def _feedback(episode: Episode, observation: Mapping[str, Any]) -> dict[str, Any]:
    """What the agent was told, without what stands elsewhere: context, draft, violations."""
    data = observation.get("data", {})
    said = dict(episode.load(data.get("feedback", {})))
    for name in ("draft", "violations"):
        said.pop(name, None)
    return {
        **said,
        "pictures": [image["name"] for image in observation.get("images", ())],
        "save_members": sum(item["type"] != 0 for item in episode.load(data["save"])["Objects"])
        if "save" in data
        else None,
    }


def _model_calls(episode: Episode, before: int) -> list[dict[str, Any]]:
    """What is known of the requests to a model that led to the action number `before`."""
    since = max((e["seq"] for e in episode.of("action") if e["seq"] < before), default=-1)
    return [
        {name: event[name] for name in _RESPONSE_FIELDS if name in event}
        for event in episode.of("model_response")
        if since < event["seq"] < before
    ]


def _round_files(played: Played, calls: Sequence[Call], *, images: bool) -> Iterator[File]:
    """Design, payload, frames and pictures of every call, and the frames that a game's executor kept."""
    for artifact in pictures(played.episode, played.task):
        found = _VIEW_FILE.fullmatch(artifact.name)
        if found is None or found[2] == "reply.txt":  # the reply stands in the trajectory
            continue
        if images or artifact.media_type != "image/png":
            yield f"round-{found[1]}/{_RENAMED.get(found[2], found[2])}", artifact.data
    if not images:
        return
    for call in calls:
        for event in call.turn.executions:
            if event["executor"] != EMBEDDED.id:
                for kept in event.get("artifacts", ()):
                    if kept["media_type"] == "image/png":
                        name = f"round-{call.number}/frames/{file_name(kept['name'])}"
                        yield name, played.run.reader.blob(kept["blob"])
