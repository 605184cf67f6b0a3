"""An episode behind a Unix socket and at a prompt, as a person or an agent with a shell meets it."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no Unix sockets")

SUITE = ("blocks.basic", "--id", "step-100")
PLACE = ("place", "x=0", "width=0.8", "height=0.25")


@pytest.fixture
def server(work: Any) -> subprocess.Popen[str]:
    """A server of a blocks episode at s.sock."""
    process: subprocess.Popen[str] = work.start(
        "play", *SUITE, "--serve", "s.sock", "--as", "tester", "--format", "json"
    )
    work.said(process, "waiting for calls: evalkit-call s.sock tools")
    return process


def raw(work: Any, data: bytes) -> dict[str, Any]:
    """What the server answers to these bytes."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(work.folder / "s.sock"))
        connection.sendall(data)
        answer: dict[str, Any] = json.loads(connection.makefile("rb").readline())
        return answer


def test_an_episode_call_by_call(work: Any, server: subprocess.Popen[str]) -> None:
    assert "place: Lower one more box" in work.call("s.sock", "tools").stdout
    assert "Stack boxes to a height" in work.call("s.sock", "observe").stdout
    assert "height_m: 0.25" in work.call("s.sock", *PLACE).stdout
    wrong = work.call("s.sock", "place", "x=0", code=1)
    assert "place: width: Field required" in wrong.stdout
    assert "did you mean" not in work.call("s.sock", "check").stdout
    assert "meter:checks: 1, 4 left" in work.call("s.sock", "budget").stdout
    told = json.loads(work.call("s.sock", "submit", "--json").stdout)
    assert told["observation"]["text"] == "It doesn't do."
    assert told["end"] is None
    assert "agent stopped (the player stopped)" in work.call("s.sock", "stop").stdout
    out, err = work.finished(server)
    assert json.loads(out)["runs"][0]["agent"] == "tester"
    assert "record: runs" in err
    run = work.only_run()
    assert work.events(run)[-1]["counters"]["tool_calls"] == 4
    (agent,) = json.loads((run / "run.json").read_text())["agents"]
    assert (agent["id"], agent["transport"]) == ("tester", "shell")
    for verb in ("verify", "show", "report", "rescore"):
        work.run(verb, str(run))
    assert not (work.folder / "s.sock").exists()


def test_only_this_user_may_open_the_socket(work: Any, server: subprocess.Popen[str]) -> None:
    assert stat.S_IMODE(os.stat(work.folder / "s.sock").st_mode) == 0o600


JUNK = {
    "no JSON": b"junk\n",
    "no text": b"\xff\xfe\x00\n",
    "no request": b"[1]\n",
    "unknown": b'{"do": "cheat"}\n',
    "no tool": b'{"do": "call"}\n',
    "no object": b'{"do": "call", "tool": "check", "arguments": 1}\n',
    "no words": b'{"do": "call", "tool": "check", "pairs": {"x": 1}}\n',
    "not a number": b'{"do": "call", "tool": "place", "arguments": {"x": NaN}}\n',
    "deep": b'{"do": "call", "tool": "place", "arguments": {"x": ' + b"[" * 200 + b"]" * 200 + b"}}\n",
    "very deep": b"[" * 200_000 + b"\n",
}


def test_junk_is_answered_and_costs_nothing(work: Any, server: subprocess.Popen[str]) -> None:
    for what, data in JUNK.items():
        answer = raw(work, data)
        assert (answer["ok"], answer["code"]) == (False, "bad_request"), what
        assert "\n" not in answer["text"]
    assert "tool_calls: 0" in work.call("s.sock", "budget").stdout


def test_clients_that_vanish_cost_nothing(work: Any, server: subprocess.Popen[str]) -> None:
    for data in (b"", b'{"do": "obs', b'{"do": "observe"}\n'):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(str(work.folder / "s.sock"))
            connection.sendall(data)
    assert "height_m: 0.25" in work.call("s.sock", *PLACE).stdout


def test_calls_of_several_clients_are_carried_out_one_by_one(
    work: Any, server: subprocess.Popen[str]
) -> None:
    call = {"do": "call", "tool": "place", "arguments": {"x": 0, "width": 0.5, "height": 0.01}}
    with ThreadPoolExecutor(8) as clients:
        request = json.dumps(call).encode() + b"\n"
        answers = list(clients.map(lambda _: raw(work, request), range(24)))
    assert sorted(answer["observation"]["data"]["boxes"] for answer in answers) == list(range(1, 25))
    work.call("s.sock", "stop")
    work.finished(server)
    assert len(set(work.states(work.only_run()))) == 24
    work.run("verify")


