"""Designs made elsewhere: generators' GLBs through `evalkit try`, folders of designs as runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalkit import Candidate, EvalkitError, Task, UsageError
from evalkit_lmbuild.agents.designs import DesignsAgent
from evalkit_lmbuild.candidates import candidate_design
from evalkit_lmbuild.design import Design, Joint, Mesh, Part
from evalkit_lmbuild.executor_geometry import GeometryExecutor
from evalkit_lmbuild.executor_operability import OperabilityExecutor
from evalkit_lmbuild.file_environment import FileEnvironment
from evalkit_lmbuild.formats import CompletionError, write_design, write_glb
from evalkit_lmbuild.handing_in import generated, named_completion
from evalkit_lmbuild.settings import BuildSettings, check_suite
from evalkit_lmbuild.tasks import OBJECTS, facts_of, load_tasks
from evalkit_lmbuild.trial import open_design
from evalkit_lmbuild.validator import DesignValidator

BOX = "keepsake_box"
LACKING = ("A.3", "R.1", "R.2", "R.3")


def settings(**changes: Any) -> dict[str, Any]:
    return BuildSettings(**changes).model_dump(mode="json")


def task(name: str = BOX) -> Task:
    return next(iter(load_tasks({"names": [name]}, {"brief": "name_only"})))


def reference(name: str = BOX) -> Design:
    found = facts_of(task(name)).reference
    assert found is not None
    return found


def as_generator(design: Design, path: Path, quarters: int = 1, scale: float = 40.0) -> Path:
    """The design as a generator would leave it: glTF axes, turned, in its own units, off the origin."""
    meshes = {}
    for part in design.parts:
        x, y, z = part.world.vertices.T
        for _ in range(quarters):
            x, y = -y, x
        meshes[f"node {part.id}"] = Mesh(scale * np.column_stack([x, z, -y]) + 7.0, part.mesh.faces)
    write_glb(meshes, path)
    return path


def hinged(design: Design) -> list[Joint]:
    """A completion that hinges the lid where the reference does, in the design's own units."""
    lid = next(part for part in design.parts if part.id.endswith("lid"))
    case = next(part for part in design.parts if part.id != lid.id)
    return [Joint("hinge", "revolute", case.id, lid.id, (0.0, 1.0, 0.0), lid.position, (0.0, 1.5))]


def nothing(design: Design) -> list[Joint]:
    """A completion that finds nothing that moves."""
    return []


def failing(design: Design) -> list[Joint]:
    raise RuntimeError("no GPU")


def adrift(design: Design) -> list[Joint]:
    """A joint of a part that isn't there."""
    part = design.parts[0].id
    return [Joint("hinge", "revolute", part, "nowhere", (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), (0.0, 1.5))]


def vague(design: Design) -> list[Joint]:
    """A joint whose axis is no number."""
    one, other = (part.id for part in design.parts[:2])
    return [Joint("hinge", "revolute", one, other, (np.nan, 1.0, 0.0), (0.0, 0.0, 0.0), (0.0, 1.5))]


@pytest.fixture
def completions(monkeypatch: pytest.MonkeyPatch) -> str:
    """The module whose functions complete joints: this one."""
    name = "lmbuild_completions_for_test"
    monkeypatch.setitem(sys.modules, name, sys.modules[__name__])
    return name


def scores(candidate: Candidate, name: str = BOX) -> dict[str, float | None]:
    """The computed metrics by the executors of the suites."""
    chosen = task(name)
    assert DesignValidator({}).validate(chosen, candidate) == []
    found = GeometryExecutor({}).execute(chosen, candidate, pictures=False).data
    result = {metric: entry["score"] for metric, entry in found.items()}
    operable = OperabilityExecutor(settings()).execute(chosen, candidate, pictures=False)
    return result | {"R.3": operable.data["score"]}


def evalkit(folder: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
        timeout=240,
    )
    assert done.returncode == code, done.stderr
    return done


def test_a_generators_glb_is_tried(tmp_path: Path) -> None:
    as_generator(reference(), tmp_path / "box.glb")
    words = ("try", "lmbuild.core", "--id", BOX, "box.glb", "--json")
    found = json.loads(evalkit(tmp_path, *words).stdout)
    assert (found["valid"], found["violations"]) == (True, [])
    cells = {id.removeprefix("lmbuild."): entry for id, entry in found["metrics"].items()}
    for metric in LACKING:
        assert (cells[metric]["score"], cells[metric]["status"]) == (None, "not_applicable")
        assert "generator" in cells[metric]["evidence"]["why"]
    assert {metric for metric, cell in cells.items() if cell["score"] is not None} >= {"S.1", "S.2", "S.3"}
    assert cells["A.1"]["score"] > 0.95
    assert cells["A.2"]["score"] is not None
    told = evalkit(tmp_path, *words[:-1]).stdout
    assert "not applicable: the generator makes no joints" in told
    assert told.splitlines()[-1] == "scored"  # no executor says whether it works


