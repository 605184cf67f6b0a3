from __future__ import annotations

from dataclasses import replace

import pytest

from evalkit_brickbench.scoring.pairwise import QUESTIONS, Verdict
from evalkit_brickbench.scoring.ratings import rate_by_setting
from evalkit_brickbench.scoring.tables import (
    NO_STABILITY,
    REASONS,
    BuildRecord,
    Contents,
    contents_table,
    invalid_reason,
    main_table,
    reasons_table,
    rented_cost_usd,
    token_cost_usd,
)

SOUND = Contents(
    parts=100, unique_parts=30, colours=6, colliding_parts=0, colliding_pairs=0, components=1, stable=True
)
COLLIDES = replace(SOUND, colliding_parts=3, colliding_pairs=2, stable=None)
FALLS = replace(SOUND, stable=False, components=4)


def record(task: str, contents: Contents | None = SOUND, **fields: object) -> BuildRecord:
    return BuildRecord(**{"system": "s", "setting": "model", "task": task, "contents": contents, **fields})


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (record("t"), None),
        (record("t", None), "missing"),
        (record("t", None, obeys_part_rules=False), "missing"),
        (record("t", COLLIDES, obeys_part_rules=False), "part rule"),
        (record("t", COLLIDES), "collision"),
        (record("t", replace(COLLIDES, stable=False)), "collision"),
        (record("t", FALLS), "stability"),
        (record("t", FALLS, has_to_stand=False), None),
        (record("t", replace(SOUND, stable=None), has_to_stand=False), None),
    ],
)
def test_one_reason_per_invalid_build(build: BuildRecord, reason: str | None) -> None:
    assert invalid_reason(build) == reason


def test_a_missing_verdict_on_stability_isnt_guessed() -> None:
    with pytest.raises(ValueError, match="s on t: the verdict on stability is missing"):
        invalid_reason(record("t", replace(SOUND, stable=None)))


def test_reasons_add_up_as_published() -> None:
    published = {"missing": 44, "part rule": 21, "collision": 31, "stability": 41}
    invalid = {
        "missing": record("", None, obeys_part_rules=False),
        "part rule": record("", FALLS, obeys_part_rules=False),
        "collision": record("", COLLIDES),
        "stability": record("", FALLS),
    }
    records = [
        replace(invalid[reason], task=f"{reason} {i}")
        for reason, count in published.items()
        for i in range(count)
    ]
    overall, model = reasons_table([*records, record("valid")])
    assert overall == {"setting": "overall", "system": "s", "n_prompts": 138, "n_invalid": 137, **published}
    assert model == {**overall, "setting": "model"}
    assert tuple(overall)[-4:] == REASONS


def test_main_table_pools_the_settings() -> None:
    records = [
        record("m1", vqa=0.9, cost_usd=2.0),
        record("m2", FALLS, vqa=0.5, cost_usd=4.0),
        record("m3", None, cost_usd=0.6),
        record("s1", COLLIDES, setting="set", vqa=0.4),
        record("m1", system="best", vqa=1.0),
        record("net", FALLS, system="network", setting="set", vqa=0.1, has_to_stand=False),
    ]
    verdicts = [
        Verdict("m1", question, *pair, 1 + (pair[1] == "best"))
        for question in QUESTIONS
        for pair in (("best", "s"), ("s", "best"))
    ]
    ratings, _ = rate_by_setting(verdicts, {"m1": "model"}, draws=10)
    table = main_table(records, ratings)
    named = [(row["setting"], row["system"]) for row in table]
    assert named == [
        ("overall", "best"), ("overall", "s"), ("overall", "network"),
        ("model", "best"), ("model", "s"),
        ("set", "s"), ("set", "network"),
    ]  # fmt: skip
    rows = dict(zip(named, table, strict=True))
    pooled = rows["overall", "s"]
    assert pooled["valid"] == 1 / 4
    assert pooled["vqa"] == pytest.approx(1.8 / 3)
    assert pooled["vqa_zero_filled"] == pytest.approx(1.8 / 4)
    assert pooled["cost_usd"] == pytest.approx(2.2)
    assert [pooled[name] for name in ("n_prompts", "n_builds", "n_judged", "n_costed")] == [4, 3, 3, 3]
    assert pooled["elo"] == pooled["align"] == pooled["design"] == ratings["overall"].of("s").design.elo
    assert pooled["elo_half_width"] is None  # one task
    assert rows["model", "s"]["valid"] == 1 / 3
    network = rows["set", "network"]
    assert (network["valid"], network["note"], network["elo"]) == (1.0, NO_STABILITY, None)
    assert rows["set", "s"]["note"] is None


def test_unjudged_builds_are_left_out_of_vqa_and_counted() -> None:
    (row, _) = main_table([record("a", vqa=0.8), record("b"), record("c", None)], {})
    assert (row["vqa"], row["vqa_zero_filled"], row["n_builds"], row["n_judged"]) == (0.8, 0.4, 2, 1)
    (row, _) = main_table([record("a")], {})
    assert (row["vqa"], row["vqa_zero_filled"], row["cost_usd"], row["elo"]) == (None, None, None, None)
    (row, _) = main_table([record("a", None)], {})
    assert (row["valid"], row["vqa"], row["vqa_zero_filled"]) == (0.0, None, 0.0)


def test_a_second_record_for_a_prompt_is_refused() -> None:
    with pytest.raises(ValueError, match="two records of s on a"):
        main_table([record("a"), record("a", None)], {})


def test_contents_are_means_over_the_builds_that_exist() -> None:
    records = [record("a"), record("b", FALLS), record("c", COLLIDES), record("d", None)]
    (row, _) = contents_table(records)
    assert row == {
        "setting": "overall",
        "system": "s",
        "n_builds": 3,
        "parts": 100.0,
        "unique_parts": 30.0,
        "colours": 6.0,
        "colliding_parts": 1.0,
        "colliding_pairs": pytest.approx(2 / 3),
        "components": 2.0,
        "stable": 0.5,
        "n_stability_known": 2,
    }
    (row, _) = contents_table([record("d", None)])
    assert (row["n_builds"], row["parts"], row["stable"]) == (0, None, None)


def test_costs() -> None:
    tokens = {"input": 2_000_000, "cached_input": 500_000, "output": 100_000}
    assert token_cost_usd(tokens, {"input": 3.0, "cached_input": 0.3, "output": 15.0}) == pytest.approx(7.65)
    with pytest.raises(KeyError):
        token_cost_usd(tokens, {"input": 3.0})
    assert rented_cost_usd(wall_s=90.0, usd_per_hour=2.0) == pytest.approx(0.05)
