"""Episodes for metrics and views: written by hand, or played with the real rules and physics."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from evalkit import Episode, EpisodeKey, Observation, Reply, StepContext, Stop, Task, ToolCall, sha256_of
from evalkit.episode import LoopExecutor, Rules, play
from evalkit_polybridge.constants import ROAD, STEEL
from evalkit_polybridge.contract import format_reply
from evalkit_polybridge.designs import bridge_to_json
from evalkit_polybridge.environment import BridgeEnvironment
from evalkit_polybridge.executor_embedded import ID, VERSION, EmbeddedExecutor
from evalkit_polybridge.graph import Bridge, Edge, Level, Node
from evalkit_polybridge.settings import BridgeSettings
from evalkit_polybridge.validator import RulesValidator

PROTOCOL = BridgeSettings().model_dump()


class Written:
    """An episode as its record would hold it, one call after the other."""

    def __init__(self, agent: str, task: str, condition: str) -> None:
        self.key = EpisodeKey(agent, task, condition, 1)
        self.events: list[dict[str, Any]] = []

    def call(self, letter: str, road_m: int, codes: tuple[str, ...] | None = None) -> None:
        """V: against a rule; P: unreadable; U: an unknown tool; F, S: run, its road `road_m` metres long."""
        self._add("action", tool="propose", arguments={"text": letter})
        if letter == "U":
            self._add(
                "result", ok=False, data={"ok": False, "code": "unknown_tool", "message": "no such tool"}
            )
            return
        design = {} if letter == "P" else {"candidate": {"sha256": "0" * 64, "data": _road(road_m)}}
        self._add("result", ok=True, **design)
        if letter in "VP":
            found = codes or {"V": ("EDGE_TOO_LONG",), "P": ("PARSE_ERROR",)}[letter]
            listed = [{"code": code, "message": "no good"} for code in found]
            self._add("violation", valid=False, violations=listed)
        else:
            self._add("execution", executor=ID, success=letter == "S", data={"cost": -1.0})
        self._add("observation")

    def advise(self) -> None:
        """Put advice, which makes nothing illegal, before the last call's execution."""
        advice = {"code": "UNKNOWN_FIELD", "message": "ignored", "advisory": True}
        self.events.insert(-2, {"kind": "violation", "valid": True, "violations": [advice]})

    def episode(self) -> Episode:
        """The finished episode."""
        self._add("episode_end", reason="done", counters={})
        return Episode(self.key, list(self.events), self.events[-1], lambda value: value)

    def _add(self, kind: str, **fields: Any) -> None:
        self.events.append({"kind": kind, **fields})


def _road(metres: int) -> dict[str, Any]:
    """A road of that many members, each 1 m and $200."""
    nodes = tuple(Node(i + 1, float(i), 0.0) for i in range(metres + 1))
    return bridge_to_json(Bridge(nodes, tuple(Edge(100 + i, 1, i, i + 1) for i in range(1, metres + 1))))


@pytest.fixture(scope="session")
def written() -> type[Written]:
    """The class `Written`."""
    return Written


@pytest.fixture(scope="session")
def episode_of() -> Callable[..., Episode]:
    """`episode_of("VFS")`: an episode with these calls; see `Written.call`."""

    def make(
        letters: str, *, road_m: int = 5, agent: str = "a", task: str = "t", condition: str = "strict"
    ) -> Episode:
        episode = Written(agent, task, condition)
        for letter in letters:
            episode.call(letter, road_m)
        return episode.episode()

    return make


@pytest.fixture(scope="session")
def task_of() -> Callable[..., Task]:
    """A task with nothing but what metrics and tables read of it."""

    def make(name: str = "t", *, budget: float = 10_000.0, **hidden: Any) -> Task:
        known = {"family": "T1B", "group": "T1", "suite": "core", "tags": [], "budget_name": "strict"}
        return Task(name, {}, known | {"strict_budget": budget} | hidden)

    return make


