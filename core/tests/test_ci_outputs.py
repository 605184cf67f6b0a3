"""What CI reads of runs: exit codes, JUnit files, GitHub's annotations and summary; pages and LaTeX."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evalkit.errors import ExitCode, StorageError
from evalkit.report import Column, Estimate, Rate, Table, github
from evalkit.report.formats import to_html, to_latex
from evalkit.report.junit import MOST_CHARACTERS, junit_xml
from evalkit.report.run_report import Report, run_report
from evalkit.report.systems import System
from evalkit.report.thresholds import Problem
from evalkit.store.reader import RunReader

HOSTILE = "##[error]x\x00\x1b[31m <b>&\ud800 ]]>\n::error::fake % a:b,c\r"

PLUGIN = """
from pathlib import Path

from evalkit.hookspecs import AgentSpec, BenchmarkSpec, EnvironmentSpec, ExecutorSpec, MetricSpec
from evalkit.hookspecs import ValidatorSpec, hookimpl

@hookimpl
def evalkit_benchmarks():
    return [BenchmarkSpec("towers", "Towers", "toy_towers:load_tasks")]

@hookimpl
def evalkit_suites():
    return Path(__file__).with_name("suites.yaml")

@hookimpl
def evalkit_environment(benchmark, variant):
    return EnvironmentSpec("toy_towers:Towers")

@hookimpl
def evalkit_validators(benchmark):
    return [ValidatorSpec("towers.rules", "towers_parts:Rules", "1")]

@hookimpl
def evalkit_executors(benchmark):
    return [ExecutorSpec("gravity", "towers_parts:Falls", "1")]

@hookimpl
def evalkit_metrics(benchmark):
    return [MetricSpec("towers.success", "toy_towers:Success", "Success@3", "stood in the end"),
            MetricSpec("towers.height", "toy_towers:Height", "Height", "", "mean", missing="omit", unit="m")]

@hookimpl
def evalkit_agents():
    return [AgentSpec("fixed", "towers_parts:Fixed", "always builds as high", ("towers",))]
"""

PARTS = f"""
import os

from evalkit.types import Reply, ToolCall
from toy_towers import Gravity, Positive

class Rules(Positive):
    def __init__(self, settings): pass

class Falls(Gravity):
    def __init__(self, settings): pass
    def constants(self): return {{"g_m_per_s2": os.environ.get("TOWERS_G", "9.81")}}

class Fixed:
    def __init__(self, argument, settings): self.height = argument
    def start(self, tools, seed): pass
    def act(self, observation, ctx):
        if self.height == "raise":
            raise RuntimeError({HOSTILE!r})
        return Reply((ToolCall("propose", {{"height_m": int(self.height)}}),))
"""

SUITES = """
evalkit: 1
suites:
  towers.free: &suite
    benchmark: towers
    tags: [smoke]
    agent: fixed:2
    limits: {calls: 3}
    validators: [towers.rules]
    executors: [gravity]
    metrics: [towers.success, towers.height]
  towers.gated:
    <<: *suite
    condition: gated
    thresholds: [towers.success>=0.9]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the towers as an installed plugin."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "towers_plugin.py").write_text(PLUGIN)
    (folder / "towers_parts.py").write_text(PARTS, encoding="utf-8", errors="surrogatepass")
    (folder / "suites.yaml").write_text(SUITES)
    info = folder / "evalkit_towers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evalkit-towers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[evalkit]\ntowers = towers_plugin\n")
    return folder


