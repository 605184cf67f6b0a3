"""The proof of tasks and metrics: references score high, broken variants fall where they should, alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evalkit_lmbuild.design import Design
from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.objects import object_facts
from evalkit_lmbuild.proof import breaking
from evalkit_lmbuild.proof.running import Proof, findings, object_names, prove, written_reasons
from evalkit_lmbuild.proof.scores import SCORED
from evalkit_lmbuild.proof.tables import all_tables, averages
from evalkit_lmbuild.proof.variants import VARIANTS
from evalkit_lmbuild.tasks import embedded_document

NO_REASONS: dict[str, Any] = {"references": {}}
WHOLE = dict.fromkeys(SCORED, 1.0)


def facts(name: str) -> ObjectFacts:
    document = embedded_document(name)
    assert document is not None
    return object_facts(document)


def reference(name: str) -> Design:
    found = facts(name).reference
    assert found is not None
    return found


@pytest.fixture(scope="module")
def box() -> Proof:
    return prove("keepsake_box")


def test_a_hinged_box_is_proven(box: Proof) -> None:
    assert [name for name, scores in box.variants.items() if scores is None] == []
    assert min(value for value in box.reference.values() if value is not None) >= 0.9
    assert findings([box], NO_REASONS) == []
    assert all(mean >= 0.9 for mean in averages([box]).values())


def test_its_tables(box: Proof) -> None:
    references, variants, reasons, cases = all_tables([box], findings([box], NO_REASONS))
    assert [row[0] for row in references.rows] == ["keepsake_box", "mean"]
    assert len(variants.rows) == len(reasons.rows) == len(VARIANTS)
    reversed_ = next(row for row in variants.rows if row[0] == "sequence reversed")
    assert str(reversed_[2 + SCORED.index("R.1")]).startswith("−0.")
    assert reversed_[2 + SCORED.index("S.1")] == "0"
    assert cases.rows == ()


def test_a_stool_can_not_be_broken_at_joints_that_it_lacks() -> None:
    found = prove("milking_stool", ["joint axis turned", "motion blocked", "sequence reversed"])
    assert found.variants["joint axis turned"] is None
    assert found.variants["motion blocked"] is None
    assert findings([found], NO_REASONS) == []


def test_what_is_not_as_it_should_be_is_found() -> None:
    lazy = WHOLE | {"R.1": 0.95}
    wide = WHOLE | {"R.1": 0.2, "S.1": 0.9, "A.3": None}
    found = findings(
        [
            Proof("one", "hinged", WHOLE | {"A.2": 0.65}, {"sequence reversed": lazy | {"A.2": 0.65}}),
            Proof("two", "hinged", WHOLE, {"sequence reversed": wide}),
        ],
        {"references": {"one": {"A.2": "hidden parts"}}, "sequence reversed": {"two": {"S.1": "why"}}},
    )
    assert [(each.variant, each.object, each.metric, each.reason) for each in found] == [
        ("reference", "one", "A.2", "hidden parts"),
        ("sequence reversed", "one", "R.1", ""),
        ("sequence reversed", "two", "S.1", "why"),
        ("sequence reversed", "two", "A.3", ""),
    ]


def test_what_may_change_may_not_rise() -> None:
    before = WHOLE | {"A.3": 0.9, "R.3": 0.8}
    higher = before | {"A.3": 0.92, "R.3": 0.9, "S.1": 0.5, "D.1": 0.5, "D.3": 0.5}
    (found,) = findings([Proof("one", "", before, {"parts sawn": higher})], NO_REASONS)
    assert (found.metric, found.should) == ("R.3", "rise by at most 0.03")


def test_metrics_that_do_not_apply_have_nothing_to_fall() -> None:
    before = WHOLE | {"A.3": None}
    assert findings([Proof("one", "", before, {"joints frozen": before | {"R.3": 0.5}})], NO_REASONS) == []


def test_every_metric_has_a_variant_that_it_has_to_fall_for() -> None:
    assert {metric for variant in VARIANTS for metric in variant.must} == set(SCORED)
    for variant in VARIANTS:
        assert not set(variant.must) & variant.may.keys()
        assert variant.what.endswith(".")


def test_written_reasons_are_of_objects_variants_and_metrics_that_exist() -> None:
    names, kinds = set(object_names()), {"references", *(variant.name for variant in VARIANTS)}
    for kind, objects in written_reasons().items():
        assert kind in kinds
        for name, reasons in objects.items():
            assert name in names
            assert reasons.keys() <= set(SCORED)
            assert all(reasons.values())


def test_sawing_keeps_volume_and_bounds() -> None:
    whole = reference("keepsake_box")
    sawn = breaking.parts_sawn(whole, facts("keepsake_box"))
    assert sawn is not None
    assert len(sawn.parts) == 2 * len(whole.parts)
    for one, other in zip(whole.bounds, sawn.bounds, strict=True):
        assert np.allclose(one, other)
    assert {name for joint in sawn.joints for name in (joint.parent, joint.child)} <= sawn.by_id.keys()


def test_a_skew_axis_is_far_from_the_old_one() -> None:
    turned = breaking.axis_turned(reference("keepsake_box"), facts("keepsake_box"))
    assert turned is not None
    pairs = zip(reference("keepsake_box").joints, turned.joints, strict=True)
    changed = [(np.array(a.axis), np.array(b.axis)) for a, b in pairs if a.axis != b.axis]
    assert len(changed) == 1
    assert abs(changed[0][0] @ changed[0][1]) < np.cos(np.radians(50))