def test_what_it_lacks_is_nothing_that_an_agent_can_do_without(tmp_path: Path) -> None:
    """The same geometry with sources of an agent's own gets 0 where the generator's gets nothing."""
    plain = reference()
    made = scores(open_design(as_generator(plain, tmp_path / "box.glb"), settings()))
    bare = Design(tuple(type(p)(p.id, p.mesh, p.position, p.rotation, source="created") for p in plain.parts))
    agents = scores(open_design(write_design(bare, tmp_path / "agent"), settings()))
    assert [made[metric] for metric in LACKING] == [None] * 4
    assert [agents[metric] for metric in LACKING] == [0.0] * 4
    assert made["S.1"] == pytest.approx(agents["S.1"], abs=0.02)
    assert made["A.1"] == pytest.approx(agents["A.1"], abs=0.02)


def test_joints_can_be_completed(tmp_path: Path, completions: str) -> None:
    path = as_generator(reference(), tmp_path / "box.glb", quarters=2, scale=3.0)
    candidate = open_design(path, settings(complete_joints=f"{completions}:hinged"))
    assert candidate.data["generated"]["joint_completion"] == f"{completions}:hinged"
    assert len(candidate.data["generated"]["joints"]) == 1
    design = candidate_design(task(), candidate)
    assert design.meta["joint_completion"] == f"{completions}:hinged"
    assert design.meta["imported_from"] == "box.glb"
    (joint,) = design.joints
    lid = design.by_id[joint.child]
    assert np.allclose(joint.origin, lid.position, atol=1e-6)
    found = scores(candidate)
    assert found["A.3"] is not None
    assert [found[metric] for metric in ("R.1", "R.2", "R.3")] == [None] * 3
    none = open_design(path, settings(complete_joints=f"{completions}:nothing"))
    assert scores(none)["A.3"] == 0.0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hinged", "write it as module:function"),
        ("no_such_module_here:hinged", "can't be imported"),
        ("json:hinged", "json has no function 'hinged'"),
        ("json:__name__", "json has no function"),
    ],
)
def test_completions_that_arent_there(name: str, words: str) -> None:
    with pytest.raises(CompletionError, match=words):
        named_completion(name)
    chosen = settings(complete_joints=name)
    with pytest.raises(UsageError, match=words):
        check_suite(chosen["brief"], {}, chosen)


def test_a_completion_that_isnt_there_is_told_before_play(tmp_path: Path) -> None:
    words = ("run", "lmbuild.designs", "--agent", "designs:.", "-T", "complete_joints=no_such_module_here:f")
    done = evalkit(tmp_path, *words, code=2)
    assert "complete_joints: no_such_module_here can't be imported" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_completion_that_fails_is_one_line(tmp_path: Path, completions: str) -> None:
    path = as_generator(reference(), tmp_path / "box.glb")
    with pytest.raises(UsageError, match=r"^box\.glb: joint completion failed: RuntimeError: no GPU$"):
        open_design(path, settings(complete_joints=f"{completions}:failing"))


@pytest.mark.parametrize(
    ("name", "says"),
    [("failing", "RuntimeError: no GPU"), ("adrift", "'nowhere'"), ("vague", "three finite numbers")],
)
def test_a_completion_that_fails_is_not_the_designs_fault(
    tmp_path: Path, completions: str, name: str, says: str
) -> None:
    as_generator(reference(), tmp_path / "model.glb")
    with pytest.raises(EvalkitError, match=says):
        collected(tmp_path, complete_joints=f"{completions}:{name}")


@pytest.mark.parametrize("content", [b"", b"glTF", b"glTF\x02\0\0\0\xff\xff\xff\xff", b"{" * 1000])
def test_files_that_are_no_glb_are_told_and_score_nothing(content: bytes) -> None:
    candidate = generated(content, "bad.glb")
    (violation,) = DesignValidator({}).validate(task(), candidate)
    assert violation.code == "unloadable"
    assert "\n" not in violation.message
    found = GeometryExecutor({}).execute(task(), candidate, pictures=False).data
    assert {entry["score"] for entry in found.values()} == {0.0}


