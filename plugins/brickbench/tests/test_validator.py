"""Part rules and reports as a suite uses them."""

from __future__ import annotations

from evalkit import Task
from evalkit_brickbench.designs import candidate_of, look
from evalkit_brickbench.part_rules import PartRules
from evalkit_brickbench.parts.wheels import WheelCatalogue
from evalkit_brickbench.report import as_text
from evalkit_brickbench.settings import BrickSettings
from evalkit_brickbench.validator import BuildValidator

ONE = "1 0 0 0 1 0 0 0 1"


def violations(text: str, rules: PartRules | None) -> list[str]:
    inputs = {} if rules is None else {"part_rules": rules.as_json()}
    found = BuildValidator({}).validate(Task("t", inputs, {}), candidate_of("m.ldr", text.encode()))
    return [violation.code for violation in found]


def test_an_alias_counts_as_the_part_in_stock(wheel_catalogue: WheelCatalogue) -> None:
    resolved = wheel_catalogue.resolve("3069")
    assert resolved is not None
    assert resolved.stem == "3069b"
    stock = PartRules(1, 10, {("3069b", 4): 1})
    assert violations(f"1 4 0 0 0 {ONE} 3069.dat\n", stock) == []
    assert violations(f"1 4 0 0 0 {ONE} 3069.dat\n1 4 40 0 0 {ONE} 3069b.dat\n", stock) == ["not_in_stock"]
    assert violations(f"1 1 0 0 0 {ONE} 3069.dat\n", stock) == ["not_in_stock"]


def test_what_tips_over_is_told_with_its_centre_of_mass() -> None:
    lines = [f"1 4 {40 * i} {-24 * i} 0 {ONE} 3001.dat" for i in range(6)]
    candidate = candidate_of("stairs.ldr", "\n".join(lines).encode())
    text = "\n".join(as_text(look(candidate, BrickSettings(), stand=True), "stairs.ldr"))
    assert "stability: unstable (by screen);" in text
    assert "LDU outside its support" in text
    assert "in the air" not in text
