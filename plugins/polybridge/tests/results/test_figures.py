"""Figures and published tables of real runs, through the commands; the same bytes every time."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from evalkit_polybridge.figures.canvas import Canvas, shortened, text_width
from evalkit_polybridge.figures.charts import efficiency
from evalkit_polybridge.levelfiles import export_level
from evalkit_polybridge.levels.catalogue import load
from evalkit_polybridge.measures import Planned

LEVELS = ("T1B_Basic_06m", "T2A_SlopeUp_08m_Up3m", "T4D_Elevated_10m_E0p5m_3PG", "G5_Slope_Multi2_08m_Up1m")
NAMES = ("by_call", "capabilities", "composition", "efficiency", "errors")


def evalkit(
    folder: Path, *arguments: str, code: int = 0, columns: str = "200"
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": columns},
        timeout=240,
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a strict and a loose run of four levels by two agents."""
    folder = tmp_path_factory.mktemp("figures")
    wanted = [part for level in LEVELS for part in ("--id", level)]
    for condition in ("strict", "loose"):
        suite = f"polybridge.{condition}"
        agents = ("--agent", "truss", "--agent", "flat")
        evalkit(folder, "run", suite, *wanted, *agents, "-j", "1", "-o", condition)
        (run,) = (folder / condition).iterdir()
        run.rename(folder / f"{condition}-run")
    return folder


@pytest.fixture(scope="module")
def figures(folder: Path) -> Path:
    evalkit(folder, "polybridge", "figures", "strict-run", "loose-run", "-o", "figures")
    return folder / "figures"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_every_figure_is_a_picture_a_drawing_and_its_numbers(figures: Path) -> None:
    assert sorted(contents(figures)) == sorted(
        f"{name}.{kind}" for name in NAMES for kind in ("svg", "png", "csv")
    )
    for name in NAMES:
        drawing = ET.fromstring((figures / f"{name}.svg").read_bytes())
        with Image.open(figures / f"{name}.png") as picture:
            assert picture.size == (2 * int(drawing.attrib["width"]), 2 * int(drawing.attrib["height"]))


def test_the_same_records_give_the_same_bytes(folder: Path, figures: Path) -> None:
    moved = folder / "elsewhere"
    for run in ("strict-run", "loose-run"):
        shutil.copytree(folder / run, moved / run, ignore=shutil.ignore_patterns("scores"))
    evalkit(moved, "polybridge", "figures", "strict-run", "loose-run", "-o", "again")
    assert contents(moved / "again") == contents(figures)


def test_nothing_lies_outside_the_picture(figures: Path) -> None:
    for name in NAMES:
        drawing = ET.fromstring((figures / f"{name}.svg").read_bytes())
        width, height = float(drawing.attrib["width"]), float(drawing.attrib["height"])
        for text in drawing.iter("{http://www.w3.org/2000/svg}text"):
            x, size = float(text.attrib["x"]), int(text.attrib["font-size"])
            long = text_width(text.text or "", size)
            left = x - {"start": 0.0, "middle": long / 2, "end": long}[text.attrib["text-anchor"]]
            assert left >= 0, (name, text.text)
            assert left + long <= width, (name, text.text)
            assert 0 < float(text.attrib["y"]) < height


def test_the_numbers_beside_a_figure(figures: Path) -> None:
    with open(figures / "by_call.csv", newline="") as file:
        rows = {(row["row"], row["column"]): row for row in csv.DictReader(file)}
    assert rows["truss / strict", "Success@3"]["value"] == "1.0"
    assert rows["truss / strict", "Success@3"]["denominator"] == "4"
    # A bare deck can't be led around the rock of T4D.
    assert rows["flat / strict", "Valid@3"]["numerator"] == "3"
    assert rows["flat / loose", "Success@3"]["numerator"] == "0"


def test_a_figure_that_the_runs_do_not_make_is_named(folder: Path) -> None:
    told = evalkit(folder, "polybridge", "figures", "strict-run", "-o", "strict-figures", "--json")
    document = json.loads(told.stdout)
    assert document["left_out"] == {"efficiency": "no agent has runs under both strict and loose budgets"}
    assert document["episodes_without_result"] == 0
    assert {Path(path).name for path in document["files"]} == set(contents(folder / "strict-figures"))
    assert len(document["files"]) == 4 * 3
    assert document["from_before"] == []


def test_a_figure_from_before_is_named_and_stays(folder: Path, figures: Path) -> None:
    shutil.copytree(figures, folder / "reused")
    told = evalkit(folder, "polybridge", "figures", "strict-run", "-o", "reused")
    assert told.stderr.splitlines()[-1] == (
        "reused still holds efficiency.svg, efficiency.png, efficiency.csv from before: not of these runs, "
        "delete them"
    )
    assert contents(folder / "reused")["efficiency.svg"] == contents(figures)["efficiency.svg"]