@pytest.mark.parametrize("request_to_stop", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_stopped_closes_the_record(
    work: Any, server: subprocess.Popen[str], request_to_stop: signal.Signals
) -> None:
    work.call("s.sock", *PLACE)
    server.send_signal(request_to_stop)
    _, err = work.finished(server, code=130)
    assert "Traceback" not in err
    end = work.events(work.only_run())[-1]
    assert (end["reason"], end["detail"]) == ("agent_stopped", "interrupted")
    work.run("verify")


def test_a_server_that_is_stopped_while_it_executes_the_final_design_says_so(
    work: Any, server: subprocess.Popen[str]
) -> None:
    work.call("s.sock", *PLACE)
    work.call("s.sock", "submit")
    work.call("s.sock", "stop")
    work.said(server, "executing 1 final designs")
    time.sleep(0.1)  # its worker starts
    server.terminate()
    work.finished(server, code=130)
    work.run("verify")


def test_an_episode_nobody_plays_ends_by_itself(work: Any) -> None:
    process = work.start("play", *SUITE, "--serve", "s.sock", "--idle", "0.5", "--format", "json")
    work.said(process, "waiting for calls")
    work.until(lambda: work.events(work.only_run())[-1]["kind"] == "episode_end")
    assert work.events(work.only_run())[-1]["detail"] == "no call for 0.5 s"
    assert "has ended: agent stopped (no call for 0.5 s)" in work.call("s.sock", *PLACE, code=1).stdout
    work.call("s.sock", "stop")
    work.finished(process)


def test_a_socket_left_by_a_dead_server_is_taken_over(work: Any, server: subprocess.Popen[str]) -> None:
    busy = work.run("play", *SUITE, "--serve", "s.sock", code=2)
    assert "an episode is already served at s.sock" in busy.stderr
    server.kill()
    server.wait()
    assert (work.folder / "s.sock").exists()
    again = work.start("play", *SUITE, "--serve", "s.sock")
    work.said(again, "waiting for calls")
    work.call("s.sock", "stop")
    work.finished(again)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("blocks.basik",), "did you mean blocks.basic"),
        (("blocks.*",), "stands for 3 suites"),
        (("blocks.basic", "--id", "step-10"), "did you mean step-100"),
        (("blocks.basic", "--serve", "a-file"), "a-file exists and is no socket"),
        (("blocks.basic", "--serve", "gone/s.sock"), "there is no folder gone"),
        (("blocks.basic", "--serve", "s" * 200), "at most 103 bytes"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_run(work: Any, words: tuple[str, ...], message: str) -> None:
    (work.folder / "a-file").write_text("precious")
    done = work.run("play", *words, code=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (work.folder / "runs").exists()
    assert (work.folder / "a-file").read_text() == "precious"


def test_lines_of_standard_input_are_played(work: Any) -> None:
    lines = (
        'help\nplace x=0 width=0.8 height="0.25"\nplace {"x": 0}\nplace x\nplace "\nbudget now\n\nobserve\n'
    )
    done = work.run("play", *SUITE, "--as", "ada", given=lines)
    assert "TOOL key=value" in done.stdout
    assert "height_m: 0.25" in done.stdout
    assert "place: width: Field required" in done.stdout
    assert "the episode has ended: agent stopped (the player's input ended)" in done.stdout
    assert "blocks.basic · ada · 1 episode" in done.stdout
    mistakes = [line for line in done.stderr.splitlines() if line.startswith("evalkit: ")]
    assert [line.split(":")[1] for line in mistakes] == [
        " 'x' is neither KEY=VALUE nor a JSON object nor @FILE",
        " No closing quotation",
        " 'budget' takes nothing, not 'now'",
    ]
    assert work.events(work.only_run())[-1]["counters"]["tool_calls"] == 2


def test_a_slip_of_a_person_is_told_and_costs_nothing(work: Any) -> None:
    import pty  # not on Windows

    keyboard, terminal = pty.openpty()
    process = work.start("play", *SUITE, "--format", "plain", stdin=terminal)
    os.close(terminal)
    os.write(keyboard, b"hello\nplaice x=0\nplace x=wide\nquit\nstop\n")
    _, err = work.finished(process)
    os.close(keyboard)
    slips = [line for line in err.splitlines() if "unknown tool or command" in line]
    assert [line.split("'")[1] for line in slips] == ["hello", "plaice", "quit"]
    assert "did you mean place" in slips[1]
    assert work.events(work.only_run())[-1]["counters"]["tool_calls"] == 1
    counted = work.run("play", *SUITE, "-o", "piped", given="hello\n")
    assert "unknown_tool" in counted.stdout


def test_pictures_are_files_that_the_prompt_names(work: Any) -> None:
    done = work.run("play", "polybridge.smoke", given="propose text=no\n")
    named = [line.removeprefix("picture: ") for line in done.stdout.splitlines() if "picture: " in line]
    assert [Path(name).name for name in named] == ["001-editor.png", "002-editor.png"]
    assert all((work.folder / name).read_bytes().startswith(b"\x89PNG") for name in named)


def test_a_driven_run_is_replayed_but_not_resumed(work: Any) -> None:
    work.run("play", *SUITE, given="place x=0 width=0.8 height=0.25\nsubmit\n")
    run = work.only_run()
    assert "all equal" in work.run("replay", str(run)).stdout
    refused = work.run("resume", str(run), code=2)
    assert "played from outside" in refused.stderr
    work.run("run", "blocks.basic", "--id", "step-100", "--agent", f"replay:{run}", "-o", "again")
    (again,) = (work.folder / "again").iterdir()
    assert work.states(again) == work.states(run)
