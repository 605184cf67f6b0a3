"""What a program says and hands in, without the secrets that it was given.

Known are values, and they are found as they are, escaped as in JSON, and quoted as in URLs. What a program
encodes otherwise (base64, backwards, one letter a line) can't be found.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from evalkit.jsonfiles import parse_json
from evalkit.types import Delivery

MIN_SECRET = 8
"""Shorter values are no secrets, and replacing them would garble everything."""
MIN_TOKEN = 16
"""So long is a word of a credentials file that nothing calls a secret, to be taken for one."""

_SECRET_WORDS = frozenset(
    ("key", "apikey", "token", "secret", "password", "passwd", "passphrase", "credential", "credentials")
)
_WORD_ENDS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_TOKEN = re.compile(rf"[^\s\"'`,;:=<>(){{}}\[\]|&]{{{MIN_TOKEN},}}")
_NAMED = re.compile(r"""([\w.-]+)(?=["']?\s*[=:\s]\s*["']?([^\s"',;]+))""")


def says_secret(name: str) -> bool:
    """Whether the name of a variable or field says that it holds a secret."""
    return any(word.lower() in _SECRET_WORDS for word in _WORD_ENDS.split(name))


class Redactor:
    """Replaces secrets by `[name]`."""

    def __init__(self, secrets: Iterable[tuple[str, str]]) -> None:
        """`secrets`: the name that is shown, and the value; values shorter than `MIN_SECRET` are left out."""
        found: dict[bytes, bytes] = {}
        for name, value in secrets:
            if len(value) >= MIN_SECRET:
                for form in _forms(value):
                    found.setdefault(form, f"[{name}]".encode("utf-8", "surrogateescape"))
        # The longest first: one may be part of another.
        self._replacements = sorted(found.items(), key=lambda item: (-len(item[0]), item[0]))

    def clean(self, data: bytes) -> bytes:
        """The bytes without secrets."""
        for secret, name in self._replacements:
            data = data.replace(secret, name)
        return data

    def clean_text(self, text: str) -> str:
        """The text without secrets, and without anything that isn't Unicode."""
        return self.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")

    def clean_delivery(self, delivery: Delivery) -> tuple[Delivery, list[str]]:
        """The files without secrets, and the names of those that held some.

        A file that has one in its name is omitted.
        """
        names = {name: self.clean_text(name) for name in (*delivery.files, *delivery.omitted)}
        omitted = {names[name]: why for name, why in delivery.omitted.items()}
        omitted |= {names[n]: "its name holds a secret" for n in delivery.files if names[n] != n}
        files = {n: self.clean(content) for n, content in delivery.files.items() if names[n] == n}
        changed = [name for name, content in files.items() if content != delivery.files[name]]
        return replace(delivery, files=files, omitted=omitted), changed


def secrets_of_variables(
    variables: Mapping[str, str], credentials: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Variables that hold secrets: `credentials`, those whose names say so, and what URLs carry."""
    known = frozenset(credentials)
    for name, value in variables.items():
        if name in known or says_secret(name):
            yield name, value
        for secret in _secrets_of_url(value, is_url="://" in value or name.upper().endswith("_PROXY")):
            yield name, secret


def secrets_of_file(path: PurePath, content: bytes) -> Iterator[tuple[str, str]]:
    """A credentials file: all of it, its values (JSON, TOML, or words), and long words in them."""
    text = content.decode("utf-8", "surrogateescape")
    for secret in (text.strip(), *_secrets_of_text(text)):
        yield path.name, secret


def _forms(value: str) -> Iterator[bytes]:
    """A value as it may be written."""
    for text in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        yield text.encode("utf-8", "surrogateescape")
    yield quote(value, safe="", errors="surrogateescape").encode("ascii")


def _secrets_of_url(text: str, *, is_url: bool) -> Iterator[str]:
    """User and password of a URL (or of a proxy without a scheme), and secrets among its parameters."""
    if not is_url:
        return
    address, _, parameters = text.partition("?")
    user_info, at, _ = address.rpartition("://")[2].partition("/")[0].rpartition("@")
    if at:
        password = user_info.partition(":")[2]
        yield from (user_info, unquote(user_info), password, unquote(password))
    yield from (value for name, value in parse_qsl(parameters) if says_secret(name))


def _secrets_of_text(text: str) -> Iterator[str]:
    try:
        parsed: Any = parse_json(text)
    except ValueError:
        try:
            parsed = tomllib.loads(text)
        except (ValueError, RecursionError):
            yield from (value for name, value in _NAMED.findall(text) if says_secret(name))
            yield from _tokens(text)
            return
    for name, value in _leaves("", parsed):
        if says_secret(name) or (len(value) >= MIN_TOKEN and "://" not in value):
            yield value
        yield from _tokens(value)


def _tokens(text: str) -> Iterator[str]:
    """Long words; not the addresses in between, of which `https:` is split off."""
    return (token for token in _TOKEN.findall(text) if not token.startswith("//"))


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every text in a value, with the name of its field."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for inner, item in value.items():
            yield from _leaves(inner, item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(name, item)
