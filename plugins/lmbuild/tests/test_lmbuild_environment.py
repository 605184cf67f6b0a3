"""Episodes: briefs, rounds, budgets, candidates; the validator; `evalkit try`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalkit import (
    Candidate,
    Episode,
    Reply,
    StepContext,
    StepResult,
    Stop,
    Task,
    ToolCall,
    UsageError,
    Verdict,
)
from evalkit.episode import Rules as WalkRules
from evalkit.episode import play
from evalkit.run.trial import MemorySink
from evalkit.types import EpisodeKey
from evalkit_lmbuild.candidates import candidate_design
from evalkit_lmbuild.environment import BuildEnvironment
from evalkit_lmbuild.executor_geometry import GeometryExecutor
from evalkit_lmbuild.formats import write_design
from evalkit_lmbuild.reference import ReferenceAgent, reference_calls
from evalkit_lmbuild.settings import BuildSettings, check_suite
from evalkit_lmbuild.specs import METRICS
from evalkit_lmbuild.tasks import embedded_document, facts_of, load_tasks
from evalkit_lmbuild.trial import final_pictures, free_task, open_design, pictures, report
from evalkit_lmbuild.validator import DesignValidator

NOTHING = StepContext({}, {})


def settings(**changes: Any) -> dict[str, Any]:
    return BuildSettings(**changes).model_dump(mode="json")


def task(name: str = "keepsake_box", brief: str = "name_only+image") -> Task:
    return next(iter(load_tasks({"names": [name]}, {"brief": brief})))


def begun(brief: str = "name_only+image", **changes: Any) -> BuildEnvironment:
    environment = BuildEnvironment(settings(**changes))
    environment.reset(task(brief=brief), 0)
    return environment


def make(
    environment: BuildEnvironment, name: str, ctx: StepContext = NOTHING, **arguments: Any
) -> StepResult:
    return environment.step(ToolCall(name, arguments), ctx)


@pytest.mark.parametrize("brief", ["name_only", "attributes", "functional"])
def test_briefs(brief: str) -> None:
    for image in ("", "+image"):
        environment = BuildEnvironment(settings(brief=brief + image))
        shown = environment.reset(task(brief=brief + image), 0)
        assert shown.text.startswith("Build a keepsake box")
        assert [picture.data()[:4] for picture in shown.images] == [b"\x89PNG"] * bool(image)


@pytest.mark.parametrize("tier", ["A", "B", "C"])
def test_tiers(tier: str) -> None:
    environment = begun(tier=tier)
    names = {tool.name for tool in environment.tools()}
    assert ("create_part" in names) == (tier != "A")
    assert ("view_catalog_sheet" in names) == (tier != "C")
    assert bool(make(environment, "list_parts").observation.data["parts"]) == (tier != "C")


def test_rounds_end_with_reviews() -> None:
    environment = begun(rounds=2)
    make(environment, "place_part", part_id="P001", instance_id="a", position=[0, 0, 0.005])
    first = make(environment, "submit")
    assert first.candidate is not None
    assert not first.done
    review = environment.feedback(Verdict(), None)
    assert review.data["review"]["check"]["n_parts"] == 1
    assert review.data["next_round"] == 2
    assert len(review.images) == 1
    make(environment, "place_part", part_id="P001", instance_id="b", position=[0, 0, 0.015])
    last = make(environment, "submit")
    assert last.done
    assert last.candidate is not None
    assert len(last.candidate.data["parts"]) == 2
    assert environment.feedback(Verdict(), None).data == {"ok": True, "episode_done": True}
    assert make(environment, "get_scene").observation.data["error"] == "the episode has ended"


def test_calls_are_counted_by_round() -> None:
    environment = begun(rounds=2)

    def after(calls: int, name: str = "get_scene") -> StepResult:
        return make(environment, name, StepContext({"tool_calls": 320.0 - calls}, {"tool_calls": calls}))

    assert after(160).observation.data["budget_left"]["tool_calls"] == 0
    refused = after(161)
    assert not refused.ok
    assert "only submit is served" in refused.observation.data["error"]
    assert not refused.done
    assert not after(199).done
    assert after(161, "submit").ok
    assert after(162).ok


@pytest.mark.parametrize(
    ("name", "arguments", "code", "words"),
    [
        ("chekc", {}, "unknown_tool", "there is no tool 'chekc'"),
        ("check", {"x": 1}, "arguments", "check: it takes no arguments"),
        (
            "place_part",
            {"part_id": "P001", "instance_id": "a", "position": [0, 0, float("nan")]},
            "arguments",
            "place_part: position[2] is nan; it has to be a finite number",
        ),
        (
            "create_part",
            {"name": "a", "program": 7},
            "arguments",
            "program is 7; it has to be an object or a text",
        ),
        ("remove_part", {"instance_id": "a", "colour": 1}, "arguments", "there is no argument 'colour'"),
        ("check", {}, "over_budget", "the budget of checks (0) is used up"),
    ],
)
def test_refusals_have_one_shape(name: str, arguments: dict[str, Any], code: str, words: str) -> None:
    limits = {"meter:checks": 0.0} if code == "over_budget" else {}
    (result,) = played([ToolCall(name, arguments), ToolCall("submit")], limits)[:1]
    assert result["data"].keys() == {"ok", "code", "error"}
    assert (result["data"]["ok"], result["data"]["code"]) == (False, code)
    assert words in result["data"]["error"]


def test_submit_is_served_however_far_past_the_budget() -> None:
    results = played([*[ToolCall("get_scene")] * 12, ToolCall("submit")], {"tool_calls": 2.0})
    assert [result["ok"] for result in results] == [True, True, *[False] * 10, True]
    assert results[5]["data"]["error"] == "the budget of tool calls (2) is used up; only submit is served"


def played(calls: list[ToolCall], limits: dict[str, float]) -> list[dict[str, Any]]:
    """The results of calls, a reply each, as the walk records them."""
    return list(recorded(calls, limits).of("result"))


def recorded(calls: list[ToolCall], limits: dict[str, float]) -> Episode:
    """The record of an episode of such calls, after which the agent stops."""

    class Calls:
        def start(self, tools: Any, seed: int) -> None:
            self.left = list(calls)

        def act(self, observation: Any, ctx: StepContext) -> Reply | Stop:
            return Reply((self.left.pop(0),)) if self.left else Stop("no calls left")

    sink, key = MemorySink(), EpisodeKey("calls", "milking_stool", "name_only", 1)
    play(
        key, task("milking_stool"), 0, BuildEnvironment(settings()), Calls(), WalkRules(limits, [], []), sink
    )
    return Episode(key, list(sink.events), sink.events[-1], sink.load)


def test_budgets_of_the_paper_grow_with_rounds() -> None:
    environment = begun(rounds=2, budgets="round")
    seventh = StepContext({}, {"tool_calls": 9, "meter:checks": 7})
    assert "the 6 checks" in make(environment, "check", seventh).observation.data["error"]
    make(environment, "submit")
    assert make(environment, "check", seventh).ok


def test_a_condition_has_to_be_the_brief() -> None:
    check_suite("attributes", {}, settings(brief="attributes"))
    with pytest.raises(UsageError, match="-T brief=attributes"):
        check_suite("attributes", {}, settings())


def test_rounds_need_their_calls() -> None:
    chosen = settings(rounds=3)
    check_suite(chosen["brief"], {}, chosen, {"tool_calls": 480.0})
    check_suite(chosen["brief"], {}, settings(), {"tool_calls": 90.0})
    with pytest.raises(UsageError, match=r"480 tool calls .* 160; add -T limits\.tool_calls=480"):
        check_suite(chosen["brief"], {}, chosen, {"tool_calls": 160.0})


@pytest.mark.parametrize("tier", ["A", "B", "C"])
@pytest.mark.parametrize("name", ["milking_stool", "keepsake_box"])
def test_references_can_be_built(tier: str, name: str) -> None:
    chosen = task(name)
    environment = BuildEnvironment(settings(tier=tier))
    observation = environment.reset(chosen, 0)
    agent = ReferenceAgent("", settings(tier=tier))
    agent.use_task(name)
    agent.start(environment.tools(), 0)
    candidate = None
    while not observation.done:
        reply = agent.act(observation, NOTHING)
        (one,) = reply.calls  # type: ignore[union-attr]
        result = environment.step(one, NOTHING)
        assert result.ok, result.observation.data
        candidate = result.candidate or candidate
        observation = result.observation
        observation.done = observation.done or result.done
    assert candidate is not None
    assert DesignValidator(settings()).validate(chosen, candidate) == []
    built, wanted = candidate_design(chosen, candidate), facts_of(chosen).reference
    assert wanted is not None
    assert [p.mesh.key for p in built.parts] == [p.mesh.key for p in wanted.parts]
    assert [(p.position, p.rotation, p.role) for p in built.parts] == [
        (p.position, p.rotation, p.role) for p in wanted.parts
    ]
    assert [(j.type, j.axis, j.origin, j.limits) for j in built.joints] == [
        (j.type, j.axis, j.origin, j.limits) for j in wanted.joints
    ]
    assert len(built.sequence) == len(wanted.sequence)


def test_reference_calls_leave_out_what_a_tier_lacks() -> None:
    document = embedded_document("keepsake_box")
    assert document is not None
    own = json.loads(json.dumps(document))
    knob = own["reference"]["parts"][-1]["source"]["id"]
    own["reference"]["programs"] = {knob: {"nodes": [], "output": "unlike any"}}
    names = [call.name for call in reference_calls(own, "A")]
    assert names.count("place_part") == len(own["reference"]["parts"]) - 1
    assert names.count("add_joint") == len(own["reference"]["joints"]) - 1


def _candidate() -> tuple[Task, dict[str, Any]]:
    environment = begun()
    make(environment, "place_part", part_id="P001", instance_id="a", position=[0, 0, 0.005])
    submitted = make(environment, "submit").candidate
    assert submitted is not None
    return task(), json.loads(json.dumps(dict(submitted.data)))


def test_the_validator_tells_all_faults() -> None:
    chosen, data = _candidate()
    validator = DesignValidator(settings())
    assert validator.validate(chosen, Candidate(data)) == []
    data["parts"][0]["material"] = "stel"
    data["sequence"] = [{"part": "zz"}]
    found = validator.validate(chosen, Candidate(data))
    assert [violation.code for violation in found] == ["unknown_material", "unknown_part"]
    empty = BuildEnvironment(settings())
    empty.reset(chosen, 0)
    submitted = make(empty, "submit").candidate
    assert submitted is not None
    assert [v.code for v in validator.validate(chosen, submitted)] == ["empty"]


def test_the_validator_compiles_programs_and_reads_meshes() -> None:
    chosen, data = _candidate()
    validator = DesignValidator(settings())
    data["programs"]["P001"] = {"nodes": [], "output": "a"}
    assert [v.code for v in validator.validate(chosen, Candidate(data))] == ["unloadable"]
    from evalkit import Artifact

    broken = Candidate(data, (Artifact("design.glb", b"glTF"),))
    assert [v.code for v in validator.validate(chosen, broken)] == ["unloadable"]


def test_designs_from_files(tmp_path: Path) -> None:
    chosen = task()
    reference = facts_of(chosen).reference
    assert reference is not None
    path = write_design(reference, tmp_path)
    candidate = open_design(path, settings())
    assert [file.name for file in candidate.files] == ["design.glb"]
    assert DesignValidator(settings()).validate(chosen, candidate) == []
    told = report(chosen, candidate, Verdict(), (), settings())
    assert told["n_parts"] == 7
    assert told["connected_groups"] == 1
    assert "S.1" not in "".join(told["text"])
    drawn = pictures(chosen, candidate, settings())
    assert [artifact.name for artifact in drawn] == ["views.png", "parts.png", "joint-hinge.png"]


def test_an_episodes_final_design_is_shown() -> None:
    calls = reference_calls(embedded_document("milking_stool"), "B")  # type: ignore[arg-type]
    episode = recorded([*calls, ToolCall("submit")], {})
    shown = final_pictures(episode, task("milking_stool"), {})
    assert [artifact.name for artifact in shown] == ["views.png", "parts.png"]
    assert final_pictures(recorded([ToolCall("get_scene")], {}), task("milking_stool"), {}) == []


@pytest.mark.parametrize("lines", [True, False])
def test_scripts_from_files(tmp_path: Path, lines: bool) -> None:
    document = embedded_document("keepsake_box")
    assert document is not None
    calls = [{"tool": c.name, "arguments": dict(c.arguments)} for c in reference_calls(document, "B")]
    path = tmp_path / "script.json"
    path.write_text("\n".join(map(json.dumps, calls)) if lines else json.dumps(calls))
    candidate = open_design(path, settings())
    assert DesignValidator(settings()).validate(task(), candidate) == []
    assert len(candidate_design(task(), candidate).parts) == 7
    calls[2]["arguments"]["part_id"] = "P999"
    path.write_text(json.dumps(calls))
    (violation,) = DesignValidator(settings()).validate(task(), open_design(path, settings()))
    assert violation.code == "unloadable"
    assert "call 3 of the script, place_part: there is no part 'P999'" in violation.message


def test_a_trial_tells_scores_and_levels(tmp_path: Path) -> None:
    chosen = task()
    reference = facts_of(chosen).reference
    assert reference is not None
    candidate = open_design(write_design(replace(reference, sequence=()), tmp_path), settings())
    found = GeometryExecutor(settings()).execute(chosen, candidate, pictures=False)
    text = report(chosen, candidate, Verdict(), (found,), settings())["text"]
    by_name = {line.split()[0]: line for line in text[:16]}
    assert list(by_name) == [spec.id.removeprefix("lmbuild.") for spec in METRICS]
    assert " 1.000" in by_name["A.3"]
    assert " 0.000" in by_name["R.1"]
    assert "skipped: judges" in by_name["D.2"]
    assert "degraded" in by_name["D"]
    assert "has not run" in by_name["R.3"]
    assert "collisions: none" in text
    assert any(line.startswith("joint ") and "has a parent already" in line for line in text)
    assert not any("{" in line or len(line) > 160 for line in text)


def test_designs_of_no_task(tmp_path: Path) -> None:
    reference = facts_of(task()).reference
    assert reference is not None
    free = free_task(settings())
    candidate = open_design(write_design(reference, tmp_path), settings())
    assert DesignValidator(settings()).validate(free, candidate) == []
    assert facts_of(free).reference is None


@pytest.mark.parametrize("content", [b"", b"3", b"\xff", b'{"parts": [NaN]}', b"[" * 10_000])
def test_files_that_hold_no_design(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "design.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"design\.json"):
        open_design(path, settings())
