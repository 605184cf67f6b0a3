"""The judge of questions: what it's sent, what counts as an answer, and the numbers after it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import arena_standin as standin
import pytest
from arena_standin import evalkit

from evalkit import EvalkitError, Task
from evalkit.models import Budgeted, Controls, ModelReply, Usage, open_model, parse_options
from evalkit.plugins import load_plugins
from evalkit.run.judging import judge_designs
from evalkit.store.reader import find_run
from evalkit.store.writer import RunWriter
from evalkit_brickbench.judges import vqa
from evalkit_brickbench.judges.vqa import QuestionJudge
from evalkit_brickbench.results import outcomes

GRAPH = [
    {
        "key": "tower",
        "question": "Is there a tower?",
        "kind": "entity",
        "subtype": "whole",
        "dependencies": [],
    },
    {
        "key": "red",
        "question": "Is it red?",
        "kind": "attribute",
        "subtype": "color",
        "dependencies": ["tower"],
    },
    {"key": "flag", "question": "Is there a flag?", "kind": "entity", "subtype": "part", "dependencies": []},
    {
        "key": "top",
        "question": "On top of it?",
        "kind": "relation",
        "subtype": "spatial",
        "dependencies": ["flag"],
    },
]
TASK = Task("T", {"prompt": "A red tower with a flag."}, {"setting": "model", "questions": GRAPH})


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    from provider_standin import StandIn

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with StandIn() as found:
        yield found


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vqa, "VIEW_PX", 16)


def judge_of(provider) -> QuestionJudge:
    judge = QuestionJudge({})
    judge.use_model(open_model("openai/stand-in", parse_options([f"base_url={provider.openai_url}"])))
    return judge


def judged(provider) -> dict:
    build = standin.wall_of("ann", standin.RED)
    return dict(judge_of(provider).execute(TASK, build.candidate, pictures=False).data)


def test_one_request_with_eight_pictures_and_all_questions(provider, small):
    from provider_standin import reply

    provider.otherwise = reply("1: yes\n2: yes\n3: no\n4: yes")
    found = judged(provider)
    (request,) = provider.requests
    pictures, text, kinds = standin.shown(request.body)
    assert kinds == ["image_url"] * 8 + ["text"]
    assert len(set(pictures)) > 1
    assert all(f"{n}: {question['question']}" in text for n, question in enumerate(GRAPH, 1))
    assert "A red tower with a flag." not in text
    assert (request.body["temperature"], request.body["max_tokens"]) == (0.0, 2048)
    assert found["answers"] == [True, True, False, True]
    assert found["held"] == [True, True, False, False]  # no flag, so nothing is on top
    assert found["score"] == 0.5
    assert found["judge"]["source"]["model"] == "openai/stand-in"
    assert len(found["http_attempts"]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1: yes",
        "1: yes\n2: yes\n3: yes\n4: yes\n5: yes",
        "1: yes\n1: yes\n2: yes\n3: yes\n4: yes",
        "Here you are:\n1: yes\n2: yes\n3: yes\n4: yes",
        "```\n1: yes\n2: yes\n3: yes\n4: yes\n```",
        "1: maybe\n2: yes\n3: yes\n4: yes",
        "yes\n" * 5000,
    ],
)
def test_a_hostile_reply_is_asked_for_three_times_and_never_guessed(provider, small, text):
    from provider_standin import reply

    provider.otherwise = reply(text)
    found = judged(provider)
    assert (found["score"], found["answers"], len(found["failures"])) == (None, None, 3)
    assert len(provider.requests) == 3


def test_a_second_reply_counts(provider, small):
    from provider_standin import reply

    provider.then(reply("Sure!"))
    provider.otherwise = reply("4: YES\n2: no\n\n3: yes\n1 : yes")
    found = judged(provider)
    assert (found["answers"], len(found["failures"])) == ([True, False, True, True], 1)


def test_without_a_model_it_says_how_to_name_one():
    with pytest.raises(EvalkitError, match="rescore --judge"):
        QuestionJudge({}).execute(TASK, standin.wall_of("ann", standin.RED).candidate, pictures=False)


def test_another_judge_is_other_evidence(provider):
    assert judge_of(provider).constants() != QuestionJudge({}).constants()


# Through the command


def metrics(done: subprocess.CompletedProcess[str]) -> dict:
    (run,) = json.loads(done.stdout)["runs"]
    return run["metrics"]


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> tuple[Path, dict]:
    """A folder with a run of one task, and the metrics that were printed."""
    folder = tmp_path_factory.mktemp("played")
    words = ["--id", "ek-smoke-model", "--format", "json"]
    return folder, metrics(evalkit(folder, "run", "brickbench.smoke", *words))


def test_skipped_without_a_judge_and_judged_later(played, tmp_path):
    folder, first = played
    for name in ("brickbench.vqa", "brickbench.vqa_zero_filled"):
        assert first[name]["value"] is None
        assert "no judge" in json.dumps(first[name])
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    lines = "\n".join(f"{n}: {'no' if n == 1 else 'yes'}" for n in range(1, 9))
    (tmp_path / "script.json").write_text(json.dumps([lines]))
    judge = ["--judge", "scripted:script.json", "--format", "json"]
    after = metrics(evalkit(tmp_path, "rescore", *judge))
    # no tower: of eight questions only the base, which depends on nothing, is left
    assert after["brickbench.vqa"]["value"] == pytest.approx(1 / 8)
    assert after["brickbench.vqa_zero_filled"]["value"] == pytest.approx(1 / 8)
    again = evalkit(tmp_path, "rescore", *judge)
    assert "judging 0 final designs" in again.stderr
    assert metrics(again)["brickbench.vqa"] == after["brickbench.vqa"]
    evalkit(tmp_path, "verify")
    (outcome,) = (found := outcomes([str(find_run(None, tmp_path / "runs"))])).all
    assert (outcome.record.vqa, sum(outcome.held)) == (pytest.approx(1 / 8), 1)
    assert found.notes == ("VQA by scripted:script.json",)


class YesMan:
    """A model in this process: yes to every question, a dollar for each request."""

    model, provider, attempts, max_connections = "yes-man", "yes-man", 1, 1
    source, controls, defaults = {"model": "yes-man"}, Controls(), Controls()
    calls = 0

    def complete(self, request, key):
        self.calls += 1
        asked = re.findall(r"^(\d+): .*\?$", request.messages[-1].text, re.MULTILINE)
        return ModelReply("\n".join(f"{number}: yes" for number in asked), usage=Usage(1, 0))

    def describe(self):
        return {"prices": {"input": 1.0, "output": 0.0, "cached": None}}


def test_a_budget_ends_the_judging_and_the_next_command_goes_on(small, tmp_path):
    evalkit(tmp_path, "run", "brickbench.smoke", "--format", "json")
    run, client = find_run(None, tmp_path / "runs"), YesMan()
    found = []
    for _ in range(3):
        writer = RunWriter(run)
        try:
            gathered = judge_designs(writer, load_plugins(), Budgeted(client, 2.0), lambda line: None)
        finally:
            writer.close()
        found.append((gathered.done, bool(gathered.stopped), gathered.failed))
    assert found == [(2, True, []), (1, False, []), (0, False, [])]
    assert client.calls == 3


def test_a_budget_needs_prices_and_a_judge(played, tmp_path):
    shutil.copytree(played[0], tmp_path, dirs_exist_ok=True)
    assert "name one with --judge" in evalkit(tmp_path, "rescore", "--max-cost", "1", code=2).stderr
    (tmp_path / "script.json").write_text('["1: yes"]')
    judge = ["--judge", "scripted:script.json", "--max-cost", "1"]
    assert "no prices are known" in evalkit(tmp_path, "rescore", *judge, code=2).stderr