@pytest.fixture
def evalkit(site, tmp_path):
    """Runs the command in a folder whose registry has the group `ci.smoke`."""
    (tmp_path / "registry.yaml").write_text("evalkit: 1\ngroups: {ci.smoke: {tags: [smoke]}}\n")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("EVALKIT_", "GITHUB_"))}
    environment["PYTHONPATH"] = os.pathsep.join([str(site), str(Path(__file__).parent / "report")])
    environment["EVALKIT_PLUGINS"] = "towers"

    def call(*words, **variables):
        done = subprocess.run(
            [sys.executable, "-m", "evalkit", *map(str, words)],
            cwd=tmp_path,
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return call


def check_shape(document):
    """The usual shape of JUnit files: names, counts that add up, at most one outcome per case."""
    root = ET.fromstring(document)
    assert root.tag == "testsuites"
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in root:
        assert suite.tag == "testsuite"
        cases = suite.findall("testcase")
        assert {child.tag for child in suite} <= {"properties", "testcase"}
        counts = {"tests": len(cases)}
        for counter, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            counts[counter] = sum(case.find(tag) is not None for case in cases)
        for counter, count in counts.items():
            assert suite.get(counter) == str(count)
            totals[counter] += count
        for case in cases:
            assert case.get("classname") == suite.get("name")
            assert case.get("name")
            assert float(case.get("time")) >= 0
            assert len(case) <= 1
            assert all(child.get("message") for child in case)
    assert {counter: int(root.get(counter)) for counter in totals} == totals
    return root


# Exit codes and lines


def test_a_group_is_played_with_one_exit_code_and_one_junit_file(evalkit, tmp_path):
    done = evalkit(
        "run", "ci.smoke", "--fail-under", "success@3>=0.75", "--junitxml", "out/all.xml", "-j", "2"
    )
    assert done.returncode == ExitCode.BELOW_THRESHOLD
    lines = [line for line in done.stderr.splitlines() if line.startswith("missed")]
    assert lines == ["missed: towers.gated · fixed:2: Success@3 is 0.75 (3/4), wanted >= 0.9"]
    assert done.stdout.count("75.0 % (3/4)") == 2
    root = check_shape((tmp_path / "out/all.xml").read_bytes())
    assert [suite.get("name") for suite in root] == ["towers.free", "towers.gated"]
    assert (root.get("tests"), root.get("failures")) == ("8", "2")
    failure = root.find(".//failure")
    assert failure.get("message") == "Success@3 is 0"
    assert "outcome: F F F" in failure.text
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["all.xml"]


def test_several_suites_are_one_json_document(evalkit):
    done = evalkit("run", "ci.smoke", "-n", "1", "--format", "json")
    assert done.returncode == ExitCode.BELOW_THRESHOLD
    assert [run["suite"] for run in json.loads(done.stdout)["runs"]] == ["towers.free", "towers.gated"]


def test_errors_come_before_missed_thresholds_and_hostile_text_does_no_harm(evalkit, tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    done = evalkit(
        "run", "towers.free", "--agent", "fixed:raise", "--agent", "fixed:1", "--junitxml", "all.xml",
        "--fail-under", "towers.success>=1", "--format", "github", GITHUB_STEP_SUMMARY=str(summary),
    )  # fmt: skip
    assert done.returncode == ExitCode.EPISODE_ERRORS
    assert "missed: towers.free · fixed:raise: Success@3 has no certain value (0/0)" in done.stderr
    root = check_shape((tmp_path / "all.xml").read_bytes())
    assert (root.get("errors"), root.get("failures")) == ("4", "0")
    assert "RuntimeError" in root.find(".//error").get("message")
    assert not any(line.lstrip().startswith("::") for line in done.stderr.splitlines())
    assert "\x1b" not in done.stderr
    assert "##[" not in done.stderr
    commands = [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]
    assert [line.split("::")[1].split()[0] for line in commands] == ["error"] * 5 + [
        "warning",
        "notice",
        "notice",
    ]
    assert "::error title=towers.free::fixed:raise/T-1/default/1: agent_error: " in done.stdout
    text = summary.read_text()
    assert text.startswith("before\n### towers.free")
    assert "| Success@3 |" in text


def test_github_without_a_summary_prints_markdown(evalkit):
    done = evalkit("run", "towers.free", "-n", "1", "--format", "github")
    assert done.returncode == ExitCode.PASS
    assert done.stdout.startswith("### towers.free")
    assert done.stdout.splitlines()[-1].startswith(
        "::notice title=towers.free · fixed%3A2::Success@3 0.0 %25 (0/1)"
    )


def test_baselines_and_later_checks(evalkit, tmp_path):
    assert evalkit("run", "towers.free", "--agent", "fixed:1").returncode == 0
    worse = evalkit("run", "towers.free", "--baseline", "latest", "--max-regression", "0.02")
    assert worse.returncode == ExitCode.BELOW_THRESHOLD
    assert "regressed: towers.free · fixed:2: Success@3 went from 1 to 0.75 over the 4 tasks" in worse.stderr
    assert "failing now: T-1" in worse.stderr
    old, new = sorted((tmp_path / "runs").iterdir(), key=lambda folder: folder.stat().st_mtime_ns)
    assert evalkit("report", new, "--baseline", old, "--max-regression", "0.3").returncode == 0
    later = evalkit("report", new, "--baseline", old, "--metric", "height", "--junitxml", "later.xml")
    assert later.returncode == ExitCode.BELOW_THRESHOLD
    assert "Success@3 went from 1 to 0.75" in later.stderr
    assert evalkit("report", new, "--fail-under", "Height>2", "--fail-under", "success@3>0").returncode == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fail-under", "sucess@3>=1"], "unknown metric 'sucess@3'; did you mean Success@3"),
        (["--fail-under", "success@3>=80"], "a proportion lies between 0 and 1"),
        (["--fail-under", "success@3"], "is no threshold"),
        (["--max-regression", "0.1"], "--max-regression needs the run to compare with"),
        (["--baseline", "latest"], "there is no run under runs"),
    ],
)
def test_wrong_checks_are_found_before_anything_is_played(evalkit, tmp_path, words, message):
    done = evalkit("run", "towers.free", *words)
    assert done.returncode == ExitCode.USAGE
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_baseline_of_another_protocol_is_refused_before_anything_is_played(evalkit, tmp_path):
    evalkit("run", "towers.free", "-n", "1")
    done = evalkit("run", "towers.gated", "--baseline", "latest")
    assert done.returncode == ExitCode.USAGE
    assert "no baseline has the protocol of towers.gated" in done.stderr
    assert "differs in condition" in done.stderr
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_a_baseline_of_other_physics_is_refused_before_anything_is_played(evalkit, tmp_path):
    evalkit("run", "towers.free", "-n", "1")
    done = evalkit("run", "towers.free", "--baseline", "latest", TOWERS_G="1.62")
    assert done.returncode == ExitCode.USAGE
    assert "the constants of executor gravity differ; play a new baseline" in done.stderr
    assert len(list((tmp_path / "runs").iterdir())) == 1


