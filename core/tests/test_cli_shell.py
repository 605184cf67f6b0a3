"""The command's shell: verbs, exit codes, one-line errors, configuration, and what must not be imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from evalkit.cli import doctor
from evalkit.cli.main import VERBS, main, root
from evalkit.errors import ExitCode


@pytest.fixture
def toy(site):
    site.install_toy()
    return site


def evalkit(*words: str, site=None, **options) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    environment = {**os.environ, "EVALKIT_PLUGINS": "toy", **options.pop("environment", {})}
    if site is not None:
        environment["PYTHONPATH"] = str(site.folder)
    command = [sys.executable, "-m", "evalkit.cli.main", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, **options)


def one_line(text: str) -> str:
    assert text.endswith("\n")
    assert text.count("\n") == 1
    return text[:-1]


# The shell


def test_help_lists_every_verb_and_imports_nothing_heavy(toy):
    code = (
        "import sys; from evalkit.cli.main import main; assert main(['--help']) == 0; "
        "print(sorted(m for m in sys.modules if '.' not in m), file=sys.stderr)"
    )
    environment = {**os.environ, "EVALKIT_PLUGINS": "toy", "PYTHONPATH": str(toy.folder)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    for verb in VERBS:
        assert f"\n  {verb} " in done.stdout
    assert "What a toy does." in done.stdout
    loaded = set(json.loads(done.stderr.replace("'", '"')))
    assert {"click", "pluggy", "toy_plugin"} <= loaded
    heavy = {"pydantic", "rich", "numpy", "yaml", "numba", "scipy", "PIL", "litellm", "platformdirs"}
    assert not heavy & loaded


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(toy, capsys, verb):
    assert main([verb, "-h"]) == 0
    out, err = capsys.readouterr()
    assert f"evalkit {verb}" in out.partition("\n")[2] or f"evalkit completion {verb}" in out
    assert "--debug" in out
    assert err == ""


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("evalkit 0.")


def test_no_verb_prints_the_help_on_stderr(toy, capsys):
    assert main([]) == ExitCode.USAGE
    out, err = capsys.readouterr()
    assert out == ""
    assert "Commands:" in err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["rnu"], 2, "evalkit: error: unknown command 'rnu'; did you mean run?"),
        (["toyy"], 2, "did you mean toy?"),
        (["ls", "taks"], 2, "did you mean tasks?"),
        (["ls", "--jsno"], 2, "--json"),
        (["ls", "--registry", "gone.yaml"], 2, "gone.yaml: No such file or directory"),
        (["ls", "tasks", "--suite", "toy.hihg"], 2, "did you mean toy.high?"),
        (["info", "toy.high", "-T", "blocks=0"], 2, "-T blocks=0: settings.blocks"),
        (["completion", "powershell"], 2, "powershell"),
        (["toy", "crash"], 4, "evalkit: internal error: TypeError: the tower fell (run again with --debug"),
        (["toy", "interrupt"], 130, "evalkit: interrupted"),
    ],
)
def test_failures_are_one_line_on_stderr_and_an_exit_code(toy, capsys, words, code, message):
    assert main(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in one_line(err)


@pytest.mark.parametrize(
    "words", [["--debug", "toy", "crash"], ["toy", "crash", "--debug"], ["toy", "--debug", "crash"]]
)
def test_debug_prints_the_traceback(toy, capsys, words):
    assert main(words) == ExitCode.INTERNAL
    err = capsys.readouterr().err
    assert "Traceback (most recent call last)" in err
    assert 'raise TypeError("the tower' in err
    assert "run again" not in err


def test_debug_by_environment_and_for_errors_with_a_cause(toy, capsys, monkeypatch):
    monkeypatch.setenv("EVALKIT_DEBUG", "1")
    toy.install("bad", "import no_such_module_here")
    assert main(["run", "bad.suite"]) == ExitCode.INTERNAL
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "evalkit: error: plugin 'bad': " in err


def test_a_verbs_return_value_is_the_exit_code(toy, capsys):
    assert main(["toy", "seven"]) == 7
    assert main(["toy", "fine"]) == 0


def test_a_plugin_cannot_take_a_verbs_name(toy, capsys):
    toy.install(
        "rival",
        "from evalkit.hookspecs import CommandSpec, hookimpl\n"
        "@hookimpl\ndef evalkit_commands(): return [CommandSpec('ls', 'toy_parts:command', 'Rival.')]\n",
    )
    assert main(["ls", "agents"]) == 0
    assert "stacker" in capsys.readouterr().out
    assert main(["--help"]) == 0
    assert "Rival." not in capsys.readouterr().out


def test_a_plugin_command_that_is_none_is_the_plugins_fault(toy, capsys):
    toy.install(
        "bad",
        "from evalkit.hookspecs import CommandSpec, hookimpl\n"
        "@hookimpl\ndef evalkit_commands(): return [CommandSpec('odd', 'toy_parts:load', 'Odd.')]\n",
    )
    assert main(["odd"]) == ExitCode.INTERNAL
    assert "plugin 'bad': toy_parts:load is no click command" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="signals of pipes")
def test_a_closed_pipe_is_quiet(toy):
    script = f"{sys.executable} -m evalkit.cli.main info --registry-schema"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {{ sleep 0.3; {script}; }} | true"],
        capture_output=True,
        text=True,
        env={**os.environ, "EVALKIT_PLUGINS": "toy", "PYTHONPATH": str(toy.folder)},
    )
    assert (done.returncode, done.stderr) == (141, "")


# Configuration


def pace(capsys, *words: str) -> str:
    assert main(["toy", "fine", *words]) == 0
    return capsys.readouterr().out.strip()


def test_flag_over_environment_over_file_over_default(toy, capsys, monkeypatch, tmp_path):
    assert pace(capsys) == "pace 1"
    user = tmp_path / "config" / "evalkit" / "evalkit.toml"
    user.parent.mkdir(parents=True)
    user.write_text("[toy]\npace = 2\n")
    monkeypatch.setattr("platformdirs.user_config_path", lambda *a, **k: user.parent)
    assert pace(capsys) == "pace 2"
    Path("evalkit.toml").write_text("[toy]\npace = 3\n[ls]\njson = true\n")
    Path("below").mkdir()
    monkeypatch.chdir("below")
    assert pace(capsys) == "pace 3"
    monkeypatch.setenv("EVALKIT_TOY_PACE", "4")
    assert pace(capsys) == "pace 4"
    assert pace(capsys, "--pace", "5") == "pace 5"
    assert main(["ls"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "toy.flat"


def test_environment_variables_are_named_like_the_options(toy, capsys, monkeypatch):
    monkeypatch.setenv("EVALKIT_LS_JSON", "1")
    assert main(["ls"]) == 0
    json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tox]\npace = 1\n", "unknown table 'tox'; did you mean toy?"),
        ("[toy]\npac = 1\n", "unknown option of toy 'pac'; did you mean pace?"),
        ("toy = 3\n", "'toy' has to be a table"),
        ("[toy\n", "line 1"),
        ("[toy]\npace = 'quick'\n", "'quick' is not a valid"),
    ],
)
def test_a_wrong_configuration_file_is_a_usage_error(toy, capsys, text, message):
    Path("evalkit.toml").write_text(text)
    assert main(["toy", "fine"]) == ExitCode.USAGE
    assert message in one_line(capsys.readouterr().err)


# ls


def listed(capsys, *words: str) -> list[dict[str, object]]:
    assert main(["ls", *words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert isinstance(rows, list)
    return rows


def test_ls_lists_each_kind(toy, capsys):
    Path("registry.yaml").write_text("evalkit: 1\ngroups: {all: ['toy.*']}\n")
    assert [row["name"] for row in listed(capsys)] == ["toy.flat", "toy.high"]
    assert listed(capsys, "groups") == [{"name": "all", "suites": ["toy.flat", "toy.high"]}]
    assert [row["name"] for row in listed(capsys, "plugins")] == ["evalkit", "toy"]
    assert {row["name"] for row in listed(capsys, "agents")} == {
        "chat",
        "cli",
        "replay",
        "scripted",
        "stacker",
        "text-tools",
        "tools",
    }
    assert [row["id"] for row in listed(capsys, "metrics")] == ["toy.success", "toy.height"]
    assert [row["needs_model"] for row in listed(capsys, "executors")] == [False, True]
    assert [row["version"] for row in listed(capsys, "validators")] == ["2"]
    tasks = listed(capsys, "tasks", "--suite", "toy.high")
    assert [row["id"] for row in tasks] == ["tower-0", "tower-1", "tower-2"]
    assert tasks[2]["tags"] == ["high"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [("HIGH", ["toy.high"]), ("toy.*", ["toy.flat", "toy.high"]), ("*h", ["toy.high"]), ("zzz", [])],
)
def test_ls_patterns(toy, capsys, pattern, names):
    assert [row["name"] for row in listed(capsys, "suites", pattern)] == names


def test_ls_prints_a_table_and_names_broken_plugins_on_stderr(toy, capsys):
    toy.install("bad", "import no_such_module_here")
    assert main(["ls"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0].split() == ["NAME", "VERSION", "BENCHMARK", "TAGS", "TITLE", "ORIGIN"]
    assert out.splitlines()[1].split()[:3] == ["toy.flat", "1", "toy"]
    assert "plugin 'bad' is broken: bad_plugin can't be loaded: ModuleNotFoundError" in one_line(err)


# info


def told(capsys, *words: str) -> dict[str, object]:
    assert main(["info", *words, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert isinstance(facts, dict)
    return facts


def test_info_of_a_suite(toy, capsys):
    facts = told(capsys, "toy.high")
    assert (facts["kind"], facts["tasks"], facts["version"]) == ("suite", 3, 2)
    assert facts["claim"] == "Shows that towers stand, and nothing about bridges."
    assert facts["origin"] == "evalkit-toy 1.5"
    assert facts["settings"] == {"blocks": 6, "glue": False, "wind": {}}
    assert facts["metrics"][0]["denominator"] == "towers built"
    assert facts["validators"][0]["plugin"] == "toy"
    changed = told(capsys, "toy.high", "-T", "limits.calls=9")
    assert changed["limits"]["calls"] == 9
    assert changed["protocol_hash"] != facts["protocol_hash"]
    assert told(capsys, "toy.high@2") == facts


def test_info_as_text(toy, capsys):
    assert main(["info", "toy.high"]) == 0
    out = capsys.readouterr().out
    assert "toy.rules (version 2, plugin toy)" in out
    assert "of towers built; not applicable: no tower was built; proportion" in out
    assert "blocks: 6" in out


@pytest.mark.parametrize(
    ("target", "kind", "key", "value"),
    [
        ("stacker", "agent", "benchmarks", ["toy"]),
        ("toy.height", "metric", "definitions", None),
        ("toy.judge", "executor", "definitions", None),
        ("toy.rules", "validator", "definitions", None),
        ("toy", "benchmark", "metrics", ["toy.height", "toy.success"]),
        ("plugin:toy", "plugin", "commands", ["toy"]),
        ("plugin:evalkit", "plugin", "agents", ["chat", "cli", "replay", "scripted", "text-tools", "tools"]),
    ],
)
def test_info_of_other_things(toy, capsys, target, kind, key, value):
    facts = told(capsys, target)
    assert facts["kind"] == kind
    assert facts[key] == value if value is not None else facts[key][0]["benchmark"] == "toy"


def test_info_of_settings_and_of_the_registry_schema(toy, capsys):
    settings = told(capsys, "benchmark:toy")["settings"]
    assert settings["blocks"] == {"default": 4, "description": "Number of blocks."}
    assert main(["info", "--registry-schema"]) == 0
    assert "SuiteBlock" in json.loads(capsys.readouterr().out)["$defs"]


def test_info_without_a_known_target(toy, capsys):
    assert main(["info", "toy.hihg"]) == ExitCode.USAGE
    assert "did you mean toy.high" in capsys.readouterr().err
    assert main(["info", "metric:stacker"]) == ExitCode.USAGE
    assert "unknown metric 'stacker'" in capsys.readouterr().err
    assert main(["info"]) == ExitCode.USAGE


def test_info_says_when_tasks_cannot_be_loaded(toy, capsys):
    Path("registry.yaml").write_text("evalkit: 1\nsuites: {mine: {benchmark: bad}}\n")
    toy.install(
        "bad",
        "from evalkit.hookspecs import BenchmarkSpec, EnvironmentSpec, hookimpl\n"
        "@hookimpl\ndef evalkit_benchmarks():\n"
        "    return [BenchmarkSpec('bad', 'Bad', 'no_such_module_here:load')]\n"
        "@hookimpl\ndef evalkit_environment(benchmark, variant): return EnvironmentSpec('a:B')\n",
    )
    assert main(["info", "mine", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["tasks"] is None
    assert "no_such_module_here" in err


# doctor and completion


def test_doctor_is_well_here(toy, capsys):
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    checks = {check["name"]: check for check in found["checks"]}
    assert found["ok"]
    assert checks["plugin toy"]["detail"] == "evalkit-toy 1.5"
    assert {"python", "package numpy", "user cache", "compiled kernels", "cores", "memory"} <= set(checks)


def test_doctor_names_a_broken_plugin_a_wrong_registry_and_the_foreign_evalkit(toy, capsys, monkeypatch):
    toy.install("bad", "import no_such_module_here")
    toy.install("foreign", "", distribution="evalkit", points="[console_scripts]\nx = y\n")
    Path("registry.yaml").write_text("evalkit: 1\nsuits: {}\n")
    assert main(["doctor"]) == ExitCode.BELOW_THRESHOLD
    lines = capsys.readouterr().out.splitlines()
    broken = {line.split("  ")[1].strip(): line for line in lines if line.startswith("broken")}
    assert set(broken) == {"plugin bad", "registry", "foreign evalkit"}
    assert "no_such_module_here" in broken["plugin bad"]
    assert "registry.yaml:2" in broken["registry"]
    assert "evalkit 1.5 has the same import name" in broken["foreign evalkit"]
    assert lines[-1] == "3 broken"


def test_doctor_reports_a_missing_package_and_a_folder_that_cannot_be_made(tmp_path):
    assert doctor._package("no-such-package-here", ">=1").status == "broken"
    (tmp_path / "file").write_text("")
    check = doctor._writable("cache", tmp_path / "file" / "below")
    assert (check.name, check.status) == ("cache", "broken")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(capsys, shell):
    assert main(["completion", shell]) == 0
    assert "_EVALKIT_COMPLETE" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [("evalkit inf", "plain,info"), ("evalkit to", "plain,toy"), ("evalkit info toy.h", "plain,toy.high")],
)
def test_completion_knows_verbs_and_suites(toy, words, expected):
    environment = {
        "_EVALKIT_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = evalkit(site=toy, environment=environment)
    assert done.stdout.splitlines() == [expected]


def test_verbs_are_commands(toy):
    context = click.Context(root)
    for verb in VERBS:
        assert isinstance(root.get_command(context, verb), click.Command)
