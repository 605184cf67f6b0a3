"""`evalkit compare`: differences, tests and flips of two runs on the same tasks."""

import csv
import importlib
import io
import json
import re

import pytest
from click.testing import CliRunner

from evalkit.errors import EvalkitError, UnknownNameError, UsageError
from evalkit.hookspecs import MetricSpec
from evalkit.report.compare import agent_pairs
from evalkit.stats import mcnemar_exact
from evalkit.store.reader import RunReader

A = {"T-1": [9, 9, 9], "T-2": [2], "T-3": [9, 9, 9], "T-4": [9, 4]}
B = {"T-1": [1], "T-2": [9, 9, 9], "T-3": [3], "T-4": [4]}


@pytest.fixture
def record(toy, tmp_path, monkeypatch):
    """Records a run named `name` in ./runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    plugins = toy.plugins()
    monkeypatch.setattr("evalkit.plugins.load_plugins", lambda: plugins)

    def recorded(name, builders, **changes):
        return toy.record(tmp_path / "runs", builders, run=name, **changes)

    return recorded


def compare(*words):
    """The verb's stdout; raises what it raises."""
    command = importlib.import_module("evalkit.cli.compare").command
    done = CliRunner().invoke(command, list(words), help_option_names=["-h", "--help"])
    if isinstance(done.exception, EvalkitError):
        raise done.exception
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    return done.stdout


def compared(*words):
    (comparison,) = json.loads(compare(*words, "--json"))["comparisons"]
    return comparison


def test_a_comparison_as_a_person_sees_it(record):
    record("one", {"old": A})
    record("two", {"new": B})
    text = compare("one", "two", "--metric", "success*", "--metric", "height")
    assert re.sub("  +", "  ", re.sub("─+", "─", text)) == (
        "towers.all · A old, B new\n"
        "metric  A  B  B − A  p  p (Holm)\n"
        "─  ─  ─  ─  ─  ─\n"
        "Success@3  50.0 % (2/4)  75.0 % (3/4)  25.0 points [-50.0, 100.0]  1  1\n"
        "Height  4.00 m (n=1)  4.00 m (n=1)  0.00 m  –  –\n"
        "\n"
        "A: agent old, run one\n"
        "B: agent new, run two\n"
        "figures and differences are over the tasks with a value on both sides (`evalkit report` has all)\n"
        "[low, high] is the 95 % interval of the difference: bootstrap\n"
        "p: exact McNemar test\n"
        "\n"
        "Tasks that changed\n"
        "metric  change  tasks  which\n"
        "─  ─  ─  ─\n"
        "Success@3  gained  2  T-1, T-3\n"
        "Success@3  lost  1  T-2\n"
        "\n"
        "gained: higher in B than in A; lost: lower; --json lists all tasks\n"
    )


def test_json_has_fractions_tests_and_flips(record):
    record("one", {"old": A})
    record("two", {"new": B})
    found = compared("one", "two")
    assert (found["a"]["agent"], found["b"]["run"], found["same_protocol"]) == ("old", "two", True)
    assert found["tasks"] == {"both": 4, "only_a": [], "only_b": []}
    success = found["metrics"]["towers.success"]
    passed = [
        {"T-1": False, "T-2": True, "T-3": False, "T-4": True},
        {"T-1": True, "T-2": False, "T-3": True, "T-4": True},
    ]
    assert success["p_value"] == mcnemar_exact(*passed).p_value
    assert (success["a"], success["b"], success["difference"]) == (0.5, 0.75, 0.25)
    assert success["low"] < 0.25 < success["high"]
    assert (success["gained"], success["lost"]) == (["T-1", "T-3"], ["T-2"])
    recovery = found["metrics"]["towers.recovery"]
    assert (recovery["a"], recovery["b"], recovery["pairs"]) == (1 / 3, 0.0, 0)
    assert (recovery["difference"], recovery["p_value"]) == (-1 / 3, None)
    looks = found["metrics"]["towers.looks"]
    assert (looks["a"], looks["difference"], looks["unknown"]["a"]) == (
        None,
        None,
        ["T-1", "T-2", "T-3", "T-4"],
    )


