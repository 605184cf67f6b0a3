"""The editor as an environment: what a model sees, what it doesn't, and how an episode goes on."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evalkit import Execution, StepContext, Task, ToolCall, Verdict, Violation
from evalkit_polybridge.agents.flat import flat_deck
from evalkit_polybridge.constants import LOOSE_BUDGET
from evalkit_polybridge.contract import format_reply
from evalkit_polybridge.designs import bridge_from_json, bridge_to_json, level_from_inputs, level_to_inputs
from evalkit_polybridge.environment import BridgeEnvironment, frame_times_s
from evalkit_polybridge.frames import select
from evalkit_polybridge.levels import generate
from evalkit_polybridge.physics import simulate
from evalkit_polybridge.settings import BridgeSettings
from evalkit_polybridge.tasks import level_task

SETTINGS = BridgeSettings().model_dump()
CONTEXT = StepContext({}, {})
LEVEL, META = next(
    (replace(level, budget=float(LOOSE_BUDGET)), meta) for level, meta in generate() if meta.family == "T1B"
)
TASK = level_task(LEVEL, META)


def started(settings: dict[str, object] | None = None) -> BridgeEnvironment:
    environment = BridgeEnvironment(settings or SETTINGS)
    environment.reset(TASK, 0)
    return environment


def propose(environment: BridgeEnvironment, text: str):
    return environment.step(ToolCall("propose", {"text": text}), CONTEXT)


def failed_run(environment: BridgeEnvironment):
    """Propose the bare deck, which falls, and hear what became of it."""
    deck = flat_deck(LEVEL)
    run = simulate(LEVEL, deck)
    assert not run.success
    propose(environment, format_reply(deck, "deck"))
    return environment.feedback(Verdict(), Execution(False, {"lost_s": run.lost_s}, (), "embedded"))


def test_first_observation_holds_prompt_context_save_and_editor() -> None:
    observation = BridgeEnvironment(SETTINGS).reset(TASK, 0)
    assert list(observation.data) == ["prompt", "context", "save"]
    assert set(observation.data["context"]) == {"task_context", "semantic_environment"}
    assert [image.name for image in observation.images] == ["editor.png"]
    assert observation.images[0].data().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["family", "group", "tags", "parameters", "reference_cost"])
def test_what_is_hidden_stays_hidden(name: str) -> None:
    canary = Task(TASK.id, TASK.inputs, {**TASK.hidden, name: "CANARY-7261"})
    environment = BridgeEnvironment(SETTINGS)
    seen = environment.reset(canary, 0)
    text = seen.text + json.dumps(dict(seen.data)) + json.dumps(environment.state())
    assert "CANARY-7261" not in text


def test_every_level_is_rebuilt_from_what_a_model_sees() -> None:
    for level, _ in generate():
        assert level_from_inputs(json.loads(json.dumps(level_to_inputs(level)))) == level


def test_designs_survive_json() -> None:
    deck = flat_deck(LEVEL)
    assert bridge_from_json(json.loads(json.dumps(bridge_to_json(deck)))) == deck


def test_what_is_no_design_is_a_violation_and_the_draft_comes_back() -> None:
    environment = started()
    result = propose(environment, "```json\n{}\n```")
    assert result.candidate is None
    assert [v.code for v in result.violations] == ["PARSE_ERROR"]
    observation = environment.feedback(Verdict(result.violations), None)
    assert observation.data["feedback"]["draft"] == "```json\n{}\n```"
    assert observation.data["feedback"]["violations"][0]["code"] == "PARSE_ERROR"
    assert not observation.done


def test_refused_draft_leaves_editor_and_save_as_they_were() -> None:
    environment = started()
    before = environment.reset(TASK, 0)
    result = propose(environment, format_reply(flat_deck(LEVEL), ""))
    assert result.candidate is not None
    after = environment.feedback(Verdict((Violation("OVER_BUDGET", "too dear"),)), None)
    assert after.data["save"] == before.data["save"]
    assert after.images[0].data() == before.images[0].data()


def test_failed_run_tells_only_what_the_protocol_allows() -> None:
    observation = failed_run(started())
    feedback = observation.data["feedback"]
    assert set(feedback) == {"kind", "duration_s", "detector", "selected_timestamps_s", "cutoff"}
    assert feedback["kind"] == "failure_or_timeout"
    assert len(feedback["selected_timestamps_s"]) == 4
    assert [image.name for image in observation.images] == ["editor.png", "contact_sheet.png"]
    assert all(image.data().startswith(b"\x89PNG") for image in observation.images)
    nodes = [o for o in observation.data["save"]["Objects"] if o["type"] == 0]
    assert len(nodes) == len(flat_deck(LEVEL).nodes)


def test_frames_told_are_the_frames_taken() -> None:
    deck = flat_deck(LEVEL)
    run = simulate(LEVEL, deck, frames=True)
    film = run.frames
    assert [frame.t_s for frame in film] == frame_times_s(simulate(LEVEL, deck).lost_s)
    told = failed_run(started()).data["feedback"]["selected_timestamps_s"]
    assert told == [film[i].t_s for i in select(len(film))]


def test_no_frames_no_sheet() -> None:
    environment = BridgeEnvironment({**SETTINGS, "feedback_frames": 0})
    first = environment.reset(TASK, 0)
    assert "frame" not in first.text + first.data["prompt"].replace("frames, ", "")
    observation = failed_run(environment)
    assert "Image: the editor." in observation.text
    assert "contact sheet" not in observation.text
    assert [image.name for image in observation.images] == ["editor.png"]
    assert observation.data["feedback"]["selected_timestamps_s"] == []


def counted(used: int, run: int, /, **left: float) -> StepContext:
    counters = {"calls": used, "tool_calls": used, "executions": run}
    return StepContext(left, counters)


def refused(environment: BridgeEnvironment, ctx: StepContext) -> str:
    """The text after a reply that is no JSON."""
    result = environment.step(ToolCall("propose", {"text": "no"}), ctx)
    return environment.feedback(Verdict(result.violations), None).text


def test_calls_that_never_reached_the_environment_are_counted() -> None:
    text = refused(started(), counted(2, 1, calls=1.0, tool_calls=1.0, executions=2.0))
    assert "call 3 of 3; physics attempts used: 1 of 3." in text


def test_the_limits_are_those_of_the_episode() -> None:
    assert "call 2 of 5; physics attempts used: 0 of 4." in refused(
        started(), counted(1, 0, calls=6.0, tool_calls=4.0, executions=4.0)
    )
    assert "call 2; physics attempts used: 0." in refused(started(), counted(1, 0))


def test_the_first_message_states_the_limits_it_was_told() -> None:
    environment = BridgeEnvironment(SETTINGS)
    assert "call 1 of 3; physics attempts used: 0 of 3." in environment.reset(TASK, 0).text
    environment.limits({"calls": 5.0, "tool_calls": 4, "executions": 2})
    assert "call 1 of 4; physics attempts used: 0 of 2." in environment.reset(TASK, 0).text
    environment.limits({"tokens": 9})
    assert "call 1; physics attempts used: 0." in environment.reset(TASK, 0).text


def test_the_last_call_is_not_exceeded_in_words() -> None:
    assert "call 3 of 3" in refused(started(), counted(3, 0, calls=0.0, executions=3.0))


def test_limits_are_part_of_the_state() -> None:
    environment = started()
    refused(environment, counted(2, 1, calls=5.0, executions=6.0))
    again = BridgeEnvironment.from_state(TASK, json.loads(json.dumps(environment.state())), SETTINGS)
    verdict = Verdict((Violation("PARSE_ERROR", "not JSON"),))
    assert again.feedback(verdict, None).text == environment.feedback(verdict, None).text
    assert "call 3 of 7; physics attempts used: 1 of 7." in again.feedback(verdict, None).text


def test_starting_again_forgets_the_last_episode() -> None:
    environment = started()
    failed_run(environment)
    assert environment.reset(TASK, 0).text == started().reset(TASK, 0).text


@pytest.mark.parametrize(("frames", "words"), [(1, "of 1 frame of"), (6, "of 6 frames of")])
def test_the_text_announces_the_sheet_that_is_sent(frames: int, words: str) -> None:
    observation = failed_run(started({**SETTINGS, "feedback_frames": frames}))
    assert f"a contact sheet {words} the run" in observation.text
    assert len(observation.data["feedback"]["selected_timestamps_s"]) == frames


def test_a_short_film_is_announced_as_short_as_it_is() -> None:
    observation = failed_run(started({**SETTINGS, "feedback_frames": 48}))
    taken = len(observation.data["feedback"]["selected_timestamps_s"])
    assert taken < 48
    assert f"a contact sheet of {taken} frames of the run" in observation.text


@pytest.mark.parametrize(
    ("offset_m", "words"),
    [
        (0.25, "with every side moved outwards by 0.25 m: regions are larger than"),
        (-0.1, "with every side moved inwards by 0.1 m: regions are smaller than"),
    ],
)
def test_the_prompt_states_the_offset_of_regions(offset_m: float, words: str) -> None:
    observation = BridgeEnvironment({**SETTINGS, "region_offset_m": offset_m}).reset(TASK, 0)
    assert words in " ".join(observation.data["prompt"].split())
    assert "exactly the geometry" not in observation.data["prompt"]


def test_what_a_model_reads_is_hashed_as_it_reads_it() -> None:
    changes = ({}, {"skill": "Triangles."}, {"region_offset_m": 0.1}, {"feedback_frames": 0})
    assert len({BridgeSettings(**change).prompt_sha256 for change in changes}) == len(changes)


def test_what_is_shown_of_a_run_is_among_the_settings() -> None:
    assert SETTINGS["frame_choice"] == "uniform, first and last included"
    assert SETTINGS["feedback_mode"] == "verdict and contact sheet"
    assert BridgeSettings(feedback_frames=0).feedback_mode == "verdict"
    assert failed_run(started()).data["feedback"]["cutoff"]["rule"] == SETTINGS["cutoff_rule"]


def test_success_ends_the_episode() -> None:
    environment = started()
    propose(environment, format_reply(flat_deck(LEVEL), ""))
    assert environment.feedback(Verdict(), Execution(True, {"lost_s": None})).done


def test_state_goes_round() -> None:
    environment = started()
    failed_run(environment)
    propose(environment, "nonsense")
    state = json.loads(json.dumps(environment.state()))
    again = BridgeEnvironment.from_state(TASK, state, SETTINGS)
    assert again.state() == environment.state()
    verdict = Verdict((Violation("PARSE_ERROR", "not JSON"),))
    first, second = environment.feedback(verdict, None), again.feedback(verdict, None)
    assert (first.text, first.data) == (second.text, second.data)
