"""`evalkit cache`: the replies of models that are kept between runs, and why a call found none."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli._common import emit, emit_json, emit_table, json_option
from evalkit.errors import UnknownNameError

if TYPE_CHECKING:
    from evalkit.models import ResponseCache
    from evalkit.store.reader import RunReader
    from evalkit.types import Event

_SHOWN = 5


@click.group(name="cache", short_help="Look into the cache of models' replies.")
def command() -> None:
    """Look into the cache of models' replies, which runs use and fill if they are asked to.

    A reply is found again for the same model, request, task, epoch and turn only.

    \b
    Examples:
      evalkit cache info
      evalkit cache explain latest
      evalkit cache clear
    """


@command.command()
@json_option
def info(as_json: bool) -> None:
    """Say where the cache is and how much it holds.

    \b
    Examples:
      evalkit cache info --json
    """
    found = _cache().info()
    if as_json:
        emit_json({"folder": str(found.folder), "entries": found.entries, "bytes": found.size})
    else:
        emit(f"{_replies(found.entries)}, {found.size / 2**20:.1f} MiB in {found.folder}")


@command.command()
@json_option
def clear(as_json: bool) -> None:
    """Delete every reply in the cache.

    \b
    Examples:
      evalkit cache clear
    """
    count = _cache().clear()
    if as_json:
        emit_json({"deleted": count})
    else:
        emit(f"{_replies(count)} deleted")


@command.command(short_help="Say why calls of a run found no reply in the cache.")
@click.argument("run", default="latest", metavar="[RUN")
@click.argument("key", required=False, metavar="[KEY]]")
@json_option
def explain(run: str, key: str | None, as_json: bool) -> None:
    """Say of each call of a RUN (default: the latest) whether the cache had its reply.

    For one that missed: in what it differs from the reply most like it among those kept before the run.
    KEY narrows this to episodes, as in `evalkit show`.

    \b
    Examples:
      evalkit cache explain latest
      evalkit cache explain latest T1B_Basic_08m --json
    """
    from evalkit.store.reader import RunReader, find_run

    reader = RunReader(find_run(run, Path("runs")))
    rows = list(_rows(reader, key, _cache()))
    if as_json:
        emit_json({"run": reader.name, "calls": rows})
    elif not rows:
        emit(f"{reader.name} made no calls of models")
    else:
        emit_table([_shortened(row) for row in rows], ["episode", "turn", "cache", "why"])


def _replies(count: int) -> str:
    return f"{count} {'reply' if count == 1 else 'replies'}"


def _cache() -> ResponseCache:
    from evalkit.models import ResponseCache, cache_folder

    return ResponseCache(cache_folder())


def _rows(reader: RunReader, key: str | None, cache: ResponseCache) -> Iterator[dict[str, Any]]:
    """Each call of the episodes in question."""
    from evalkit.report.episode import find_episode

    played = list(reader.index())
    chosen = played if key is None else find_episode(key, played)
    if key is not None and not chosen:
        raise UnknownNameError("episode", key, [known.task for known in played])
    for episode in chosen:
        request: Event | None = None
        for event in reader.episode(episode).events:
            if event["kind"] == "model_request":
                request = event
            elif event["kind"] == "model_response" and request is not None:
                why = _why(reader, request, event, cache)
                yield {"episode": episode.text(), "turn": event["turn"], "cache": event["cache"], "why": why}


def _why(reader: RunReader, request: Event, response: Event, cache: ResponseCache) -> list[str]:
    """Why the call missed; nothing for a hit, or where the cache was off."""
    if response["cache"] != "miss":
        return []
    before = datetime.datetime.fromisoformat(reader.manifest["created"]).timestamp()
    return cache.explain(json.loads(reader.blob(request["request"])), before)


def _shortened(row: dict[str, Any]) -> dict[str, Any]:
    why = row["why"]
    more = [f"and {len(why) - _SHOWN} more differences"] if len(why) > _SHOWN else []
    return {**row, "why": "; ".join([*why[:_SHOWN], *more])}
