"""Whatever a model answers: parse, validate, execute; no exception, bounded work, the same bits twice."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.canonical import canonical_json
from evalkit.types import StepContext, Task, ToolCall, Verdict
from evalkit_polybridge.environment import BridgeEnvironment
from evalkit_polybridge.executor_embedded import EmbeddedExecutor
from evalkit_polybridge.settings import BridgeSettings
from evalkit_polybridge.tasks import load_tasks
from evalkit_polybridge.validator import RulesValidator

#: CPU seconds that one reply may take, execution included; a legal design of 2,000 parts takes about one.
MAX_CPU_S = 15.0
LEVELS = ("T1B_Basic_08m", "T2D_Platform_4-4-4", "T4C_Multi_12m_2x3PG", "G1_Clearance_Multi2_14m_R2m")


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return list(load_tasks({"budget": "loose", "names": list(LEVELS)}, {}))


def answered(task: Task, text: str, parser: str) -> bytes:
    """Everything that the benchmark makes of a reply, as bytes."""
    settings = BridgeSettings(parser=parser).model_dump()
    environment = BridgeEnvironment(settings)
    environment.reset(task, 0)
    step = environment.step(ToolCall("propose", {"text": text}), StepContext({}, {}))
    violations, execution = list(step.violations), None
    if step.candidate is not None:
        violations += RulesValidator(settings).validate(task, step.candidate)
        if Verdict(tuple(violations)).valid:
            execution = EmbeddedExecutor(settings).execute(task, step.candidate, pictures=False)
    observation = environment.feedback(Verdict(tuple(violations)), execution)
    for violation in violations:
        assert "\n" not in violation.message
        assert len(violation.message) < 2000
        violation.message.encode()
    evidence = dict(execution.data) if execution is not None else {}
    listed = [[v.code, v.message, list(v.ids), v.value, v.limit] for v in violations]
    return canonical_json([listed, evidence, environment.state(), dict(observation.data)])


def check(task: Task, text: str, parser: str = "strict") -> None:
    started = time.process_time()
    first = answered(task, text, parser)
    assert time.process_time() - started < MAX_CPU_S
    assert answered(task, text, parser) == first


FRAGMENTS = (
    "{", "}", "[", "]", '"', "\\", ",", ":", "null", "NaN", "-", "1e999", "```json\n", "\n```", "//", "True",
    "\ufeff", "\ud800", "\0", "\u202e", '"action":"modify"', '"thought_process":""', '"nodes":[', '"edges":[',
    "9" * 200,
)  # fmt: skip


@given(data=st.data(), parser=st.sampled_from(("strict", "fenced")))
def test_any_text(tasks: list[Task], data: st.DataObject, parser: str) -> None:
    pieces = st.sampled_from(FRAGMENTS) | st.text(max_size=5)
    repeated = st.tuples(pieces, st.sampled_from((1, 1, 1, 2, 30, 3000))).map(lambda p: p[0] * p[1])
    text = data.draw(st.lists(repeated, max_size=12).map("".join))
    check(tasks[0], text, parser)


@given(data=st.data())
def test_any_json(tasks: list[Task], hostile_values: st.SearchStrategy[Any], data: st.DataObject) -> None:
    document = {"action": "modify", "thought_process": "", "nodes": [], "edges": []}
    document |= data.draw(st.dictionaries(st.sampled_from((*document, "extra")), hostile_values, max_size=3))
    check(tasks[0], json.dumps(document, ensure_ascii=data.draw(st.booleans())))


@given(data=st.data())
def test_almost_designs(
    tasks: list[Task], hostile_numbers: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    """Replies of the right form whose numbers, ids and references are anything."""
    task = data.draw(st.sampled_from(tasks))
    odd = st.one_of(hostile_numbers, st.integers(1, 12), st.integers(1, 12), st.integers(1, 12))
    node = st.fixed_dictionaries({"id": odd, "x": odd, "y": odd}, optional={"isKinematic": st.booleans()})
    edge = st.fixed_dictionaries({"id": odd, "type": st.integers(0, 4), "anchorAID": odd, "anchorBID": odd})
    nodes = [*task.inputs["anchors"], *data.draw(st.lists(node, max_size=10))]
    document = {"action": "modify", "thought_process": "", "nodes": nodes}
    check(task, json.dumps({**document, "edges": data.draw(st.lists(edge, max_size=15))}))


@given(data=st.data())
def test_designs_that_are_legal_or_nearly(tasks: list[Task], data: st.DataObject) -> None:
    """Clusters of nodes 0.1 mm apart, members at their limits, stacks of materials, roads to nowhere."""
    task = data.draw(st.sampled_from(tasks))
    nodes = [dict(anchor) for anchor in task.inputs["anchors"]]
    first = max(node["id"] for node in nodes) + 1
    edges: list[dict[str, Any]] = []
    steps = st.sampled_from((1e-4, 2e-4, 1e-3, 0.1, 1.0, 1.9999, 2.0))
    admitted = {"Road": 1, "Wood": 2, "Steel": 3}
    types = [admitted[name] for name in task.inputs["context"]["task_context"]["available_materials"]]
    for _ in range(data.draw(st.integers(0, data.draw(st.sampled_from((5, 40, 400)))))):
        base = data.draw(st.sampled_from(nodes[-4:]))
        step, angle = data.draw(steps), data.draw(st.floats(0.0, 6.28))
        x, y = round(base["x"] + step * math.cos(angle), 4), round(base["y"] + step * math.sin(angle), 4)
        nodes.append({"id": first + len(nodes), "x": x, "y": y, "isKinematic": False})
        others = data.draw(st.lists(st.sampled_from(nodes[-6:-1]), max_size=2))
        for other in (base, *others):
            kind = data.draw(st.sampled_from(types))
            edges.append({"type": kind, "anchorAID": nodes[-1]["id"], "anchorBID": other["id"], "rate": 0})
    pairs = {(e["type"], *sorted((e["anchorAID"], e["anchorBID"]))): e for e in edges}
    numbered = [{"id": 10_000 + i, **edge} for i, edge in enumerate(pairs.values())]
    document = {"action": "modify", "thought_process": "", "nodes": nodes, "edges": numbered}
    check(task, json.dumps(document))