def test_a_glb_of_one_point_and_a_vast_one(tmp_path: Path) -> None:
    faces = np.array([[0, 1, 2]], dtype=np.int32)
    write_glb({"dot": Mesh(np.ones((3, 3)), faces)}, tmp_path / "dot.glb")
    (violation,) = DesignValidator({}).validate(task(), open_design(tmp_path / "dot.glb", settings()))
    assert "one point" in violation.message
    meshes = {"flat": Mesh(np.array([[0.0, 0, 0], [1e30, 0, 0], [0, 1e30, 0]]), faces)}
    write_glb(meshes, tmp_path / "vast.glb")
    (violation,) = DesignValidator({}).validate(task(), open_design(tmp_path / "vast.glb", settings()))
    assert "beyond" in violation.message


def test_a_design_json_cant_pass_for_a_generators_file(tmp_path: Path) -> None:
    path = tmp_path / "design.json"
    path.write_text(json.dumps({"generated": {"file": "x", "joints": [], "joint_completion": None}}))
    with pytest.raises(UsageError, match="no field 'generated'"):
        open_design(path, settings())


def collected(folder: Path, **changes: Any) -> Any:
    return FileEnvironment(settings(**changes)).collect(folder)


def test_files_that_are_handed_in(tmp_path: Path) -> None:
    missing = collected(tmp_path)
    assert [v.code for v in missing.violations] == ["missing"]
    as_generator(reference(), tmp_path / "model.glb")
    assert "generated" in collected(tmp_path).candidate.data
    write_design(reference(), tmp_path)
    assert "parts" in collected(tmp_path).candidate.data
    (tmp_path / "design.json").write_text("{")
    assert [v.code for v in collected(tmp_path).violations] == ["unreadable"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    as_generator(reference(), tmp_path / "secret.glb")
    designs = tmp_path / "designs"
    (designs / BOX).mkdir(parents=True)
    (designs / BOX / "model.glb").symlink_to(tmp_path / "secret.glb")
    (designs / f"{BOX}.glb").symlink_to(tmp_path / "secret.glb")
    agent = DesignsAgent(str(designs), {})
    agent.use_task(BOX)
    assert agent.work(tmp_path, None, None, None).files == {}  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="needs a folder"):
        DesignsAgent(str(tmp_path / "nowhere"), {})


def test_a_folder_of_designs_is_a_run(tmp_path: Path) -> None:
    """A whole design, a bare GLB, and a task that is missing."""
    write_design(reference(), tmp_path / "system" / BOX)
    as_generator(reference("milking_stool"), tmp_path / "system" / "milking_stool.glb", quarters=3, scale=0.1)
    names = (BOX, "milking_stool", "easel")
    words = ("run", "lmbuild.designs", "-T", f"tasks.names=[{', '.join(names)}]", "--agent", "designs:system")
    evalkit(tmp_path, *words, "-j", "1")
    evalkit(tmp_path, "verify", "latest")
    (run,) = (tmp_path / "runs").iterdir()
    found: dict[str, dict[str, Any]] = {}
    for log in (run / "episodes").iterdir():
        events = [json.loads(line) for line in log.read_text().splitlines()]
        found[events[0]["key"]["task"]] = {"events": events, "end": events[-1]["reason"]}
    assert {name: entry["end"] for name, entry in found.items()} == dict.fromkeys(names, "done")
    codes = [
        violation["code"]
        for event in found["easel"]["events"]
        if event["kind"] == "violation"
        for violation in event["violations"]
    ]
    assert codes == ["missing"]
    shown = evalkit(tmp_path, "report", "latest", "--format", "json").stdout
    assert "designs:system" in shown


def test_a_document_that_calls_its_programs_generated_is_no_generators(tmp_path: Path) -> None:
    """Only bare geometry from a file escapes zeros, whatever sources say."""
    document = json.loads((OBJECTS / f"{BOX}.json").read_text())["reference"]
    document |= {"joints": [], "sequence": []}
    for part in document["parts"]:
        part["source"]["kind"] = "generated"
        part["material"] = None
    path = tmp_path / "design.json"
    path.write_text(json.dumps(document))
    found = scores(open_design(path, settings()))
    assert [found[metric] for metric in ("A.3", "R.1", "R.2")] == [0.0] * 3


@pytest.mark.parametrize(("given", "expected"), [({}, None), ({"material": "plywood"}, 0.0)])
def test_a_design_json_of_bare_meshes_is_a_generators(
    tmp_path: Path, given: dict[str, str], expected: float | None
) -> None:
    bare = tuple(Part(p.id, p.mesh, p.position, p.rotation, source="generated") for p in reference().parts)
    parts = (replace(bare[0], **given), *bare[1:])
    found = scores(open_design(write_design(Design(parts), tmp_path), settings()))
    assert [found[metric] for metric in ("A.3", "R.1")] == [expected] * 2
