"""Operability as an executor: what is recorded, for which engine and protocol; how often engines agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from evalkit import Candidate, Episode, EpisodeKey, Task, UsageError
from evalkit_lmbuild import engines, executor_operability, specs
from evalkit_lmbuild.cli import command
from evalkit_lmbuild.metrics import Operability as OperabilityMetric
from evalkit_lmbuild.objects import checked_document
from evalkit_lmbuild.operability import constants
from evalkit_lmbuild.operability.predicates import GRIP_M
from evalkit_lmbuild.settings import BuildSettings
from evalkit_lmbuild.simulation import motions
from evalkit_lmbuild.tasks import task_of

SHA = "c" * 64


def bar(
    name: str, size: list[float], position: list[float], role: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A box as a part of a design, and its program."""
    part = {"id": name, "role": role, "source": {"kind": "created", "id": name, "position": position}}
    return part, {"nodes": [{"id": "b", "op": "box", "size": size}], "output": "b"}


def chest(limits: tuple[float, float] = (0.0, 1.5)) -> dict[str, Any]:
    """A chest with a hinged lid, as a design.json."""
    made = [
        bar("trunk", [0.3, 0.3, 0.2], [0, 0, 0.1], "trunk"),
        bar("lid", [0.3, 0.3, 0.02], [0, 0, 0.21], "lid"),
    ]
    hinge = {"id": "hinge", "type": "revolute", "parent": "trunk", "child": "lid", "axis": [1, 0, 0]}
    return {
        "parts": [part for part, _ in made],
        "programs": {part["id"]: program for part, program in made},
        "joints": [hinge | {"origin": [0, -0.15, 0.2], "limits": list(limits)}],
        "sequence": [],
    }


@pytest.fixture(scope="module")
def task() -> Task:
    """A chest with a lid that has to open, and a lock that the reference lacks."""
    document = {
        "task_id": "chest",
        "object": {"name": "chest"},
        "conditions": [{"condition_id": "name_only", "text": "Build a chest."}],
        "required_parts": [{"id": "P1", "part": "lock", "why": "shuts it"}],
        "functional_subsystems": [
            {
                "id": "F1",
                "subsystem": "closure",
                "function": "closes",
                "parts": ["trunk", "lid"],
                "connections": [{"from": "trunk", "to": "lid", "carries": "motion"}],
            }
        ],
        "required_kinematics": [
            {
                "id": "K1",
                "moving_part": "lid",
                "relative_to": "trunk",
                "joint_type": "revolute",
                "motion": "opens",
            }
        ],
        "human_checks": [{"id": "H1", "predicates": [{"pred": "part_present", "role": "lid"}]}],
        "reference": chest(),
    }
    return task_of(checked_document(document), "name_only", Path())


def executor(kind: type = executor_operability.OperabilityExecutor, **settings: object) -> Any:
    return kind(BuildSettings(**settings).model_dump())  # type: ignore[arg-type]


def test_capabilities_of_both_protocols_are_recorded(task: Task) -> None:
    execution = executor().execute(task, Candidate(chest()), pictures=False)
    data = execution.data
    assert (execution.success, execution.executor) == (None, "lmbuild.operability")
    assert data["score"] == pytest.approx(0.75)
    assert {each["id"]: round(each["score"], 2) for each in data["evidence"]["capabilities"]} == {
        "F1": 1.0,
        "K1": 1.0,
        "H1": 1.0,
        "P": 0.0,
    }
    assert (data["engine"], data["protocol"]) == ("mujoco", "inset")
    for protocol in ("inset", "strict"):
        assert data[protocol]["score"] == pytest.approx(0.75, abs=0.01)
        assert data[protocol]["capabilities"]["P"] == {"kind": "P", "score": 0.0, "why": "there is no lock"}
        assert data[protocol]["simulation"]["protocol"] == protocol
    json.dumps(data, allow_nan=False)


def test_the_setting_says_which_protocol_scores(task: Task) -> None:
    data = executor(simulation="strict").execute(task, Candidate(chest()), pictures=False).data
    assert data["protocol"] == "strict"
    assert data["evidence"]["simulation"]["protocol"] == "strict"
    assert data["score"] == data["strict"]["score"]
    assert executor(simulation="strict").constants()["scored"] == "strict"


def test_what_is_no_design_scores_nothing_and_says_why(task: Task) -> None:
    data = executor().execute(task, Candidate({"parts": "none"}), pictures=False).data
    assert data["score"] == data["inset"]["score"] == data["strict"]["score"] == 0.0
    assert data["reason"]
    assert "\n" not in data["reason"]


def test_constants_name_what_scores_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    found = executor().constants()
    assert found["operability.predicates"]["GRIP_M"] == list(GRIP_M)
    assert found["simulation.model"]["GRAVITY"] == 9.81
    assert "GRAVITY" not in found["simulation.motions"], "a constant stands with the module it is from"
    assert found["versions"]["mujoco"]
    json.dumps(found, allow_nan=False)
    monkeypatch.setattr(motions, "RAMP_STEPS", 3)
    assert executor().constants()["simulation.motions"]["RAMP_STEPS"] == 3