class Recorder:
    """A sink that keeps what a record would hold, as JSON."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.blobs: dict[str, bytes] = {}

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Keep an event."""
        self.events.append(json.loads(json.dumps({"kind": kind, **fields}, allow_nan=False)))

    def blob(self, data: bytes) -> str:
        """Keep bytes."""
        name = sha256_of(data.hex())
        self.blobs[name] = data
        return name

    def flush(self) -> None:
        """Nothing waits."""

    def load(self, value: Any) -> Any:
        """The value behind a reference."""
        is_reference = isinstance(value, dict) and value.keys() == {"blob", "size", "media_type"}
        return json.loads(self.blobs[value["blob"]]) if is_reference else value


class Reciter:
    """An agent that sends given texts and stops."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = iter(texts)

    def start(self, tools: Any, seed: int) -> None:
        """Nothing to prepare."""

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """The next text."""
        text = next(self.texts, None)
        return Stop("no more") if text is None else Reply((ToolCall("propose", {"text": text}),))


@pytest.fixture(scope="session")
def played() -> Callable[..., Episode]:
    """`played(task, texts)`: the episode of an agent that sends these texts."""

    def make(task: Task, texts: list[str], *, pictures: bool = False) -> Episode:
        executor = EmbeddedExecutor(PROTOCOL)
        loop = LoopExecutor(ID, VERSION, sha256_of(dict(executor.constants())), executor)
        limits = {"calls": 3, "tool_calls": 3, "executions": 3}
        rules = Rules(limits, [RulesValidator(PROTOCOL)], [loop], pictures)
        recorder, key = Recorder(), EpisodeKey("reciter", task.id, "loose", 1)
        play(key, task, 1, BridgeEnvironment(PROTOCOL), Reciter(texts), rules, recorder)
        return Episode(key, recorder.events, recorder.events[-1], recorder.load)

    return make


def flat_deck(level: Level) -> Bridge:
    """Road members of at most 1.5 m from bank to bank and nothing else: falls from 6 m on."""
    panels = int(-(-level.span_m // 1.5))
    xs = [round(level.span_m * i / panels, 4) for i in range(1, panels)]
    ids = itertools.count(max(anchor.id for anchor in level.anchors) + 1)
    middle = [Node(next(ids), x, 0.0) for x in xs]
    road = [1, *(node.id for node in middle), 2]
    edges = tuple(Edge(next(ids), ROAD.type, a, b) for a, b in itertools.pairwise(road))
    return Bridge((*level.anchors, *middle), edges)


def steel_truss(level: Level) -> Bridge:
    """The flat deck on a steel Warren truss, 1 m deep: carries a load of 3 PG over 12 m with ease."""
    deck = flat_deck(level)
    nodes = deck.node_by_id()
    ids = itertools.count(max(edge.id for edge in deck.edges) + 1)
    lower = [Node(next(ids), round((nodes[e.a].x + nodes[e.b].x) / 2, 4), -1.0) for e in deck.edges]
    pairs = list(itertools.pairwise(node.id for node in lower))
    for edge, node in zip(deck.edges, lower, strict=True):
        pairs += [(edge.a, node.id), (node.id, edge.b)]
    steel = tuple(Edge(next(ids), STEEL.type, a, b) for a, b in pairs)
    return Bridge((*deck.nodes, *lower), (*deck.edges, *steel))


@pytest.fixture(scope="session")
def reply_of() -> Callable[[str, Level], str]:
    """`reply_of("S", level)`: a design that is illegal (V), falls (F) or stands (S), or no JSON (P)."""

    def make(letter: str, level: Level) -> str:
        if letter == "P":
            return "Here is my bridge: none."
        too_long = Bridge(level.anchors, (Edge(90, ROAD.type, 1, 2),))
        designs = {"V": lambda: too_long, "F": lambda: flat_deck(level), "S": lambda: steel_truss(level)}
        return format_reply(designs[letter](), "a thought")

    return make
