"""A coding agent's program plays: what it gets, what is recorded, how its end is told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest


def test_one_that_behaves(shop: Any, isolation: str) -> None:
    done = shop.play(shop.template("behave"), "-M", f"isolation={isolation}")
    assert "Solved          100.0 % (1/1)" in done.stdout
    kinds = [event["kind"] for event in shop.events()]
    process = ["agent_process"] * 4
    play = ["action", "result", "execution", "observation"]
    assert kinds == ["episode_start", "observation", *process, *play, "episode_end"]
    phases = [event["phase"] for event in shop.events("agent_process")]
    assert phases == ["start", "transcript", "exit", "delivery"]
    end = shop.end()
    assert end["reason"] == "done"
    counted = {"turns": 2, "input_tokens": 40, "output_tokens": 9, "tokens": 49, "cost": 0.25}
    assert counted.items() <= end["counters"].items()


def test_the_record_names_what_was_started_but_no_secret(shop: Any) -> None:
    shop.play(shop.template("leak"))
    start = shop.events("agent_process")[0]
    assert start["argv"] == [str(shop.program), "leak"]
    assert start["variables"] == ["STANDIN_KEY"]
    assert "my key is [STANDIN_KEY]" in shop.printed()
    recorded = [path.read_bytes() for path in shop.run_folder().rglob("*") if path.is_file()]
    assert not any(shop.environment["STANDIN_KEY"].encode() in content for content in recorded)
    program = shop.manifest()["agents"][0]["program"]
    assert program["executable"] == str(shop.program)
    assert program["limits"]["turns"] == 300


def test_without_reported_tokens_none_are_counted(shop: Any) -> None:
    shop.play(shop.template("silent"))
    assert shop.end()["counters"] == {"calls": 1, "tool_calls": 1, "executions": 1, "turns": 0}


def test_verify_replay_rescore_and_show(shop: Any) -> None:
    shop.play(shop.template("behave"))
    assert json.loads(shop.evalkit("verify", "--json").stdout)["findings"] == []
    assert json.loads(shop.evalkit("replay", "--json").stdout)["equal"] is True
    assert json.loads(shop.evalkit("replay", "--execute", "--json").stdout)["equal"] is True
    assert "100.0 % (1/1)" in shop.evalkit("rescore").stdout
    assert "call 1: submit" in shop.evalkit("show", "latest", "step-050").stdout


def test_replay_notices_another_file(shop: Any) -> None:
    shop.play(shop.template("behave"))
    blob = next(e for e in shop.events("agent_process") if e["phase"] == "delivery")["artifacts"][0]["blob"]
    path = shop.run_folder() / "blobs" / blob[:2] / blob
    path.chmod(0o644)
    path.write_text('{"boxes": []}')
    assert json.loads(shop.evalkit("replay", "--json", code=1).stdout)["equal"] is False


def test_a_recording_plays_in_its_place(shop: Any) -> None:
    shop.play(shop.template("behave"))
    run = shop.run_folder()
    done = shop.play(f"replay:{run}")
    assert "100.0 % (1/1)" in done.stdout
    assert shop.run_folder() != run


@pytest.mark.parametrize("suite", ["blocks.workspace", "blocks.smoke"])
def test_a_file_is_tried_without_an_agent(shop: Any, suite: str) -> None:
    (shop.folder / "stack.json").write_text('{"boxes": [[0, 1, 0.5]]}')
    done = shop.evalkit("try", suite, "stack.json", "--id", "step-050", "--json")
    assert json.loads(done.stdout)["execution"]["success"] is True
    (shop.folder / "stack.json").write_text('{"boxes": [[0, 1, 0.4]]}')
    shop.evalkit("try", suite, "stack.json", "--id", "step-050", code=1)


def test_an_offline_agent_works_in_a_worker(shop: Any) -> None:
    done = shop.evalkit("run", "blocks.workspace", "-j", "1", "--format", "plain")
    assert "100.0 % (3/3)" in done.stdout


@pytest.mark.parametrize(
    ("what", "reason", "words"),
    [
        ("crash", "agent_error", "ended with exit code 1: I can't go on"),
        ("no_start", "model_error", "401: bad key"),
        ("fail", "model_error", "reported: the service is overloaded"),
    ],
)
def test_failures_are_no_results(shop: Any, what: str, reason: str, words: str) -> None:
    shop.play(shop.template(what), code=3)
    end = shop.end()
    assert end["reason"] == reason
    assert words in end["detail"]


def test_what_a_crashed_agent_left_is_in_the_record(shop: Any) -> None:
    shop.play(shop.template("crash"), code=3)
    assert len(shop.events("action")[0]["arguments"]["files"]) == 1
    assert shop.events("execution")[0]["success"] is True


@pytest.mark.parametrize(
    ("what", "codes", "omitted"),
    [
        ("links", ["missing", "not_collected"], {"stack.json": "a symbolic link"}),
        ("fifo", ["missing", "not_collected"], {"stack.json": "not a regular file"}),
        ("huge", ["missing", "not_collected"], {"stack.json": "more bytes than are taken"}),
        ("junk", ["format"], {}),
    ],
)
def test_junk_is_violations(shop: Any, what: str, codes: list[str], omitted: dict[str, str]) -> None:
    shop.play(shop.template(what))
    assert shop.end()["reason"] == "done"
    assert shop.codes() == codes
    assert shop.events("action")[0]["arguments"].get("omitted", {}) == omitted
    assert b"root:" not in b"".join(p.read_bytes() for p in shop.run_folder().rglob("*") if p.is_file())


def test_models_make_agents_of_their_own(shop: Any) -> None:
    name = shop.template("look")
    path = shop.folder / "agent.toml"
    path.write_text(path.read_text().replace('"look"]', '"look", ["--model", "{model}"], ["--{effort}"]]'))
    shop.play(name, "-m", "small", "-M", "effort=high")
    assert shop.manifest()["agents"][0]["id"] == "cli:agent.toml@small"
    assert json.loads(shop.printed())["arguments"] == ["--model", "small", "--high"]
    assert shop.manifest()["agents"][0]["options"] == ["effort=high"]


def mistakes() -> list[Any]:
    cases = {
        "no template": (("cli",), "'cli' needs a template: cli:claude"),
        "unknown": (("cli:clade",), "did you mean claude"),
        "no file": (("cli:other.toml",), "can't read the template other.toml"),
        "option": (("cli:agent.toml", "-M", "efort=high"), "unknown option of cli:agent.toml 'efort'"),
        "isolation": (("cli:agent.toml", "-M", "isolation=ful"), "did you mean full"),
        "model calls": (("cli:agent.toml", "--max-llm-calls", "3"), "can't be kept; use turns"),
        "model": (("cli:agent.toml", "-m", "large"), "unknown option of cli:agent.toml 'model'"),
        "calls": (("tower",), "is played in a workspace"),
        "only a model": ((), "is for coding agents"),
    }
    return [pytest.param(*case, id=name) for name, case in cases.items()]


@pytest.mark.parametrize(("words", "message"), mistakes())
def test_mistakes_are_found_before_the_first_episode(shop: Any, words: tuple[str, ...], message: str) -> None:
    shop.template("behave")
    agents = [("--agent", words[0]), words[1:]] if words else [("-m", "some/model")]
    arguments = [word for part in agents for word in part]
    done = shop.evalkit("run", "blocks.workspace", "-n", "1", *arguments, code=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (shop.folder / "runs").exists()


def test_a_missing_program_and_missing_credentials_are_found_first(shop: Any) -> None:
    done = shop.play(shop.template("behave", program="no-such-agent"), code=2)
    assert "there is no program 'no-such-agent'" in done.stderr
    del shop.environment["STANDIN_KEY"]
    done = shop.play(shop.template("behave"), code=2)
    assert "no credentials; set STANDIN_KEY" in done.stderr
    assert not (shop.folder / "runs").exists()


def test_programs_have_no_place_where_calls_are_made(shop: Any) -> None:
    done = shop.evalkit("run", "blocks.smoke", "--agent", shop.template("behave"), code=2)
    assert "played call by call" in done.stderr


def test_one_that_closes_its_streams_may_go_on(shop: Any, isolation: str) -> None:
    done = shop.play(shop.template("deaf_and_dumb"), "-M", f"isolation={isolation}")
    assert "100.0 % (1/1)" in done.stdout
    assert shop.end()["reason"] == "done"


def test_a_file_whose_name_is_no_text_is_left_out(shop: Any) -> None:
    shop.template("odd_name")
    workspace = shop.folder / "site" / "evalkit_blocks" / "workspace.py"
    workspace.write_text(workspace.read_text().replace("(FILE,), {", '("*.json",), {'))
    done = shop.play("cli:agent.toml")
    assert "100.0 % (1/1)" in done.stdout
    assert shop.events("action")[0]["arguments"]["omitted"] == {r"stack-\xff.json": "its name isn't UTF-8"}


def test_nothing_stands_in_the_way_of_a_delivery(shop: Any, isolation: str) -> None:
    done = shop.play(shop.template("in_the_way"), "-M", f"isolation={isolation}")
    assert "100.0 % (1/1)" in done.stdout
    assert shop.end()["reason"] == "done"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make a file immutable"
)
def test_a_workspace_that_cannot_be_removed_costs_a_warning(shop: Any) -> None:
    trial = shop.folder / "immutable"
    trial.touch()
    if subprocess.run(["chattr", "+i", trial], capture_output=True, check=False).returncode:
        pytest.skip("this file system knows no immutable files")
    subprocess.run(["chattr", "-i", trial], check=True)
    try:
        words = ["run", "blocks.workspace", "--agent", shop.template("stays"), "-M", "isolation=none"]
        done = shop.evalkit(*words, "-j", "1", "--format", "plain")
    finally:
        folders = Path(tempfile.gettempdir()).glob("evalkit-workspace-*")
        left = [path for folder in folders if (path := folder / "work" / "stays").is_file()]
        for path in left:
            subprocess.run(["chattr", "-i", path], check=True)
            shutil.rmtree(path.parents[1])
    assert "100.0 % (3/3)" in done.stdout
    assert len(left) == 3
    for path in left:
        assert f"the workspace {path.parents[1]} can't be removed; remove it" in done.stderr


def test_what_an_agent_raises_in_its_thread_costs_the_episode(shop: Any) -> None:
    name = shop.template("behave")
    (shop.folder / "site" / "evalkit_blocks" / "__init__.py").write_text(
        "from evalkit.agents.cli.agent import CliAgent\n"
        "def spent(self):\n    raise SystemExit('away')\n"
        "CliAgent.spent = spent\n"
    )
    words = ["run", "blocks.workspace", "--agent", name, "-j", "1", "--format", "plain"]
    done = shop.evalkit(*words, code=3)
    assert done.stderr.count("agent_error: SystemExit: away") == 3
    assert json.loads(shop.evalkit("verify", "--json").stdout)["findings"] == []


def test_a_suite_that_cannot_be_played_ends_the_run(shop: Any) -> None:
    name = shop.template("behave")
    path = shop.folder / "site" / "evalkit_blocks" / "workspace.py"
    path.write_text(path.read_text().replace("        pass\n", "        raise ValueError('no boxes')\n", 1))
    done = shop.play(name, code=4)
    assert "ValueError: no boxes" in done.stderr
    assert "Traceback" not in done.stderr


def ask_version(shop: Any, word: str) -> str:
    """An agent's name whose program is asked for its version by this word."""
    name: str = shop.template("behave")
    path = shop.folder / "agent.toml"
    path.write_text(path.read_text().replace("prompt =", f'version = ["{word}"]\nprompt ='))
    return name


