"""Secrets and traces of a machine in texts: finding them, and taking them out.

Where a name says that its value is a secret, the value alone is taken out. Patterns match no quote and no
backslash at the end of what they find, so that a JSON text from which a secret is taken stays a JSON text.
Texts are anyone's: no pattern takes more than linear time, so that whatever may begin at every place is
bounded in length.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

REMOVED = "[removed: "
"""How the words begin that stand in place of what was taken out."""

_START = r"(?<![A-Za-z0-9])"
_VALUE = r"[^\s\"',;}\\]+"


def _named(names: str, flags: re.RegexFlag | int = re.IGNORECASE) -> re.Pattern[str]:
    """What a name assigns with `:` or `=`; the group `kept` is all before the value.

    A quoted name is a JSON field's: its value is a text only if it is quoted, too.
    """
    quoted = r"\\?[\"']\s{0,16}[:=]\s{0,16}\\?[\"']"
    bare = r"\s{0,16}[:=]\s{0,16}(?:\\?[\"'])?"
    scheme = r"(?:(?i:bearer|basic|token)\s{1,16})?"
    return re.compile(
        rf"(?P<kept>(?>{_START}(?:{names})(?:{quoted}|{bare}){scheme}))(?!\[removed: ){_VALUE}", flags
    )


_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^\"]*?"
            r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|(?=\")|\Z)"
        ),
    ),
    (
        "authentication header",
        _named("(?:proxy-)?authorization|x-api-key|api-key|x-goog-api-key|(?:set-)?cookie"),
    ),
    ("authentication header", re.compile(r"\bbearer\s{1,16}[A-Za-z0-9._~+/=-]{16,}", re.IGNORECASE)),
    (
        "API key",
        re.compile(
            _START + r"(?:sk-[A-Za-z0-9_-]{16,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|AIza[0-9A-Za-z_-]{30,}"
            r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{20,}"
            r"|hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}"
            r"|ya29\.[A-Za-z0-9_-]{20,}|xai-[A-Za-z0-9]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[0-9A-Z]{16}"
            r"|eyJ[A-Za-z0-9_-]{10,1024}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]+)?)"
        ),
    ),
    (
        "environment variable",
        _named(r"(?<!_)[A-Z][A-Z0-9_]{0,100}(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)", 0),
    ),
    (
        "named secret",
        _named(
            r"(?:api|access|secret|private|account)[_-]?key|(?:access|auth|refresh|session)[_-]?token"
            r"|client[_-]?secret|password|passwd|passphrase"
        ),
    ),
    (
        "address with a password",
        re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@\"\\]{1,256}:[^\s/@\"\\]{1,256}@"),
    ),
    (
        "local path",
        re.compile(
            r"(?<![\w.])/(?:home|Users|root|mnt|media|tmp|work|opt|srv|data|Volumes|private|var)"
            r"/[^\s\"'<>|:;,)\]}\\]+"
        ),
    ),
    (
        # A single backslash before one of nrtu may be a line end or the like in a JSON text.
        "local path",
        re.compile(
            _START + r"(?:[a-z]:(?:\\\\|\\(?![nrtu\\])|[\\/](?=users\b)|/(?!/))|%[a-z]{3,20}%(?:\\{1,2}|/))"
            r"[^\\/\"'<>|*?\r\n]+(?:(?:\\{1,2}|/)[^\\/\"'<>|*?\r\n]+)*",
            re.IGNORECASE,
        ),
    ),
)

#: Files that hold secrets whatever is in them.
_SECRET_FILES = re.compile(
    r"\.env(\..*)?|\.netrc|\.npmrc|\.pypirc|id_[a-z0-9]+|.*\.(pem|key|p12|pfx)", re.IGNORECASE
)


def secrets_in(text: str) -> list[str]:
    """What kinds of secrets or traces of a machine a text holds, each once."""
    return list(dict.fromkeys(kind for kind, pattern in _PATTERNS if pattern.search(text)))


def scrubbed_text(text: str) -> str:
    """The text with `[removed: …]` in place of whatever `secrets_in` finds."""
    for kind, pattern in _PATTERNS:
        kept = r"\g<kept>" if "kept" in pattern.groupindex else ""
        text = pattern.sub(f"{kept}{REMOVED}{kind}]", text)
    return text


def scrubbed(value: Any) -> Any:
    """A JSON value with all its texts scrubbed, names of fields too; a name may make its text a secret."""
    if isinstance(value, str):
        return scrubbed_text(value)
    if isinstance(value, Mapping):
        return dict(_scrubbed_field(name, inner) for name, inner in value.items())
    if isinstance(value, list | tuple):
        return [scrubbed(inner) for inner in value]
    return value


def _scrubbed_field(name: str, value: Any) -> tuple[str, Any]:
    name, value = scrubbed_text(name), scrubbed(value)
    if isinstance(value, str):
        value = scrubbed_text(field_text(name, value)).removeprefix(field_text(name, ""))
    return name, value


def field_text(name: str, value: str) -> str:
    """Name and text of a field as the one text in which secrets are looked for."""
    return f"{name}: {value}"


def is_secret_file(path: str) -> bool:
    """Whether a file's name alone says that it doesn't belong into a release."""
    return _SECRET_FILES.fullmatch(PurePosixPath(path).name) is not None