# JUnit


def test_refused_calls_are_told(toy, tmp_path):
    builders = {"a": {"T-1": ["low", 9, 9]}}
    root = check_shape(junit_xml([RunReader(toy.record(tmp_path, builders))], toy.plugins()))
    text = next(root.iter("failure")).text
    assert "outcome: e F F   (V invalid, " in text
    assert "call 1: refused: propose: height_m: Input should be" in text


def test_every_outcome_has_its_element(toy, tmp_path):
    builders = {"a": {"T-1": [1], "T-2": [9, 0, 9], "T-3": [None]}}
    root = check_shape(junit_xml([RunReader(toy.record(tmp_path, builders))], toy.plugins()))
    outcomes = {case.get("name"): case[0] if len(case) else None for case in root.iter("testcase")}
    assert outcomes["a/T-1/strict/1"] is None
    assert outcomes["a/T-2/strict/1"].tag == "failure"
    assert "call 2: TOO_LOW: height 0 m" in outcomes["a/T-2/strict/1"].text
    assert outcomes["a/T-3/strict/1"].tag == "error"
    assert outcomes["a/T-3/strict/1"].get("message").startswith("agent_error: RuntimeError: no idea")
    assert (outcomes["a/T-4/strict/1"].tag, outcomes["a/T-4/strict/1"].get("message")) == (
        "skipped",
        "not played",
    )
    assert root[0].get("timestamp") == "2026-01-31T10:15:00"
    assert {p.get("name") for p in root.iter("property")} == {"run", "protocol_hash"}


