"""Figures: each is drawn to the same bytes, its CSV has its numbers, and its parts keep apart."""

from __future__ import annotations

import csv
import io
import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import results_scenes as scenes
from PIL import Image

from evalkit import UsageError
from evalkit.errors import UnknownNameError
from evalkit_brickbench import published
from evalkit_brickbench.figures import charts, plots
from evalkit_brickbench.figures.canvas import Canvas, shortened, text_width, wrapped
from evalkit_brickbench.figures.files import figures_of, write_figures
from evalkit_brickbench.figures.question_graph import BOX_H, BOX_W, Slot, arranged, layers, question_graph
from evalkit_brickbench.figures.style import log_scale, scale_of
from evalkit_brickbench.results import Outcomes
from evalkit_brickbench.tasks import embedded
from evalkit_brickbench.tasks.schema import Question

SVG = "{http://www.w3.org/2000/svg}"
NAMES = [
    "metrics",
    "elo_cost",
    "vqa_by_category",
    "vqa_by_subtype",
    "question_types",
    "question_graph",
    "part_counts",
    "contents",
    "gallery",
    "reasons",
]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    written, left_out = write_figures(scenes.world(), scenes.ratings(), folder)
    assert left_out == {}
    return {path.name: path.read_bytes() for path in written}


def texts(svg: bytes) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def test_there_are_ten_figures_of_three_files_each(drawn):
    assert list(drawn) == [f"{name}{suffix}" for name in NAMES for suffix in (".svg", ".png", ".csv")]
    for name in NAMES:
        root = ET.fromstring(drawn[f"{name}.svg"])
        with Image.open(io.BytesIO(drawn[f"{name}.png"])) as image:
            assert image.size == (2 * int(root.get("width")), 2 * int(root.get("height")))
            assert len(np.unique(np.asarray(image.convert("L")))) > 20
        assert rows(drawn[f"{name}.csv"])


def test_the_same_outcomes_give_the_same_bytes(drawn, tmp_path):
    written, _ = write_figures(scenes.world(), scenes.ratings(), tmp_path)
    assert {path.name: path.read_bytes() for path in written} == drawn


def test_texts_stay_on_the_canvas_and_apart(drawn):
    for name in NAMES:
        root = ET.fromstring(drawn[f"{name}.svg"])
        width, height = float(root.get("width")), float(root.get("height"))
        boxes = [box(element) for element in root.iter(f"{SVG}text") if element.text]
        for left, top, right, bottom, text in boxes:
            assert left >= -1, (name, text)
            assert right <= width + 1, (name, text)
            assert top >= 0, (name, text)
            assert bottom <= height, (name, text)
        for number, one in enumerate(boxes):
            for other in boxes[number + 1 :]:
                apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
                assert apart, (name, one, other)


def box(element: ET.Element) -> tuple[float, float, float, float, str]:
    """Left, top, right and bottom of a text, a little inside of what it takes."""
    size, text = int(element.get("font-size")), element.text or ""
    width = text_width(text, size) / 1.04 - 1
    anchor = {"start": 0.0, "middle": 0.5, "end": 1.0}[element.get("text-anchor")]
    left = float(element.get("x")) - anchor * width
    baseline = float(element.get("y"))
    return left, baseline - 0.72 * size, left + width, baseline + 0.1 * size, text


def test_numbers_stand_in_the_csv(drawn):
    metrics = {(row["row"], row["column"]): row for row in rows(drawn["metrics.csv"])}
    assert metrics["ann", "Valid"]["value"] == "1.0"
    assert float(metrics["ann", "ELO"]["low"]) < float(metrics["ann", "ELO"]["value"])
    parts = [row for row in rows(drawn["part_counts.csv"]) if row["row"].startswith("set")]
    assert [row["value"] for row in parts] == ["500"]
    graph = {
        (row["row"].split(" / ")[0], row["column"]): row["value"] for row in rows(drawn["question_graph.csv"])
    }
    assert (graph["tower", "depth"], graph["top", "depth"]) == ("0", "2")
    gallery = rows(drawn["gallery.csv"])
    assert {row["value"] for row in gallery if row["column"] == "verdict"} >= {
        "valid",
        "missing",
        "collision",
    }


def test_figures_say_what_their_numbers_are_over(drawn):
    """Valid is over all prompts, VQA over fewer, ELO over duels: side by side, none passes for another."""
    shown = texts(drawn["metrics.svg"])
    assert {"100%, n=3", "0.83, n=3", "0.25, n=2"} <= set(shown)
    assert "ELO, duels on 2 of 3 prompts" in shown
    assert any(text.endswith(", n=8") for text in shown)  # two tasks, two questions, two orders
    assert {"n=1 to 2", "n=1"} & set(texts(drawn["vqa_by_category.svg"]))
    assert any(text.startswith("n=1 to ") for text in texts(drawn["vqa_by_subtype.svg"]))
    metrics = {(row["row"], row["column"]): row for row in rows(drawn["metrics.csv"])}
    assert metrics["ann", "ELO"]["denominator"] == "8"


