"""What a coding agent was given isn't in the record, whatever it does with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

CREDENTIALS = 'files = ["~/.standin/login.json"]'
SECRETS = {
    "STANDIN_KEY": "key-1234567890",
    "STANDIN_SETTING": "https://setting-user:setting-word@host/",
    "HTTPS_PROXY": "http://proxy-user:proxy%21word@127.0.0.1:1",
}
TOKENS = ("file-access-0123456789", "file-refresh-0123456789")


@pytest.fixture
def rich_shop(shop: Any) -> Any:
    """A shop whose agent gets a key, a file with tokens, and addresses with passwords."""
    login = shop.folder / "own-home" / ".standin" / "login.json"
    login.parent.mkdir(parents=True)
    login.write_text(json.dumps({"oauth": {"access": TOKENS[0], "refresh": TOKENS[1]}}, indent=2))
    shop.environment |= {"HOME": str(login.parent.parent), **SECRETS}
    return shop


def play(shop: Any, what: str, *words: str, code: int = 0) -> Any:
    name = shop.template(what)
    path = shop.folder / "agent.toml"
    path.write_text(path.read_text().replace('["STANDIN_KEY"]', f'["STANDIN_KEY"]\n{CREDENTIALS}'))
    return shop.play(name, *words, code=code)


def test_nothing_that_it_was_given_is_recorded(rich_shop: Any, isolation: str) -> None:
    done = play(rich_shop, "betray", "-M", f"isolation={isolation}", code=3)
    (action,) = rich_shop.events("action")
    stack = rich_shop.blob(action["arguments"]["files"]["stack.json"])
    texts = [path.read_bytes() for path in rich_shop.run_folder().rglob("*") if path.is_file()]
    for text in (*texts, done.stdout.encode(), done.stderr.encode(), stack):
        for secret in (*SECRETS.values(), *TOKENS, "setting-word", "proxy%21word"):
            assert secret.encode() not in text
    assert b"[STANDIN_KEY]" in stack
    assert b"[login.json]" in stack
    assert "[STANDIN_KEY]" in rich_shop.end()["detail"]
    (redacted,) = (e for e in rich_shop.events("agent_process") if e["phase"] == "redacted")
    assert redacted["files"] == ["stack.json"]


def test_a_delivery_without_secrets_is_left_alone(rich_shop: Any) -> None:
    play(rich_shop, "behave")
    assert rich_shop.end()["reason"] == "done"
    assert "redacted" not in {e["phase"] for e in rich_shop.events("agent_process")}


@pytest.mark.parametrize("option", ["effort=key-1234567890", "api_key=anything"])
def test_options_hold_no_secrets(shop: Any, option: str) -> None:
    name = shop.template("behave")
    path = shop.folder / "agent.toml"
    path.write_text(path.read_text().replace('"behave"]', '"behave", ["{effort}"], ["{api_key}"]]'))
    done = shop.play(name, "-M", option, code=2)
    assert f"-M {option.partition('=')[0]}: no secrets here" in done.stderr
    assert not (shop.folder / "runs").exists()


def test_credentials_that_cannot_be_read_are_found_first(rich_shop: Any) -> None:
    (rich_shop.folder / "own-home" / ".standin" / "login.json").write_bytes(b"x" * (2 << 20))
    done = play(rich_shop, "behave", code=2)
    assert "can't read the credentials file" in done.stderr
    assert not (rich_shop.folder / "runs").exists()