@pytest.mark.parametrize(
    ("score", "tag", "message"),
    [
        ("not_applicable", "skipped", "Success@3: not applicable (why not)"),
        ("skipped", "skipped", "Success@3: skipped (why not)"),
        ("unscored", "error", "Success@3: unscored (why not)"),
    ],
)
def test_a_metric_without_a_value_decides_nothing(toy, tmp_path, monkeypatch, score, tag, message):
    monkeypatch.setattr(toy.Success, "measure", lambda *_: toy.Score(None, score, {"why": "why not"}))
    reader = RunReader(toy.record(tmp_path, {"a": {"T-1": [1]}}, tasks=["T-1"]))
    (case,) = check_shape(junit_xml([reader], toy.plugins())).iter("testcase")
    assert (case[0].tag, case[0].get("message")) == (tag, message)


def test_hostile_and_endless_text_is_safe_in_xml(toy, tmp_path, monkeypatch):
    reason = HOSTILE + "y" * 100_000
    monkeypatch.setattr(toy.Success, "measure", lambda *_: toy.Score(None, "unscored", {"why": reason}))
    reader = RunReader(toy.record(tmp_path, {HOSTILE: {"T-1": [1]}}, tasks=["T-1"]))
    (case,) = check_shape(junit_xml([reader], toy.plugins())).iter("testcase")
    assert "\\x00\\x1b[31m <b>&\\ud800 ]]>" in case.get("name")
    assert len(case[0].get("message")) < MOST_CHARACTERS + 10


def test_a_damaged_log_is_an_error(toy, tmp_path):
    folder = toy.record(tmp_path, {"a": {"T-1": [1]}}, tasks=["T-1"])
    next((folder / "episodes").iterdir()).write_text("{")
    (case,) = check_shape(junit_xml([RunReader(folder)], toy.plugins())).iter("testcase")
    assert case[0].tag == "error"


# GitHub


def test_annotations_hold_one_line_whatever_the_text():
    line = github.annotation("error", "a:b,c\n", HOSTILE)
    assert line == (
        "::error title=a%3Ab%2Cc%0A::##[error]x\\x00\\x1b[31m <b>&\\ud800 ]]>%0A::error::fake %25 a:b,c "
    )


def test_no_text_in_a_table_is_a_command(capsys, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    table = Table(
        "t", "::error::title", (Column("a"),), (("##[error]x",),), "note\n ::add-mask::y", headline=True
    )
    for variable in (None, os.devnull):
        if variable:
            monkeypatch.setenv("GITHUB_STEP_SUMMARY", variable)
        github.print_report(Report([], [table]), brief=True)
        text = capsys.readouterr().out
        assert "##[" not in text
        assert not any(line.lstrip().startswith("::") for line in text.splitlines())
        assert "add-mask" in text


def system(**changes):
    fields = {"planned": 4, "played": 4, "errors": 0, "finished": 4, "aggregates": {}} | changes
    return System("run", "s", "a", **fields)


def test_annotations_are_capped():
    problems = [Problem("missed", system(), "m", f"number {i}") for i in range(25)]
    lines = github.annotation_lines([], [system(finished=3)], problems)
    assert len(lines) == github.MOST_ANNOTATIONS + 1
    assert lines[8].endswith("number 8")
    assert lines[9] == "::error title=evalkit::16 more, see the log"
    assert lines[10] == "::warning title=s · a::1 of 4 episodes have no result"


def test_the_summary_is_appended_and_never_beyond_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    small = Table("t", "small", (Column("a"),), (("x",),))
    assert github.write_summary([small])
    assert github.write_summary([small])
    assert path.read_text().count("### small") == 2
    large = Table("t", "large", (Column("a"),), tuple(("y" * 90,) for _ in range(20_000)))
    assert github.write_summary([large])
    assert path.stat().st_size <= github.MOST_SUMMARY_BYTES
    assert path.read_text().endswith("(cut: the summary of a step is limited to 1 MiB)\n")
    assert github.write_summary([large])
    assert path.stat().st_size <= github.MOST_SUMMARY_BYTES
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "absent" / "summary.md"))
    with pytest.raises(StorageError, match="GITHUB_STEP_SUMMARY"):
        github.write_summary([small])