def test_costs_are_list_prices_only_where_they_were_recorded():
    found, ratings = scenes.world(), scenes.ratings()
    for given, note in (
        (set(), "at list prices"),
        ({"ann"}, ", recorded or as given"),
        ({"ann", "bob"}, " as given"),
    ):
        svg = plots.elo_cost(replace(found, priced=frozenset(given)), ratings).svg()
        assert any(note in text for text in texts(svg)), given
    told = published.main(replace(found, priced=frozenset({"ann"})), ratings).note
    assert "as given for ann, else at recorded list prices" in told


def test_what_there_is_nothing_for_is_left_out(tmp_path):
    found = Outcomes((scenes.outcome("net", "t1", contents=None),), ())
    _, left_out = write_figures(found, {}, tmp_path)
    assert set(left_out) == {
        "elo_cost",
        "vqa_by_category",
        "vqa_by_subtype",
        "part_counts",
        "contents",
        "gallery",
    }
    with pytest.raises(UsageError, match="nothing to draw"):
        write_figures(Outcomes((), ()), {}, tmp_path)
    with pytest.raises(UnknownNameError, match="t9"):
        figures_of(found, {}, "t9")


def test_systems_stand_in_the_order_of_their_ratings():
    assert charts.ranked(scenes.world(), scenes.ratings()) == ["ann", "bob", "cy", "ann (ldraw)"]


def test_strange_names_are_shown_whole_or_cut_in_the_middle():
    name = "x" * 90 + "end"
    cut = shortened(name, 12, 100)
    assert text_width(cut, 12) <= 100
    assert cut.startswith("xx")
    assert cut.endswith("end")
    canvas = Canvas(100, 50, "<&>")
    canvas.text((5, 5), "<script>&", 12, (0, 0, 0))
    assert texts(canvas.svg()) == ["<script>&"]


def test_texts_wrap():
    assert wrapped("one two three", 12, 60, 5) == ["one two", "three"]
    cut = wrapped("one two three four five six", 12, 60, 2)
    assert (len(cut), cut[-1][-1]) == (2, "…")


# Scales and densities


@pytest.mark.parametrize(
    ("values", "from_zero", "ticks"),
    [
        ([3.0, 97.0], True, [0, 25, 50, 75, 100]),
        ([912.0, 1270.0], False, [900, 1000, 1100, 1200, 1300]),
        ([0.0], True, [0, 0.25, 0.5, 0.75, 1]),
        ([], True, [0, 0.25, 0.5, 0.75, 1]),
    ],
)
def test_scales_have_round_ticks_around_the_values(values, from_zero, ticks):
    scale = scale_of(values, from_zero=from_zero)
    assert [value for value, _ in scale.ticks] == pytest.approx(ticks)
    assert (scale.low, scale.high) == pytest.approx((ticks[0], ticks[-1]))


def test_a_log_scale_has_ticks_of_1_2_and_5():
    assert [text for _, text in log_scale([0.9, 60]).ticks] == ["1", "2", "5", "10", "20", "50"]


def test_a_density_is_one_and_lies_where_the_builds_are():
    at = np.linspace(-1, 6, 4000)
    found = plots.density([100, 120, 150, 1000], at)
    assert np.trapezoid(found, at) == pytest.approx(1, abs=1e-3)
    assert 10 ** at[found.argmax()] == pytest.approx(125, rel=0.2)
    spike = plots.density([400, 400], at)
    assert np.trapezoid(spike, at) == pytest.approx(1, abs=1e-3)
    assert spike.max() == pytest.approx(1 / (plots.LEAST_BANDWIDTH * math.sqrt(2 * math.pi)), rel=1e-2)


# Question graphs


def test_layers_and_lines_that_pass_them():
    def question(key: str, *depends: str) -> Question:
        return Question(key, f"{key}?", "entity", "part", depends)

    graph = [question("a"), question("b", "a"), question("c", "b"), question("d", "a", "c"), question("e")]
    assert [[q.key for q in layer] for layer in layers(graph)] == [["a", "e"], ["b"], ["c"], ["d"]]
    columns = arranged(graph)
    assert set(columns[1]) == {Slot("b"), Slot("a", "d")}
    assert set(columns[2]) == {Slot("c"), Slot("a", "d")}


@pytest.mark.parametrize("setting", ["model", "set", "alt-build"])
def test_every_graph_can_be_drawn_without_boxes_on_boxes(setting):
    for prompt in embedded.prompts(setting):
        canvas = question_graph(prompt.id, prompt.prompt, prompt.questions)
        root = ET.fromstring(canvas.svg())
        corners = [
            tuple(map(float, p.get("points").split()[0].split(","))) for p in root.iter(f"{SVG}polygon")
        ]
        boxes = sorted({corner for corner in corners if corners.count(corner) == 2})
        assert len(boxes) == len(prompt.questions)
        for (x1, y1), (x2, y2) in pairwise(boxes):
            assert x2 - x1 >= BOX_W or y2 - y1 >= BOX_H, prompt.id
