"""Part rules: limits are inclusive, stocks are kept to, and both survive a task's JSON."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit.canonical import canonical_json
from evalkit_brickbench.part_rules import SETTINGS, PartRules
from evalkit_brickbench.scene import Scene


def build(n, stem="3001", colour=4):
    return Scene(
        stems=(stem,) * n,
        colours=np.full(n, colour, np.int32),
        matrices=np.tile(np.eye(3), (n, 1, 1)),
        positions=np.zeros((n, 3)),
        paths=("",) * n,
        steps=np.zeros(n, np.int32),
    )


def test_settings_are_the_published_ones():
    assert SETTINGS == {"model": (1, 400), "set": (400, 4000), "alt-build": (1, 783)}


@pytest.mark.parametrize(
    ("n", "codes"),
    [(0, ["too_few_parts"]), (1, []), (2, []), (3, []), (4, ["too_many_parts"])],
)
def test_limits_are_inclusive(n, codes):
    assert [rule.code for rule in PartRules(1, 3).check(build(n))] == codes


def test_a_broken_limit_says_what_is_and_what_is_allowed():
    (rule,) = PartRules(400, 4000).check(build(399))
    assert (rule.value, rule.limit) == (399, 400)
    assert rule.message == "399 parts, at least 400 are wanted"
    (rule,) = PartRules(1, 3).check(build(4))
    assert (rule.value, rule.limit) == (4, 3)
    assert rule.message == "4 parts, at most 3 are allowed"


def test_what_the_stock_lacks_is_one_rule_with_the_parts():
    rules = PartRules(1, 9, {("3001", 4): 2})
    assert rules.check(build(2)) == []
    (rule,) = rules.check(build(5))
    assert (rule.code, rule.ids, rule.value, rule.limit) == ("not_in_stock", ("3001",), 3, 0)
    assert rule.message.endswith("3001 in colour 4: 5 of 2")
    (other,) = rules.check(build(1, colour=1))
    assert other.message.endswith("3001 in colour 1: 1 of 0")


def test_limit_and_stock_can_be_broken_together():
    rules = PartRules(1, 2, {("3001", 4): 2})
    assert [rule.code for rule in rules.check(build(3))] == ["too_many_parts", "not_in_stock"]


def test_a_long_list_is_cut_but_counted():
    parts = [build(1, stem=f"part{i}") for i in range(11)]
    scene = Scene(
        stems=tuple(part.stems[0] for part in parts),
        colours=np.full(11, 4, np.int32),
        matrices=np.tile(np.eye(3), (11, 1, 1)),
        positions=np.zeros((11, 3)),
        paths=("",) * 11,
        steps=np.zeros(11, np.int32),
    )
    (rule,) = PartRules(1, 20, {("3001", 4): 1}).check(scene)
    assert rule.value == 11
    assert rule.message.endswith("and 3 more")
    assert len(rule.ids) == 11


def test_an_alias_is_in_stock_with_a_catalogue(wheel_catalogue):
    rules = PartRules(1, 9, {("3023b", 4): 1})
    assert rules.check(build(1, stem="3023"), wheel_catalogue) == []
    assert [rule.code for rule in rules.check(build(1, stem="3023"))] == ["not_in_stock"]


@pytest.mark.parametrize("stock", [None, {("3001", 4): 2, ("3001", 15): 1, ("3023b", 0): 7}])
def test_rules_survive_a_task(stock):
    rules = PartRules(2, 5, stock)
    inputs = {"part_rules": rules.as_json()}
    assert canonical_json(inputs)
    assert PartRules.of(inputs) == rules


def test_a_task_without_rules_has_none():
    assert PartRules.of({"prompt": "A wall."}) is None
