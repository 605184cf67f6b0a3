"""Records of constants: complete, JSON, and different where a constant is."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

import evalkit_lmbuild
from evalkit_lmbuild import lexicon_words
from evalkit_lmbuild.kernel import field, sweeps, tilt, voxels
from evalkit_lmbuild.operability import constants as of_operability
from evalkit_lmbuild.recorded import constants_of, is_constant, plain
from evalkit_lmbuild.scoring import constants as of_geometry
from evalkit_lmbuild.scoring import kinematics, structure

PACKAGE = Path(evalkit_lmbuild.__file__).parent
ELSEWHERE = {
    "kernel.warming": "compiles",
    "scoring.rubrics": "judges record their rubrics themselves",
    "scoring.constants": "lists of modules",
    "operability.constants": "lists of modules",
    "operability.whole": "the names of the metric's kinds",
    "scoring.lacking": "words of reasons, no numbers",
}


def modules(*folders: str) -> list[str]:
    """Modules in folders of the package, by dotted name."""
    found = [
        f"{folder}.{path.stem}" for folder in folders for path in sorted((PACKAGE / folder).glob("*.py"))
    ]
    return [name for name in found if name not in ELSEWHERE and not name.endswith("__init__")]


def missing(record: dict[str, object], names: list[str]) -> list[str]:
    """Constants of modules that a record doesn't hold with their values."""
    held = {
        (key, repr(value))
        for values in record.values()
        if isinstance(values, dict)
        for key, value in values.items()
    }
    return [
        f"{name}.{key}"
        for name in names
        for key, value in vars(import_module(f"evalkit_lmbuild.{name}")).items()
        if is_constant(key, value) and (key, repr(plain(value))) not in held
    ]


def test_every_constant_of_what_computes_metrics_is_recorded() -> None:
    record = of_geometry.as_dict()
    assert missing(record, [*modules("kernel", "scoring", "csg"), "lexicon_words", "lexicon"]) == []
    json.dumps(record, allow_nan=False)


def test_every_constant_of_operability_is_recorded() -> None:
    record: dict[str, object] = {}
    for engine in ("mujoco", "pybullet"):
        record |= of_operability.as_dict(engine)  # type: ignore[arg-type]
    assert missing(record, [*modules("kernel", "operability", "simulation"), "human_checks"]) == []


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (tilt, "BAND", 0.006),
        (tilt, "AZIMUTHS", 360),
        (sweeps, "CLEARANCE", 0.06),
        (sweeps, "UPWARD", 0.4),
        (structure, "OVERSIZE", 6.0),
        (structure, "DEFAULT_TILT_DEG", 20.0),
        (voxels, "WORD_LIMIT", 1),
        (voxels, "TOTAL_CELLS", 1e8),
        (field, "OPEN_SHARE", 0.06),
        (kinematics, "AXIS_DEG", (10.0, 31.0)),
        (kinematics, "CENTRE_OFFSET", (0.7, 0.2)),
        (lexicon_words, "SYNONYMS", lexicon_words.SYNONYMS + "\nsprocket: cog"),
        (lexicon_words, "IRREGULAR", {**lexicon_words.IRREGULAR, "oxen": "ox"}),
    ],
)
def test_another_value_is_another_record(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, value: object
) -> None:
    before = of_geometry.as_dict()
    monkeypatch.setattr(module, name, value)
    assert of_geometry.as_dict() != before


def test_a_constant_that_no_module_lists_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tilt, "SLOPE_SHARE", 0.5, raising=False)
    assert missing(constants_of(["kernel.voxels"]), ["kernel.voxels"]) == []
    assert "kernel.tilt.SLOPE_SHARE" in missing(constants_of(["kernel.voxels"]), ["kernel.tilt"])
