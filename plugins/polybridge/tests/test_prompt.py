"""The prompt: it states the whole contract, in numbers that come from the constants, and nothing hidden."""

from __future__ import annotations

import json
import re

import pytest

from evalkit_polybridge import prompt
from evalkit_polybridge.constants import MATERIALS, ROAD, STEEL, WOOD, Material
from evalkit_polybridge.contract import CONTRACT_CODES, parse_reply
from evalkit_polybridge.graph import Level, Node
from evalkit_polybridge.levels import FAMILIES, generate
from evalkit_polybridge.prompt import prompt_sha256, system_prompt, turn_message
from evalkit_polybridge.rules import RULE_CODES, check

LEVELS = {level.name: level for level, _ in generate()}
ROAD_WOOD = LEVELS["T1C_RoadWood_08m_3PG"]
ALL_MATERIALS = LEVELS["T1B_Basic_08m"]


def words(text: str) -> str:
    return " ".join(text.split())


def test_every_rule_of_the_validator_is_stated_by_its_code() -> None:
    text = system_prompt(ALL_MATERIALS)
    stated = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b|\bACTION\b|\bCLEARANCE\b|\bDISCONNECTED\b", text))
    assert stated == {*RULE_CODES, *CONTRACT_CODES}


@pytest.mark.parametrize("material", [ROAD, WOOD, STEEL], ids=lambda material: material.name)
def test_an_admitted_material_is_listed_with_its_numbers(material: Material) -> None:
    row = (
        f"| {material.type} | {material.name} | {material.strength_pn:.0f} | {material.max_length_m:.0f} | "
        f"{material.cost_per_m:.0f} |"
    )
    assert row in system_prompt(ALL_MATERIALS)


def test_a_material_that_is_not_admitted_is_not_mentioned() -> None:
    text = system_prompt(ROAD_WOOD)
    assert "| 2 | Wood | 800 | 2 | 180 |" in text
    assert "steel" not in text.lower()
    assert "2000" not in text


def test_the_prompt_depends_on_nothing_but_the_materials() -> None:
    texts = {(level.materials, system_prompt(level)) for level in LEVELS.values()}
    assert len(texts) == 2


def test_it_names_no_family_and_no_level() -> None:
    text = system_prompt(ALL_MATERIALS)
    assert not any(re.search(rf"\b{family.id}\b", text) for family in FAMILIES)
    assert not any(name in text for name in LEVELS)


@pytest.mark.parametrize(
    "statement",
    [
        "Anchor 1 is always the end of the road at the left bank and anchor 2 the end of the road",
        "need one continuous path from bank to bank",
        "Road is needed only where no ground supports the path",
        "exactly the geometry the validator checks",
        "never 0, which is reserved for nodes",
        "Every legal design is run at once",
        "`failure_or_timeout` only says that not every vehicle arrived in time; it proves no cause",
        "within 12 s",
        "Coordinates are rounded to 4 decimals",
        "For ids and coordinates: the current save",
        "one raw JSON object and nothing else",
    ],
)
def test_the_contract_is_stated(statement: str) -> None:
    assert statement in words(system_prompt(ALL_MATERIALS))


def test_the_example_is_a_legal_reply_on_its_level() -> None:
    line = next(line for line in system_prompt(ROAD_WOOD).splitlines() if line.startswith("{"))
    reply = parse_reply(line)
    assert reply.problems == ()
    assert reply.bridge is not None
    anchors = (Node(1, 0.0, 0.0, True), Node(2, 4.0, 0.0, True))
    assert check(Level("gap", 4.0, 0.0, anchors, (3.0,), (1, 2), 6500.0), reply.bridge) == []
    assert json.loads(line)["action"] == "modify"


def test_skill_text_is_a_section_of_its_own_and_absent_by_default() -> None:
    plain = system_prompt(ALL_MATERIALS)
    assert "# Advice" not in plain
    assert system_prompt(ALL_MATERIALS, skill="Triangles.\n") == f"{plain}\n# Advice\nTriangles.\n"


def test_turn_message_counts_calls_and_attempts() -> None:
    text = turn_message(ROAD_WOOD, 2, physics_attempts=1, situation="failed")
    assert text.startswith("Level T1C_RoadWood_08m_3PG, call 2 of 3; physics attempts used: 1 of 3.")
    assert "failure_or_timeout" in text
    assert "contact sheet of 4 frames" in text


def test_only_a_failed_run_comes_with_a_contact_sheet() -> None:
    start = turn_message(ROAD_WOOD, 1, physics_attempts=0, situation="start")
    rejected = turn_message(ROAD_WOOD, 2, physics_attempts=0, situation="rejected", max_calls=5)
    assert "contact sheet" not in start + rejected
    assert "call 2 of 5" in rejected
    assert "validator's message" in rejected


def test_the_hash_is_stable_and_follows_the_text_and_the_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    before = prompt_sha256()
    assert re.fullmatch(r"[0-9a-f]{64}", before)
    assert prompt_sha256() == before
    stronger = Material(2, "Wood", 801.0, 2.0, 180.0, 2.8)
    monkeypatch.setitem(MATERIALS, 2, stronger)
    with_stronger_wood = prompt_sha256()
    monkeypatch.setattr(prompt, "PROMPT_VERSION", "next")
    assert len({before, with_stronger_wood, prompt_sha256()}) == 3