def test_every_module_that_can_change_a_score_is_listed() -> None:
    package = Path(executor_operability.__file__).parent
    for folder in ("operability", "simulation"):
        listed = {name.partition(".")[2] for name in constants.MODULES if name.startswith(folder)}
        listed |= {name.partition(".")[2] for names in constants.ENGINE_MODULES.values() for name in names}
        for path in (package / folder).glob("*.py"):
            source = path.read_text("utf-8").splitlines()
            named = [line for line in source if line.split(" ")[0].rstrip(":").isupper() and " = " in line]
            named = [line for line in named if not line.startswith("_")]
            ours = path.stem in ("constants", "whole", "capability", "_columns")
            assert not named or path.stem in listed or ours, f"{folder}/{path.name}: {named}"


def test_without_pybullet_the_second_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(engine: str) -> dict[str, object]:
        raise ImportError("no module named pybullet", name="pybullet")

    monkeypatch.setattr(constants, "as_dict", missing)
    with pytest.raises(UsageError, match="pip install"):
        executor(executor_operability.PyBulletOperabilityExecutor).constants()


def test_the_metric_reads_what_the_executor_recorded(task: Task) -> None:
    data = executor().execute(task, Candidate(chest()), pictures=False).data
    played = episode({specs.OPERABILITY.id: data})
    score = OperabilityMetric({}).measure(played, task)
    assert score.value == pytest.approx(0.75)
    assert score.evidence["capabilities"]


# --- engines -----------------------------------------------------------------------------------------


def episode(found: dict[str, dict[str, Any]]) -> Episode:
    """An episode whose final design was put to these executors."""
    key = EpisodeKey(agent="a", task="chest", condition="c", epoch=1)
    events = [{"kind": "result", "candidate": {"sha256": SHA, "data": {}, "files": {}}}]
    gathered = {("chest", SHA, name): {"data": data} for name, data in found.items()}
    return Episode(key, events, {"counters": {}}, lambda value: value, gathered)


def judged(**scores: float) -> dict[str, Any]:
    """What an executor records, the same in both protocols."""
    kinds = {"K": "M", "F": "F"}
    capabilities = {
        name: {"kind": kinds[name[0]], "score": score, "why": "" if score == 1 else f"{name} sticks"}
        for name, score in scores.items()
    }
    return {protocol: {"capabilities": capabilities} for protocol in ("inset", "strict")}


def both(one: dict[str, Any], other: dict[str, Any]) -> Episode:
    return episode({specs.OPERABILITY.id: one, specs.OPERABILITY_PYBULLET.id: other})


def test_engines_agree_on_what_works_not_on_how_far() -> None:
    task = Task("chest", {}, {})
    played = [(both(judged(F1=1.0, K1=1.0, K2=0.95, K3=0.3), judged(F1=1.0, K1=0.92, K2=0.4, K3=0.6)), task)]
    shares, differing = engines.tables(engines.pairs(played))
    rows = {(row[0], row[1]): row[2:] for row in shares.rows}
    share, *counts, apart = rows["inset", "claimed motions"]
    assert (share.numerator, share.denominator) == (2, 3)
    assert counts == [1, 1, 0, 1]
    assert apart == pytest.approx((0.08 + 0.55 + 0.3) / 3, abs=1e-3)
    assert rows["strict", "all capabilities"][0].numerator == 3
    assert [row[:5] for row in differing.rows] == [
        ("chest · a", protocol, "K2", 0.95, 0.4) for protocol in ("inset", "strict")
    ]
    assert differing.rows[0][5] == "K2 sticks"


def test_designs_that_only_one_engine_saw_are_no_pairs() -> None:
    task = Task("chest", {}, {})
    alone = episode({specs.OPERABILITY.id: judged(K1=1.0)})
    assert engines.pairs([(alone, task)]) == []
    assert engines.report_tables([(alone, task)]) == []
    with pytest.raises(UsageError, match="operability_pybullet"):
        engines.compared([(alone, task)], "runs/x")


def test_both_engines_say_the_same_of_the_chest(task: Task) -> None:
    pytest.importorskip("pybullet")
    found = {
        kind.id: executor(kind).execute(task, Candidate(chest()), pictures=False).data
        for kind in (
            executor_operability.OperabilityExecutor,
            executor_operability.PyBulletOperabilityExecutor,
        )
    }
    pairs = engines.pairs([(episode(found), task)])
    assert len(pairs) == 8
    assert all(pair.agrees for pair in pairs)
    assert max(abs(pair.mujoco - pair.pybullet) for pair in pairs) < 0.05


def test_the_command_explains_itself() -> None:
    result = CliRunner().invoke(command, ["engines", "--help"])
    assert result.exit_code == 0
    assert "MuJoCo" not in result.output.splitlines()[0]
    assert "final_executors=lmbuild.operability,lmbuild.operability_pybullet" in result.output