def test_another_protocol_has_a_row_of_its_own(folder: Path) -> None:
    """An ablation is neither counted with the run it is compared to nor refused beside it."""
    for condition in ("strict", "loose"):
        words = [f"polybridge.{condition}", "--id", LEVELS[0], "--agent", "truss", "-o", "ablation"]
        evalkit(folder, "run", *words, "-T", "feedback_frames=0", "-j", "1")
    runs = ["strict-run", "loose-run", *(f"ablation/{run.name}" for run in (folder / "ablation").iterdir())]
    tables = json.loads(evalkit(folder, "polybridge", "tables", *runs, "--json").stdout)
    rows = {tuple(row[:2]): row[2] for row in tables["polybridge.main"]["rows"]}
    assert rows["truss", "strict"] == len(LEVELS)
    assert rows["truss", "strict (feedback_frames=0)"] == rows["truss", "loose (feedback_frames=0)"] == 1
    evalkit(folder, "polybridge", "figures", *runs, "-o", "ablated")
    assert "truss (feedback_frames=0)</text>" in (folder / "ablated" / "efficiency.svg").read_text()


def test_levels_from_elsewhere_have_rows_of_their_own(folder: Path) -> None:
    """Held-out levels and those of a folder are never counted as the suite's own."""
    entry = load("strict")[0]
    (folder / "mine").mkdir()
    export_level(replace(entry.level, name="Mine"), entry.meta, folder / "mine")
    for options in (
        ["-T", "tasks.levels=heldout", "-T", 'tasks.names=["H_T1B_Basic_01"]'],
        ["-T", "tasks.folder=mine"],
    ):
        evalkit(folder, "run", "polybridge.strict", *options, "--agent", "truss", "-j", "1", "-o", "others")
    runs = ["strict-run", *(f"others/{run.name}" for run in (folder / "others").iterdir())]
    (table,) = (
        found
        for name, found in json.loads(evalkit(folder, "polybridge", "tables", *runs, "--json").stdout).items()
        if name == "polybridge.main"
    )
    assert {row[1]: row[2] for row in table["rows"] if row[0] == "truss"} == {
        "strict": len(LEVELS),
        "strict (levels=heldout)": 1,
        "strict (folder=mine)": 1,
    }
    assert "The rows are of different levels" in table["note"]


@pytest.fixture(scope="module")
def halves(folder: Path) -> list[Path]:
    """Two runs of one agent, a level each."""
    for level in LEVELS[:2]:
        evalkit(
            folder, "run", "polybridge.strict", "--agent", "flat", "-j", "1", "-o", "halves", "--id", level
        )
    return sorted((folder / "halves").iterdir())


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("agent", lambda run: run["agents"][0].update(version="0")),
        ("executors", lambda run: run["executors"]["polybridge.embedded"].update(version="0")),
    ],
    ids=["agent", "executors"],
)
def test_what_no_row_can_hold_together_is_refused(halves: list[Path], part: str, change: Any) -> None:
    one, other = halves
    changed = Path(shutil.copytree(other, other.parent.with_name(part)))
    manifest = json.loads((changed / "run.json").read_text())
    change(manifest)
    (changed / "run.json").write_text(json.dumps(manifest))
    told = evalkit(one.parent, "polybridge", "tables", str(one), str(changed), code=2).stderr
    assert f"are of flat under strict and differ in {part}: leave one of the runs out" in told


def test_runs_of_one_protocol_are_counted_together(halves: list[Path]) -> None:
    tables = json.loads(evalkit(halves[0].parent, "polybridge", "tables", *map(str, halves), "--json").stdout)
    assert [row[:3] for row in tables["polybridge.main"]["rows"]] == [["flat", "strict", 2]]


def test_the_published_tables(folder: Path) -> None:
    text = evalkit(folder, "polybridge", "tables", "strict-run", "loose-run").stdout
    for title in (
        "Main results",
        "Valid and Success by call",
        "Success@3 by capability group",
        "Recovery and resources",
        "What designs fail on, as shares of all recorded errors",
        "How episodes end",
        "Efficiency",
        "What was played",
    ):
        assert f"{title}\n" in text
    latex = evalkit(folder, "polybridge", "tables", "strict-run", "--format", "latex").stdout
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 8
    tables = json.loads(evalkit(folder, "polybridge", "tables", "strict-run", "loose-run", "--json").stdout)
    main = tables["polybridge.main"]
    found = {tuple(row[:2]): dict(zip(main["columns"], row, strict=True)) for row in main["rows"]}
    assert set(found) == {(a, c) for a in ("truss", "flat") for c in ("strict", "loose")}
    levels = found["truss", "strict"]
    assert levels["Level 1 Success@3"]["denominator"] == 3
    assert levels["Level 2 Success@3"]["denominator"] == 1
    assert levels["overall Success@3"]["denominator"] == 4
    ends = {tuple(row[:3]): row[3:] for row in tables["polybridge.ends"]["rows"]}
    assert tables["polybridge.ends"]["columns"][3:] == ["crossed", "lost", "refused: CLEARANCE"]
    assert [cell["numerator"] for cell in ends["flat", "strict", "T4 dynamic load"]] == [0, 0, 1]