def test_the_version_is_asked_for_in_isolation_and_without_secrets(shop: Any, isolation: str) -> None:
    shop.play(ask_version(shop, "version"), "-M", f"isolation={isolation}")
    version = shop.manifest()["agents"][0]["program"]["version"]
    assert version == shop.events("agent_process")[0]["version"]
    name, number, uid, key, folder = version.replace("no key", "no-key").split()
    assert (name, number, key) == ("standin", "1.2", "no-key")
    assert (folder == "/workspace") == (isolation == "full")
    assert (int(uid) == os.getuid()) == (isolation == "none")


def test_a_version_that_does_not_come_is_unknown(shop: Any) -> None:
    (shop.folder / "site" / "evalkit_blocks" / "__init__.py").write_text(
        "import evalkit.agents.cli.program as program\nprogram.VERSION_TIMEOUT_S = 1\n"
    )
    shop.play(ask_version(shop, "sleepy_version"))
    assert shop.manifest()["agents"][0]["program"]["version"] == "unknown"


def test_a_program_that_cannot_be_started_is_found_first(shop: Any, isolation: str) -> None:
    broken = shop.program.with_name("broken")
    broken.write_bytes(b"\x7fELF, but no program")
    broken.chmod(0o755)
    done = shop.play(shop.template("behave", program=str(broken)), "-M", f"isolation={isolation}", code=2)
    assert str(broken) in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (shop.folder / "runs").exists()
