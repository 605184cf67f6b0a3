"""What a coding agent can't see where it is fully shut in, and that a run says so where it isn't."""

from __future__ import annotations

import json
import shutil
import socket
import uuid
from pathlib import Path
from typing import Any

import pytest

from evalkit.sandbox import Level, probe
from evalkit.sandbox._landlock import abi

REPOSITORY = Path(__file__).parents[2]

needs_full = pytest.mark.skipif(probe().level < Level.FULL, reason="no full sandbox here")


def hide(shop: Any, canary: str) -> None:
    """Put a canary wherever something is hidden."""
    tasks = shop.folder / "site" / "evalkit_blocks" / "tasks.py"
    tasks.write_text(
        tasks.read_text().replace('"fewest_boxes": fewest', f'"fewest_boxes": fewest, "n": "{canary}"')
    )
    reference = shop.folder / "references" / "step-050.json"
    reference.parent.mkdir()
    reference.write_text(json.dumps({"boxes": [], "note": canary}))
    earlier = shop.folder / "runs" / "earlier"
    earlier.mkdir(parents=True)
    (earlier / "run.json").write_text(canary)
    shop.environment |= {"SOME_TOKEN": canary, "STANDIN_SECRET": f"x{canary}"}


def hunt(shop: Any, isolation: str, *folders: str) -> list[str]:
    """The places in which a stand-in found the canary; it gets it backwards, to find no copy of its own."""
    canary = f"canary-{uuid.uuid4().hex}"
    hide(shop, canary)
    agent = shop.template("hunt", canary[::-1], str(shop.folder), *folders)
    shop.evalkit(
        *("run", "blocks.workspace", "--agent", agent, "--id", "step-050", "-M", f"isolation={isolation}"),
        *("-j", "1", "-o", str(shop.folder / "results")),
    )
    (run,) = (shop.folder / "results").iterdir()
    shop.folder = shop.folder / "moved"
    shop.folder.mkdir()
    shutil.copytree(run, shop.folder / "runs" / run.name)
    assert '"looked": true' in shop.printed()
    return [line.split()[1] for line in shop.printed().splitlines() if line.startswith("FOUND")]


@needs_full
def test_a_hunter_finds_nothing(shop: Any) -> None:
    assert hunt(shop, "full", str(REPOSITORY), "/tmp", "/workspace", "/root", "/home", "/dev/shm") == []
    assert shop.manifest()["agents"][0]["program"]["isolation"] == "full"
    report = shop.evalkit("report", "latest").stdout
    assert "isolation" not in report


@needs_full
def test_plugins_are_hidden_where_their_folder_is_shown(shop: Any) -> None:
    canary = f"canary-{uuid.uuid4().hex}"
    hide(shop, canary)
    site = shop.folder / "site"
    (site / "other.py").write_text(canary)
    agent = shop.template("hunt", canary[::-1], str(site))
    path = shop.folder / "agent.toml"
    path.write_text(path.read_text().replace("prompt =", f'shown = ["{site}"]\nprompt ='))
    shop.evalkit("run", "blocks.workspace", "--agent", agent, "-n", "1", "-j", "1", "-o", "results")
    shutil.rmtree(shop.folder / "runs")
    (shop.folder / "results").rename(shop.folder / "runs")
    assert [line for line in shop.printed().splitlines() if "FOUND" in line] == [f"FOUND {site}/other.py"]


def test_without_isolation_it_does_and_the_run_says_so(shop: Any) -> None:
    found = hunt(shop, "none")
    for part in ("tasks.py", "references/step-050.json", "earlier/run.json", "environ"):
        assert any(part in place for place in found), part
    assert shop.manifest()["agents"][0]["program"]["isolation"] == "none"
    assert "isolation: none" in shop.evalkit("report", "latest").stdout
    document = json.loads(shop.evalkit("report", "latest", "--format", "json").stdout)
    assert "isolation: none" in document["runs"][0]["notices"][0]


def test_a_weaker_isolation_is_told_at_once(shop: Any) -> None:
    done = shop.play(shop.template("behave"), "-M", "isolation=none")
    assert "note: cli:agent.toml: isolation: none" in done.stderr


@needs_full
def test_what_it_sees(shop: Any) -> None:
    shop.environment |= {"SOME_TOKEN": "1", "STANDIN_SETTING": "on", "HTTPS_PROXY": "http://proxy:1"}
    shop.play(shop.template("look"))
    seen = json.loads(shop.printed())
    fixed = {"HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
    assert set(seen["environment"]) - fixed - {"LC_CTYPE"} == {
        "STANDIN_KEY",
        "STANDIN_SETTING",
        "HTTPS_PROXY",
    }
    assert seen["uid"] == 65534
    assert seen["cwd"] == "/workspace"
    assert seen["home"] == ["prompt.md"]
    assert {"srv", "var", "run", "root", "sys", "mnt"}.isdisjoint(seen["root"])


@needs_full
def test_it_gets_copies_of_its_credentials_only(shop: Any) -> None:
    home = shop.folder / "own-home"
    (home / ".standin").mkdir(parents=True)
    (home / ".standin" / "login.json").write_text("{}")
    (home / ".standin" / "history.json").write_text("{}")
    name = shop.template("look")
    path = shop.folder / "agent.toml"
    path.write_text(path.read_text().replace('["STANDIN_KEY"]', '[]\nfiles = ["~/.standin/login.json"]'))
    shop.environment["HOME"] = str(home)
    shop.play(name)
    assert json.loads(shop.printed())["home"] == [".standin", ".standin/login.json", "prompt.md"]


@pytest.mark.parametrize("level", ["full", "uid"])
def test_abstract_sockets_of_the_host_are_out_of_reach(shop: Any, level: str) -> None:
    """They belong to the network, which the program shares with the host."""
    if abi() < 6:
        pytest.skip(f"Landlock ABI 6 (Linux 6.12) is needed, this kernel has {abi() or 'none'}")
    if level == "uid" and not probe().drops_uid:
        pytest.skip("only root can give programs a user id of their own")
    if level == "full" and probe().level < Level.FULL:
        pytest.skip(f"no full sandbox here: {probe().reasons[0]}")
    said = connect(shop, level)
    assert said == ["host PermissionError", "own REACHED"]


def test_without_isolation_abstract_sockets_are_reached(shop: Any) -> None:
    """So the attempt would get through if nothing stopped it."""
    assert connect(shop, "none") == ["host REACHED", "own REACHED"]


def connect(shop: Any, isolation: str) -> list[str]:
    """What the stand-in says of an abstract socket of the host, and of its own."""
    with socket.socket(socket.AF_UNIX) as server:
        name = f"evalkit-test-{uuid.uuid4().hex}"
        server.bind(f"\0{name}")
        server.listen()
        shop.play(shop.template("connect", name), "-M", f"isolation={isolation}")
    printed: str = shop.printed()
    return printed.splitlines()