def test_p_values_are_corrected_together(toy, record, monkeypatch):
    monkeypatch.setattr(toy.Looks, "measure", lambda self, e, t: toy.Score(float(len(e.turns()))))
    record("one", {"old": A})
    record("two", {"new": B})
    metrics = compared("one", "two")["metrics"]
    tested = {name: (m["p_value"], m["p_holm"]) for name, m in metrics.items() if m["p_value"] is not None}
    assert set(tested) == {"towers.success", "towers.looks"}
    smaller, larger = sorted(tested.values())
    assert smaller[1] == pytest.approx(min(1.0, 2 * smaller[0]))
    assert larger[1] == pytest.approx(max(larger[0], smaller[1]))
    assert "2 tests: at p < 0.05 one in 20 comes out by chance" in compare("one", "two")


def test_lost_episodes_are_failures_or_left_out(record):
    record("one", {"old": {**A, "T-4": [None]}})
    record("two", {"new": {"T-1": [1], "T-2": [9, 9, 9], "T-3": [3]}})
    whole = compared("one", "two")["metrics"]["towers.success"]
    assert (whole["a"], whole["b"], whole["pairs"]) == (0.25, 0.5, 4)
    assert whole["unknown"] == {"a": ["T-4"], "b": ["T-4"]}
    paired = compared("one", "two", "--paired")["metrics"]["towers.success"]
    assert (paired["a"], paired["b"], paired["pairs"]) == (1 / 3, 2 / 3, 3)
    text = compare("one", "two", "--metric", "success*")
    assert "no known result in A: T-4" in text
    assert "missing episodes count as 0 where the metric calls them failures" in text
    assert "what has no known result is left out" in compare("one", "two", "--paired")


def test_tasks_of_one_run_only_are_named_and_not_compared(record):
    record("one", {"old": A})
    record("two", {"new": B}, tasks=["T-2", "T-3"])
    found = compared("one", "two")
    assert found["tasks"] == {"both": 2, "only_a": ["T-1", "T-4"], "only_b": []}
    assert found["metrics"]["towers.success"]["pairs"] == 2
    assert "only in A's run, not compared: T-1, T-4" in compare("one", "two")


def test_epochs_are_averaged_per_task(record):
    twice = {("T-1", 1): [1], ("T-1", 2): [9, 9, 9], "T-2": [2], "T-3": [9, 9, 9], "T-4": [4]}
    record("one", {"old": A})
    record("two", {"new": twice}, epochs=2)
    success = compared("one", "two")["metrics"]["towers.success"]
    assert (success["a"], success["b"]) == (0.5, 0.625)
    assert (success["test"], success["gained"], success["lost"]) == ("paired bootstrap", ["T-1"], [])
    text = compare("one", "two", "--metric", "success*")
    assert "a task's value is its mean over the epochs that have one (A 1, B 2)" in text
    assert "62.5 % (n=4)" in text
    assert "the bootstrap's intervals are too narrow below 10 tasks or clusters" in text


def test_few_tasks_that_changed_alike_prove_little(toy, record, monkeypatch):
    monkeypatch.setattr(toy.Looks, "measure", lambda self, e, t: toy.Score(float(len(e.turns()))))
    record("one", {"old": {task: [9, 9, 9] for task in A}})
    record("two", {"new": {"T-1": [1], "T-2": [2], "T-3": [3], "T-4": [4]}})
    metrics = compared("one", "two")["metrics"]
    assert metrics["towers.looks"]["difference"] == -2.0
    assert metrics["towers.looks"]["p_value"] == metrics["towers.success"]["p_value"] == 2 / 2**4


def test_totals_are_compared_as_sums(toy, record, monkeypatch):
    looks = MetricSpec("towers.looks", "toy_towers:Looks", "Looks", "", kind="total", unit="")
    specs = [looks if spec.id == looks.id else spec for spec in toy.METRICS]
    monkeypatch.setattr(toy, "METRICS", specs)
    monkeypatch.setattr(toy.Looks, "measure", lambda self, e, t: toy.Score(float(len(e.turns()))))
    record("one", {"old": A})
    record("two", {"new": B})
    looks = compared("one", "two")["metrics"]["towers.looks"]
    assert (looks["a"], looks["b"], looks["difference"]) == (9.0, 6.0, -3.0)
    assert looks["low"] < -3 < looks["high"]
    row = compare("one", "two", "--metric", "looks").splitlines()[3]
    assert row.split()[:6] == ["Looks", "9", "(n=4)", "6", "(n=4)", "-3"]