def test_an_episode_is_counted_once(folder: Path) -> None:
    shutil.copytree(folder / "strict-run", folder / "copy")
    done = evalkit(folder, "polybridge", "tables", "strict-run", "copy", code=2)
    assert "strict-run and copy both hold truss/" in done.stderr
    assert done.stdout == ""


def test_trace_from_the_command(folder: Path) -> None:
    table = evalkit(folder, "polybridge", "trace", "strict-run").stdout
    assert "T1B_Basic_06m" in table
    assert "FFF" in table
    done = evalkit(folder, "polybridge", "trace", "strict-run", "flat/T4D", "-o", "sheet.png")
    assert done.stdout.startswith(f"flat/{LEVELS[2]}/strict/1   VVV   budget")
    assert "since call 1: the same design" in done.stdout
    sheet = (folder / "sheet.png").read_bytes()
    assert sheet.startswith(b"\x89PNG")
    (folder / "sheet.png").write_bytes(b"mine")
    words = ["polybridge", "trace", "strict-run", "flat/T4D", "-o"]
    assert "sheet.png exists; --force replaces it" in evalkit(folder, *words, "sheet.png", code=2).stderr
    assert (folder / "sheet.png").read_bytes() == b"mine"
    evalkit(folder, *words, "sheet.png", "--force")
    assert (folder / "sheet.png").read_bytes() == sheet
    assert "ends with .png" in evalkit(folder, *words, "sheet.svg", code=2).stderr
    several = evalkit(folder, "polybridge", "trace", "strict-run", "T4D", code=2)
    assert "fits 2 episodes" in several.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="files have no largest size there")
def test_a_file_that_can_t_be_written_is_not_there_in_half(tmp_path: Path) -> None:
    (tmp_path / "old.png").write_bytes(b"before")
    program = (
        "import resource, signal, sys; from pathlib import Path; from evalkit import UsageError\n"
        "from evalkit_polybridge.figures.files import write_file\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "for name in ('new.png', 'old.png'):\n"
        "    try: write_file(Path(sys.argv[1]) / name, bytes(5000))\n"
        "    except UsageError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.count("can't write") == 2
    assert contents(tmp_path) == {"old.png": b"before"}


def test_both_ends_of_an_arrow_without_length_are_seen(episode_of: Any, task_of: Any) -> None:
    """An agent that does the same under both budgets: a ring around a disc."""
    systems = {
        ("flat", name): [Planned.of(episode_of("S", condition=name), task_of(budget_name=name))]
        for name in ("strict", "loose")
    }
    drawing = ET.fromstring(efficiency(systems).svg())
    ring, disc = (element.attrib for element in drawing.iter("{http://www.w3.org/2000/svg}circle"))
    assert (ring["cx"], ring["cy"]) == (disc["cx"], disc["cy"])
    assert float(ring["r"]) - float(disc["r"]) >= 2.0
    texts = list(drawing.iter("{http://www.w3.org/2000/svg}text"))
    assert max(float(text.attrib["x"]) for text in texts) > 0.9 * float(drawing.attrib["width"])


def test_a_run_named_twice_counts_once(folder: Path) -> None:
    twice = evalkit(folder, "polybridge", "tables", "strict-run", str(folder / "strict-run"), "--json").stdout
    assert twice == evalkit(folder, "polybridge", "tables", "strict-run", "--json").stdout


def test_dashes_discs_and_hostile_texts_are_drawn() -> None:
    canvas = Canvas(80, 40, 'a <title> & "more"')
    canvas.line([(0, 20), (80, 20)], (0, 0, 0), 2.0, dashed=True)
    canvas.disc((40, 20), 6, (200, 0, 0))
    canvas.text((2, 8), "<b>&", 10, (0, 0, 0))
    drawing = ET.fromstring(canvas.svg())
    assert [element.text for element in drawing if element.tag.endswith(("title", "text"))] == [
        'a <title> & "more"',
        "<b>&",
    ]
    assert canvas.png() == canvas.png()


def test_long_names_keep_their_ends() -> None:
    short = shortened("provider/family/a-model-with-a-long-name-2026", 12, 120)
    assert short.startswith("…")
    assert short.endswith("name-2026")
    assert text_width(short, 12) <= 120
    assert shortened("flat", 12, 120) == "flat"
