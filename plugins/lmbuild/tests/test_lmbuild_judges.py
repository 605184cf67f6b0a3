"""The judges of level D: what they are sent, what counts as an answer, and the numbers after it."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from evalkit import Candidate, EvalkitError, Task
from evalkit.models import open_model, parse_options
from evalkit.report import recorded_run
from evalkit_lmbuild import executor_judges
from evalkit_lmbuild.calibration.sheets import design_halves, sheet_rows
from evalkit_lmbuild.objects import checked_document
from evalkit_lmbuild.reference import reference_calls
from evalkit_lmbuild.scoring.levels import combine
from evalkit_lmbuild.scoring.rubrics import RUBRICS, ReplyError, parse_scores, request_text
from evalkit_lmbuild.tasks import embedded_document, load_tasks, task_of

JUDGES = {
    "D.1": executor_judges.DecompositionJudge,
    "D.2": executor_judges.VisualQualityJudge,
    "D.3": executor_judges.ResemblanceJudge,
}
GOOD = {metric: "\n".join(f"{name}: 7" for name in RUBRICS[metric].criteria) for metric in RUBRICS}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "tests" / "provider"))
    from provider_standin import StandIn

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with StandIn() as found:
        yield found


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit_lmbuild.judges import shown

    monkeypatch.setattr(shown, "VIEW_PX", 24)
    monkeypatch.setattr(shown, "PHOTO_PX", 40)


def stool(brief: str = "name_only") -> Task:
    return next(iter(load_tasks({"names": ["milking_stool"]}, {"brief": brief})))


def built() -> Candidate:
    """The reference as an agent would submit it."""
    document = embedded_document("milking_stool")
    assert document is not None
    calls = [{"tool": c.name, "arguments": dict(c.arguments)} for c in reference_calls(document, "B")]
    return Candidate({"script": calls})


def judge(metric: str, provider: Any) -> Any:
    found = JUDGES[metric]({})
    found.use_model(open_model("openai/stand-in", parse_options([f"base_url={provider.openai_url}"])))
    return found


def parts(body: Any) -> list[Any]:
    found = []
    for message in body["messages"]:
        content = message["content"]
        found += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return found


def pictures(body: Any) -> list[Image.Image]:
    urls = [part["image_url"]["url"] for part in parts(body) if "image_url" in part]
    return [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) for url in urls]


# Replies


@pytest.mark.parametrize("metric", sorted(RUBRICS))
def test_a_request_names_the_object_and_each_criterion_and_its_example_is_no_answer(metric: str) -> None:
    text = request_text(RUBRICS[metric], "step\n ladder")
    assert "step ladder" in text
    assert all(f"\n{name}: <integer>" in text for name in RUBRICS[metric].criteria)
    with pytest.raises(ReplyError):
        parse_scores(text, RUBRICS[metric])


def test_replies_that_can_be_read() -> None:
    rubric = RUBRICS["D.2"]
    wanted = {"proportion": 1, "coherence": 10, "refinement": 5}
    assert parse_scores("proportion: 1\ncoherence: 10\nrefinement: 5", rubric) == wanted
    assert parse_scores("\nRefinement : 05\n\ncoherence:10\n  proportion: 1\n", rubric) == wanted


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "proportion isn't scored"),
        ("proportion: 7\ncoherence: 7", "refinement isn't scored"),
        ("proportion: 7\nproportion: 8\ncoherence: 7\nrefinement: 7", "twice"),
        ("proportion: 0\ncoherence: 7\nrefinement: 7", "is 0, not from 1 to 10"),
        ("proportion: 11\ncoherence: 7\nrefinement: 7", "is 11"),
        ("proportion: 7.5\ncoherence: 7\nrefinement: 7", "no line"),
        ("proportion: -7\ncoherence: 7\nrefinement: 7", "no line"),
        ("proportion: 7/10\ncoherence: 7\nrefinement: 7", "no line"),
        ("proportion: \u0667\ncoherence: 7\nrefinement: 7", "no line"),
        ("proportion: 7\ncoherence: 7\nrefinement: 7\nbeauty: 9", "no line"),
        ("Here you are:\nproportion: 7\ncoherence: 7\nrefinement: 7", "no line"),
        ('{"proportion": 7, "coherence": 7, "refinement": 7}', "no line"),
        ("x" * 100_000, "no line"),
    ],
)
def test_replies_that_are_refused(reply: str, why: str) -> None:
    with pytest.raises(ReplyError, match=why):
        parse_scores(reply, RUBRICS["D.2"])


# Asking, over HTTP


@pytest.mark.parametrize(("metric", "sizes"), [("D.1", [1, 2]), ("D.2", [3]), ("D.3", [3, 3])])
def test_pictures_come_first_and_the_text_last(provider: Any, metric: str, sizes: list[int]) -> None:
    from provider_standin import reply

    provider.otherwise = reply(GOOD[metric])
    found = judge(metric, provider).execute(stool(), built(), pictures=False)
    (request,) = provider.requests
    assert [part["type"] for part in parts(request.body)] == ["image_url"] * len(sizes) + ["text"]
    assert "milking stool" in parts(request.body)[-1]["text"]
    assert request.body["temperature"] == 0.0
    widths = [picture.width for picture in pictures(request.body)]
    assert [round(width / 24) for width in widths] == [2 if metric == "D.1" and n == 0 else s for n, s in
                                                      enumerate(sizes)]  # fmt: skip
    assert found.executor == f"lmbuild.judge_{metric.lower().replace('.', '')}"
    assert found.data["score"] == pytest.approx(6 / 9)
    assert found.data["criteria"] == dict.fromkeys(RUBRICS[metric].criteria, 7)
    assert found.data["judge"]["source"]["model"] == "openai/stand-in"
    assert found.data["judge"]["controls"]["temperature"] == 0.0
    assert len(found.data["http_attempts"]) == 1


def test_the_brief_of_the_agent_changes_nothing_that_a_judge_sees(provider: Any) -> None:
    from provider_standin import reply

    provider.otherwise = reply(GOOD["D.1"])
    for brief in ("name_only", "functional+image"):
        judge("D.1", provider).execute(stool(brief), built(), pictures=False)
    first, second = provider.requests
    assert parts(first.body) == parts(second.body)


def test_the_reference_compared_with_itself_is_twice_the_same_picture(provider: Any) -> None:
    from provider_standin import reply

    provider.otherwise = reply(GOOD["D.3"])
    judge("D.3", provider).execute(stool(), built(), pictures=False)
    one, two = (part["image_url"]["url"] for part in parts(provider.requests[0].body)[:2])
    assert one == two


def test_a_second_reply_counts_and_a_third_is_the_last(provider: Any) -> None:
    from provider_standin import reply

    provider.then(reply("Lovely!"))
    provider.otherwise = reply(GOOD["D.2"])
    found = judge("D.2", provider).execute(stool(), built(), pictures=False).data
    assert (found["score"], len(found["failures"])) == (pytest.approx(6 / 9), 1)
    provider.otherwise = reply("Lovely!")
    found = judge("D.2", provider).execute(stool(), built(), pictures=False).data
    assert (found["score"], found["criteria"], len(found["failures"])) == (None, None, 3)
    assert found["why"].startswith("no reply of the judge could be used")
    assert len(provider.requests) == 5


def test_a_provider_that_is_busy_is_asked_again(provider: Any) -> None:
    from provider_standin import reply, status

    provider.then(status(429, retry_after="0"))
    provider.otherwise = reply(GOOD["D.2"])
    found = judge("D.2", provider).execute(stool(), built(), pictures=False).data
    assert (found["failures"], len(found["http_attempts"])) == ([], 2)


def test_what_is_no_design_scores_zero_and_nobody_is_asked(provider: Any) -> None:
    for data in ({"parts": 3}, {"parts": []}, {"script": [{"tool": "place_part", "arguments": {}}]}):
        for metric in JUDGES:
            found = judge(metric, provider).execute(stool(), Candidate(data), pictures=False).data
            assert (found["score"], bool(found["why"])) == (0.0, True)
    assert provider.requests == []


def test_without_an_object_there_is_nothing_to_compare_with(provider: Any) -> None:
    from provider_standin import reply

    provider.otherwise = reply(GOOD["D.2"])
    document = {"task_id": "x", "object": {"name": "x"}, "conditions": []}
    document["conditions"] = [{"condition_id": "name_only", "text": "Build."}]
    free = task_of(checked_document(document), "name_only", Path())
    box = {"nodes": [{"id": "a", "op": "box", "size": [0.1, 0.1, 0.1]}], "output": "a"}
    calls = [
        {"tool": "create_part", "arguments": {"name": "b", "program": box}},
        {"tool": "place_part", "arguments": {"part_id": "b", "instance_id": "c", "position": [0, 0, 0.05]}},
    ]
    found = {
        m: judge(m, provider).execute(free, Candidate({"script": calls}), pictures=False) for m in JUDGES
    }
    assert found["D.2"].data["score"] == pytest.approx(6 / 9)
    for metric in ("D.1", "D.3"):
        assert found[metric].data["score"] is None
        assert "neither a photo nor a reference" in found[metric].data["why"]


def test_without_a_model_it_says_how_to_name_one_and_another_judge_is_other_evidence(provider: Any) -> None:
    with pytest.raises(EvalkitError, match="rescore --judge"):
        JUDGES["D.1"]({}).execute(stool(), built(), pictures=False)
    assert judge("D.1", provider).constants() != JUDGES["D.1"]({}).constants()


# Through the command


def evalkit(folder: Path, *words: str, code: int = 0, says: str = "") -> Any:
    environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", *words, "--format", "json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    return run["metrics"]


def criteria(exchange: Any) -> None:
    """Gives each criterion that is asked for a 6."""
    from provider_standin import reply

    asked = re.findall(r"^(\w+): <integer>$", parts(exchange.received.body)[-1]["text"], re.MULTILINE)
    reply("\n".join(f"{name}: 6" for name in asked))(exchange)


def test_degraded_without_a_judge_and_full_with_one(provider: Any, tmp_path: Path) -> None:
    played = ("run", "lmbuild.smoke", "--agent", "reference", "--id", "milking_stool")
    before = evalkit(tmp_path, *played)
    assert before["lmbuild.D.2"]["value"] is None
    degraded = {name: before[f"lmbuild.{name}"]["degraded"] for name in ("D.1", "D.2", "D.3", "D")}
    assert degraded == {"D.1": 1, "D.2": 0, "D.3": 1, "D": 1}
    provider.otherwise = criteria
    model = ("--judge", "openai/stand-in", "-M", f"base_url={provider.openai_url}")
    after = evalkit(tmp_path, "rescore", "latest", *model)
    assert len(provider.requests) == 3
    for metric, computed in (("D.1", before["lmbuild.D.1"]), ("D.3", before["lmbuild.D.3"])):
        assert after[f"lmbuild.{metric}"]["value"] != computed["value"]
    assert after["lmbuild.D.2"]["value"] == pytest.approx(combine("D.2", 5 / 9, None).score)
    levels = [after[f"lmbuild.{name}"]["value"] for name in ("D.1", "D.2", "D.3")]
    assert after["lmbuild.D"]["value"] == pytest.approx(sum(levels) / 3)
    assert not any(after[f"lmbuild.{name}"]["degraded"] for name in degraded)
    assert evalkit(tmp_path, "rescore", "latest", *model) == after
    assert len(provider.requests) == 3
    from provider_standin import status

    provider.otherwise = status(400)
    other = ("rescore", "latest", "--judge", "openai/other", *model[2:])
    assert evalkit(tmp_path, *other, code=3, says="an earlier judge's evidence counts for 3") == after
    run = recorded_run(str(next((tmp_path / "runs").iterdir())), "lmbuild")
    known = design_halves([run])
    assert {key[:2] for key in known} == {("milking_stool", "reference")}
    for (_, _, metric), (judged, computed) in known.items():
        assert judged == pytest.approx(5 / 9)
        assert after[f"lmbuild.{metric}"]["value"] == pytest.approx(combine(metric, judged, computed).score)
    rows = list(sheet_rows([run], ["r1", "r2"]))
    assert len(rows) == 6
    assert rows[1] == ("milking_stool", "reference", "D.1", "r2", None)