def test_other_protocols_are_refused_unless_forced(record):
    folder = record("one", {"old": A})
    protocol = json.loads((folder / "run.json").read_text())["protocol"]
    settings = protocol["settings"] | {"frames": 0, "advice": "x" * 40}
    changed = protocol | {"limits": {"calls": 2}, "settings": settings}
    record("two", {"new": B}, protocol=changed, protocol_hash="f" * 64)
    what = f"limits (calls none → 2), settings (frames none → 0, advice none → {'x' * 32}…)"
    with pytest.raises(UsageError) as refused:
        compare("one", "two")
    assert str(refused.value) == (
        "one (protocol 0123456789ab) and two (protocol ffffffffffff) can't be compared: they differ in "
        f"{what}; --force compares them all the same"
    )
    assert (
        f"DIFFERENT PROTOCOLS (0123456789ab and ffffffffffff), compared by force: they differ in {what};"
    ) in " ".join(compare("one", "two", "--force").split())
    assert compared("one", "two", "--force")["same_protocol"] is False


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"executors": {"gravity": {"version": "1", "constants_sha256": "ef" * 32, "constants": {}}}},
            "the constants of executor gravity",
        ),
        ({"tasks_sha256": "ef" * 32}, "the contents of the tasks"),
    ],
)
def test_other_physics_and_other_tasks_are_refused_unless_forced(record, caplog, changes, words):
    record("one", {"old": A})
    record("two", {"new": B}, **changes)
    with pytest.raises(UsageError) as refused:
        compare("one", "two")
    assert str(refused.value) == (
        f"one and two can't be compared: they differ in {words}; --force compares them all the same"
    )
    text = " ".join(compare("one", "two", "--force").split())
    assert f"compared by force, but the runs DIFFER in {words}: " in text
    found = compared("one", "two", "--force")
    assert (found["same_protocol"], found["differ_in"]) == (True, [words])


def test_contents_of_different_selections_are_not_compared(record):
    record("one", {"old": A})
    record("two", {"new": B}, tasks=["T-2", "T-3"])
    assert compared("one", "two")["differ_in"] == []


def test_which_agents_are_compared(record):
    one = RunReader(record("one", {"old": A, "new": B}))
    two = RunReader(record("two", {"new": B, "old": A}))
    single = RunReader(record("three", {"other": B}))
    assert agent_pairs(one, two, ()) == [("old", "old"), ("new", "new")]
    assert agent_pairs(one, two, ("old",)) == [("old", "old")]
    assert agent_pairs(one, one, ("old", "new")) == [("old", "new")]
    for a, b, names in ((one, single, ()), (one, one, ()), (one, one, ("old",))):
        with pytest.raises(
            UsageError, match="say which agents to compare, --agent A --agent B: one has old, new"
        ):
            agent_pairs(a, b, names)
    with pytest.raises(UnknownNameError, match="unknown agent 'odl'; did you mean old"):
        agent_pairs(one, single, ("odl", "other"))
    with pytest.raises(UsageError, match="twice"):
        agent_pairs(one, two, ("old", "new", "old"))


def test_several_agents_have_tables_of_their_own(record):
    record("one", {"old": A, "new": B})
    record("two", {"new": A, "old": B})
    assert len(json.loads(compare("one", "two", "--json"))["comparisons"]) == 2
    rows = list(csv.DictReader(io.StringIO(compare("one", "two", "--format", "csv"))))
    assert {row["table"] for row in rows} == {"compare@old", "flips@old", "compare@new", "flips@new"}


def test_csv_keeps_p_values_as_numbers(record):
    record("one", {"old": A})
    record("two", {"new": B})
    rows = list(csv.DictReader(io.StringIO(compare("one", "two", "--format", "csv", "--metric", "success*"))))
    cells = {row["column"]: row for row in rows if row["table"] == "compare"}
    assert float(cells["p"]["value"]) == 1.0
    assert (cells["B"]["numerator"], cells["B"]["denominator"]) == ("3", "4")


def test_markdown_and_unknown_metrics(record):
    record("one", {"old": A})
    record("two", {"new": B})
    assert "| Success@3 | 50.0 % (2/4) | 75.0 % (3/4) |" in compare("one", "two", "--format", "markdown")
    with pytest.raises(UnknownNameError, match=r"did you mean towers\.success"):
        compare("one", "two", "--metric", "towers.sucess")


def test_the_same_runs_give_the_same_bits(record):
    record("one", {"old": A})
    record("two", {"new": B})
    assert compare("one", "two", "--json") == compare("one", "two", "--json")