# Epochs


def test_pass_at_k_of_a_run_with_epochs(toy, tmp_path):
    heights = {("T-1", 1): [1], ("T-1", 2): [9, 9, 9], "T-2": [2], ("T-3", 1): [3], ("T-3", 2): [None]}
    folder = toy.record(tmp_path, {"a": heights}, epochs=2, tasks=["T-1", "T-2", "T-3"])
    report = run_report([RunReader(folder)], toy.plugins(), ["success*"])
    table = next(t for t in report.tables if t.id == "pass_at_k")
    assert [column.name for column in table.columns] == ["k", "pass@k", "pass^k"]
    figures = [[(cell.value, cell.n) for cell in row[1:]] for row in table.rows]
    assert figures == [[(2.5 / 3, 3), (2.5 / 3, 3)], [(1.0, 2), (0.5, 2)]]
    assert table.note.splitlines() == [
        "k=2 leaves out 1 of 3 tasks, which have fewer than 2 attempts with a value: T-3",
        "pass@k: one of k attempts at a task succeeds; pass^k: all of k do (means over tasks)",
        "[low, high] is the 95 % interval: bootstrap(cluster=task)",
    ]
    success = report.systems[0].aggregates["towers.success"]
    assert (success.numerator, success.denominator, success.method) == (4, 5, "bootstrap(cluster=task)")
    once = run_report([RunReader(toy.record(tmp_path, {"a": heights}, run="one"))], toy.plugins())
    assert "pass_at_k" not in [t.id for t in once.tables]


# Pages and LaTeX

FIGURES = Table(
    "main",
    HOSTILE,
    (Column("metric"), Column("value"), Column("calls", "right")),
    (
        ("<script>alert(1)</script>", Rate(0.5, 1, 2, 0.1, 0.9), 7),
        ("50 % of {a_b} & #1 ~^\\", Estimate(1.5, 3), None),
    ),
    "a < b & c\nsecond line",
)


class Page(HTMLParser):
    """Collects tags and checks that they are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes = [], set(), set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_is_self_contained_and_escapes_everything():
    text = to_html([FIGURES, FIGURES])
    page = Page()
    page.feed(text)
    assert page.open == []
    assert not page.tags & {"script", "b", "img", "link", "iframe"}
    assert not page.attributes & {"src", "href", "onclick", "onload", "style"}
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "color-scheme: light dark" in text
    assert '<td class="figure">50.0 % (1/2) [10.0, 90.0]</td><td class="right figure">7</td>' in text
    assert "\x00" not in text
    text.encode("utf-8")


def test_latex_is_plain_tabular_with_everything_escaped():
    text = to_latex([FIGURES])
    assert r"\begin{tabular}{llr}" in text
    assert (
        r"50 \% of \{a\_b\} \& \#1 \textasciitilde{}\textasciicircum{}\textbackslash{} & 1.50 (n=3) & -- \\"
        in text
    )
    assert r"\textless{}script\textgreater{}" in text
    assert r"50.0 \% (1/2) {[}10.0, 90.0{]}" in text
    assert text.count(r"\hline") == 3
    assert "\x1b" not in text
