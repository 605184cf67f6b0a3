"""Which secrets are known to a redactor, and in which forms it finds them."""

from __future__ import annotations

import json
from pathlib import PurePath

import pytest

from evalkit.agents.cli.redaction import Redactor, says_secret, secrets_of_file, secrets_of_variables
from evalkit.types import Delivery

KEY = "sk-ant-0123456789abcdef"
SHORT_PASSWORD = "hunter2!"


def of_file(text: str, name: str = "login.json") -> Redactor:
    return Redactor(secrets_of_file(PurePath("/home/me", name), text.encode()))


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("MY_API_KEY", True),
        ("accessToken", True),
        ("client-secret", True),
        ("DB_PASSWORD", True),
        ("MAX_TOKENS", False),
        ("MONKEY", False),
        ("OPENAI_BASE_URL", False),
    ],
)
def test_names_say_what_is_secret(name: str, secret: bool) -> None:
    assert says_secret(name) is secret


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(
            {"oauth": {"accessToken": KEY, "password": SHORT_PASSWORD, "scope": "https://example.org/all"}}
        ),
        f'scope = "https://example.org/all"\n[oauth]\naccess = ["{KEY}"]\npassword = "{SHORT_PASSWORD}"',
        f"# mine\nscope https://example.org/all\nlogin {KEY}\npassword {SHORT_PASSWORD}\n",
        f"export SCOPE=https://example.org/all\nexport LOGIN='{KEY}'\nPASSWORD: {SHORT_PASSWORD}\n",
    ],
    ids=["JSON", "TOML", "words", "shell"],
)
def test_values_of_a_credentials_file_are_secrets_each(text: str) -> None:
    cleaned = of_file(text).clean_text(f"<{KEY}> {SHORT_PASSWORD} https://example.org/all")
    assert cleaned == "<[login.json]> [login.json] https://example.org/all"


def test_a_file_that_is_one_short_key_and_one_without_secrets() -> None:
    assert of_file("abc-12345\n", "key").clean(b"abc-12345 abc-1234") == b"[key] abc-1234"
    assert of_file("{}").clean(b"{} {}") == b"{} {}"


def test_bytes_that_are_no_text() -> None:
    redactor = Redactor(secrets_of_file(PurePath("key"), b"\xff\xfe\x00binary-key"))
    assert redactor.clean(b"a\xff\xfe\x00binary-keyb") == b"a[key]b"


def test_escaped_and_quoted_forms_are_found() -> None:
    redactor = Redactor([("KEY", 'a/b"c\\d+é=12345')])
    value = 'a/b"c\\d+é=12345'
    for form in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        assert redactor.clean_text(f"x {form} y") == "x [KEY] y"
    assert redactor.clean(b"a%2Fb%22c%5Cd%2B%C3%A9%3D12345") == b"[KEY]"


def test_the_longest_secret_goes_first() -> None:
    redactor = Redactor([("PART", "12345678"), ("WHOLE", "abc-12345678-def")])
    assert redactor.clean(b"abc-12345678-def 12345678") == b"[WHOLE] [PART]"


@pytest.mark.parametrize(
    ("name", "value", "said", "left"),
    [
        (
            "HTTPS_PROXY",
            "http://me:pass%21word@proxy:1",
            "pass!word pass%21word",
            "[HTTPS_PROXY] [HTTPS_PROXY]",
        ),
        ("https_proxy", "me:password1@proxy:1", "password1", "[https_proxy]"),
        ("MY_URL", "https://token-of-mine@host/a@b", "token-of-mine a@b", "[MY_URL] a@b"),
        ("MY_URL", "https://host/?api_key=abcdefgh&v=12345678", "abcdefgh 12345678", "[MY_URL] 12345678"),
        ("OTHER_TOKEN", "abcdefgh", "abcdefgh", "[OTHER_TOKEN]"),
        ("LOGIN", "abcdefgh", "abcdefgh", "[LOGIN]"),
        ("CONTACT", "somebody@example.org", "somebody", "somebody"),
    ],
)
def test_variables(name: str, value: str, said: str, left: str) -> None:
    redactor = Redactor(secrets_of_variables({name: value}, ["LOGIN"]))
    assert redactor.clean_text(said) == left


def test_a_delivery_is_cleaned_and_a_name_with_a_secret_isnt_taken() -> None:
    files = {"a.json": b"{}", "b.json": KEY.encode(), f"{KEY}.json": b""}
    delivery, changed = Redactor([("KEY", KEY)]).clean_delivery(
        Delivery(files, {f"link-{KEY}": "a symbolic link"})
    )
    assert delivery.files == {"a.json": b"{}", "b.json": b"[KEY]"}
    assert delivery.omitted == {"link-[KEY]": "a symbolic link", "[KEY].json": "its name holds a secret"}
    assert changed == ["b.json"]


def test_text_that_is_no_unicode_becomes_some() -> None:
    assert Redactor([]).clean_text("a\ud800b").encode().startswith(b"a")
