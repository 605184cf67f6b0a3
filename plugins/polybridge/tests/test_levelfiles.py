"""Levels as files: a folder of triplets comes back as it was written, and broken ones are named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalkit import UsageError
from evalkit_polybridge.context import context
from evalkit_polybridge.designs import level_from_inputs
from evalkit_polybridge.graph import Bridge, Level, LevelMeta, Node, Platform, Region
from evalkit_polybridge.levelfiles import SUFFIXES, LevelFileError, export_level, read_folder
from evalkit_polybridge.savefile import new_layout, read_layout
from evalkit_polybridge.tasks import load_tasks

META = LevelMeta("T2E", "T2", "core", ("platform", "slope"), {"gaps": [6, 4, 6], "surface_y": 1.0})
LEVEL = Level(
    name="T2E_Platform-6.4",
    span_m=16.0,
    dy_m=1.0,
    anchors=(
        Node(1, 0.0, 0.0, True),
        Node(2, 16.0, 1.0, True),
        Node(3, 6.0, 1.0, True),
        Node(4, 10.0, 1.0, True),
    ),
    vehicles_pg=(3.0,),
    materials=(1, 2, 3),
    budget=12_345.67,
    platforms=(Platform(6.0, 10.0, 1.0, -5.0, (3, 4)),),
    regions=(Region(((13.0, -2.0), (11.0, -7.0), (15.0, -7.0))),),
)


def test_a_folder_comes_back_as_it_was_written(tmp_path: Path) -> None:
    other = replace(LEVEL, name="A_first", regions=(), platforms=(), vehicles_pg=(3.0, 9.0))
    for level in (LEVEL, other):
        export_level(level, META, tmp_path / "set")
    (tmp_path / "set" / "README.txt").write_text("not a level")
    assert read_folder(tmp_path / "set") == [(other, META), (LEVEL, META)]


def test_the_strict_budget_comes_back(tmp_path: Path) -> None:
    meta = replace(META, strict_budget=9_500.0)
    export_level(replace(LEVEL, budget=50_000.0), meta, tmp_path)
    assert read_folder(tmp_path) == [(replace(LEVEL, budget=50_000.0), meta)]


@pytest.mark.parametrize(
    ("option", "budget"), [({}, 50_000.0), ({"budget": "strict"}, 9_500.0), ({"budget": "loose"}, 50_000.0)]
)
def test_costs_of_a_folder_are_compared_to_its_strict_budgets(
    tmp_path: Path, option: dict[str, str], budget: float
) -> None:
    export_level(replace(LEVEL, budget=50_000.0), replace(META, strict_budget=9_500.0), tmp_path)
    (task,) = load_tasks({"levels": "main", "folder": str(tmp_path), **option}, {})
    assert level_from_inputs(task.inputs).budget == budget
    assert task.hidden["strict_budget"] == 9_500.0
    assert task.hidden["budget_name"] == option.get("budget", "own")


def test_without_a_strict_budget_the_own_one_is_it(tmp_path: Path) -> None:
    export_level(LEVEL, META, tmp_path)
    (task,) = load_tasks({"folder": str(tmp_path), "budget": "loose"}, {})
    assert task.hidden["strict_budget"] == LEVEL.budget


def test_a_folder_has_no_tight_budgets(tmp_path: Path) -> None:
    export_level(LEVEL, META, tmp_path)
    with pytest.raises(UsageError, match="'own', 'strict' or 'loose'"):
        load_tasks({"folder": str(tmp_path), "budget": "tight"}, {})


def test_a_folder_can_be_cut_by_suite(tmp_path: Path) -> None:
    export_level(LEVEL, META, tmp_path)
    assert load_tasks({"folder": str(tmp_path), "suite": "compositional"}, {}) == []


def test_the_three_files_and_nothing_else(tmp_path: Path) -> None:
    paths = export_level(LEVEL, META, tmp_path)
    assert sorted(paths) == sorted(tmp_path.iterdir())
    assert [path.name for path in paths] == [LEVEL.name + suffix for suffix in SUFFIXES]
    layout, save, visible = (path.read_text(encoding="utf-8") for path in paths)
    assert read_layout(layout).bridge == LEVEL.empty_bridge()
    assert json.loads(save)["DisplayName"] == LEVEL.name
    document = json.loads(visible)
    assert list(document) == ["context", "analysis"]
    assert document["context"] == context(LEVEL)
    assert document["analysis"]["gaps_m"] == [6.0, 6.0]


def test_what_a_model_sees_tells_nothing_of_the_analysis(tmp_path: Path) -> None:
    other = LevelMeta("G6", "G", "compositional", (), {})
    texts = []
    for meta in (META, other):
        *seen, visible = export_level(LEVEL, meta, tmp_path)
        texts.append([json.loads(visible.read_text())["context"], *(path.read_text() for path in seen)])
    assert texts[0] == texts[1]


def test_writing_again_replaces(tmp_path: Path) -> None:
    export_level(LEVEL, META, tmp_path)
    export_level(replace(LEVEL, budget=9_000.0), META, tmp_path)
    assert [level.budget for level, _ in read_folder(tmp_path)] == [9_000.0]


def test_a_triplet_around_a_layout_of_the_game_works(tmp_path: Path) -> None:
    layout, *others = export_level(LEVEL, META, tmp_path)
    native = {"terrain": {"pillars": [1, 2]}, **json.loads(layout.read_text()), "version": 26}
    layout.write_text(json.dumps(native), encoding="utf-8-sig")
    for path in others:
        path.write_text(path.read_text(encoding="utf-8"), encoding="utf-8-sig")  # as Windows editors do
    assert read_folder(tmp_path) == [(LEVEL, META)]


@pytest.mark.parametrize("name", ["", "../up", "a/b", "a:b", ".hidden", "with space", "naïve"])
def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LevelFileError, match="is no file name"):
        export_level(replace(LEVEL, name=name), META, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [float("nan"), {1, 2}])
def test_what_json_cannot_hold_is_refused_before_anything_is_written(tmp_path: Path, value: Any) -> None:
    with pytest.raises(LevelFileError, match="can't be written"):
        export_level(LEVEL, replace(META, parameters={"x": value}), tmp_path)
    assert list(tmp_path.iterdir()) == []


def refusal(folder: Path) -> str:
    with pytest.raises(LevelFileError) as caught:
        read_folder(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_folder_without_levels_is_refused(tmp_path: Path) -> None:
    assert "holds no level" in refusal(tmp_path)
    assert "is no folder" in refusal(tmp_path / "nowhere")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file_is_named(tmp_path: Path, suffix: str) -> None:
    export_level(LEVEL, META, tmp_path)
    (tmp_path / (LEVEL.name + suffix)).unlink()
    message = refusal(tmp_path)
    assert f"{LEVEL.name}{suffix} is missing" in message


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("data", "says"), [(b"{", "not JSON"), (b'"\xff"', "not UTF-8"), (b"[]", ""), (b'{"context": {}}', "")]
)
def test_a_broken_file_is_named(tmp_path: Path, suffix: str, data: bytes, says: str) -> None:
    export_level(LEVEL, META, tmp_path)
    (tmp_path / (LEVEL.name + suffix)).write_bytes(data)
    message = refusal(tmp_path)
    assert LEVEL.name + suffix in message
    assert says in message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("strict_budget", "9"),
        ("strict_budget", -1),
        ("family", 3),
        ("tags", "slope"),
        ("tags", [1]),
        ("parameters", None),
        ("suite", None),
    ],
)
def test_a_broken_analysis_is_named(tmp_path: Path, name: str, value: Any) -> None:
    *_, visible = export_level(LEVEL, META, tmp_path)
    document = json.loads(visible.read_text())
    document["analysis"][name] = value
    visible.write_text(json.dumps(document))
    assert f"analysis.{name}" in refusal(tmp_path)


def test_layout_and_save_have_to_agree(tmp_path: Path) -> None:
    layout, _, _ = export_level(LEVEL, META, tmp_path)
    layout.write_text(new_layout(Bridge(LEVEL.anchors[:2], ()), LEVEL.name))
    assert "is not the first save of" in refusal(tmp_path)


def test_two_levels_of_one_name_are_refused(tmp_path: Path) -> None:
    for path in export_level(LEVEL, META, tmp_path):
        path.with_name(path.name.replace(LEVEL.name, "copy")).write_bytes(path.read_bytes())
    assert f"both hold the level {LEVEL.name}" in refusal(tmp_path)
