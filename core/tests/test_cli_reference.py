"""The documents of the command line say what the commands are."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml

from evalkit.cli._reference import reference
from evalkit.cli.main import VERBS, root
from evalkit.errors import ExitCode

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_up_to_date():
    written = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert written == reference(), "run `python -m evalkit.cli._reference > docs/cli.md`"


def test_the_reference_has_every_verb_option_and_variable_and_depends_on_nothing():
    environment = os.environ | {
        "COLUMNS": "40",
        "EVALKIT_PLUGINS": "",
        "EVALKIT_RUN_JOBS": "3",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        [sys.executable, "-m", "evalkit.cli._reference"], capture_output=True, env=environment, timeout=60
    )
    text = done.stdout.decode("utf-8")
    assert text == reference(), done.stderr.decode()
    for verb in VERBS:
        assert f"\n## evalkit {verb}\n" in text
    assert "| `-j N` | Worker processes" in text
    assert "`EVALKIT_RUN_JOBS`" in text
    assert "\n### evalkit plugin new\n" in text


def test_the_reference_lists_every_exit_code():
    rows = re.findall(r"(?m)^\| (\d+) \| .+ \|$", reference())
    assert [int(row) for row in rows] == sorted(ExitCode)


def commands_in(path):
    """The calls of evalkit in a document's blocks of code."""
    for block in re.findall(r"```\w+\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if match := re.search(r"(?:^|\s)evalkit (?=[a-z])(.*)", line):
                yield match[1]


@pytest.mark.parametrize("call", list(commands_in(DOCS / "ci.md")))
def test_the_calls_in_the_guide_to_ci_can_be_parsed(call):
    verb, *words = shlex.split(call, comments=True)
    command = root.get_command(click.Context(root), verb)
    assert command is not None, verb
    command.make_context(verb, words, **root.context_settings)


def test_the_workflow_is_yaml_and_runs_the_smoke_group():
    text = (DOCS / "ci.md").read_text(encoding="utf-8")
    (workflow,) = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(name:.*?)```", text, re.DOTALL))
    steps = workflow["jobs"]["smoke"]["steps"]
    assert any("evalkit run ci.smoke" in step.get("run", "") for step in steps)
    assert workflow["permissions"] == {"contents": "read"}
