"""Secrets and traces of a machine in texts: finding them, and taking them out.

Patterns match no quote and no backslash at the end of what they find, so that a JSON text from which a
secret is taken stays a JSON text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

REMOVED = "[removed: "
"""How the words begin that stand in place of what was taken out."""

_VALUE = r"[^\s\"',;}\\]+"

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^\"]*?(?:-----END [A-Z ]*PRIVATE KEY-----|(?=\")|\Z)"
        ),
    ),
    (
        "authentication header",
        re.compile(
            r"\b(?:proxy-)?authorization\\?[\"']?\s*[:=]\s*(?:\\?[\"'])?(?:(?:bearer|basic|token)\s+)?"
            + _VALUE,
            re.IGNORECASE,
        ),
    ),
    (
        "authentication header",
        re.compile(
            r"\b(?:x-api-key|api[-_]key|x-goog-api-key|(?:set-)?cookie)\\?[\"']?\s*[:=]\s*(?:\\?[\"'])?"
            + _VALUE,
            re.IGNORECASE,
        ),
    ),
    ("authentication header", re.compile(r"\bbearer\s+[A-Za-z0-9._~+/=-]{16,}", re.IGNORECASE)),
    (
        "API key",
        re.compile(
            r"\b(?:sk-[A-Za-z0-9_-]{16,}|AIza[0-9A-Za-z_-]{30,}|gh[pousr]_[A-Za-z0-9]{20,}"
            r"|github_pat_\w{20,}|hf_[A-Za-z0-9]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[0-9A-Z]{16}"
            r"|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,})"
        ),
    ),
    (
        "environment variable",
        re.compile(r"\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)\s*=\s*(?:\\?[\"'])?" + _VALUE),
    ),
    ("address with a password", re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@\"\\]+:[^\s/@\"\\]+@")),
    (
        "local path",
        re.compile(
            r"(?<![\w.])/(?:home|Users|root|mnt|media|tmp|work|private/var|var/folders)/[^\s\"'<>|:;,)\]}\\]+"
        ),
    ),
    (
        "local path",
        re.compile(
            r"\b[a-z]:(?:\\{1,2}|/)(?:users|documents and settings)(?:(?:\\{1,2}|/)[^\\/\"'<>|*?\r\n]+)+",
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
        text = pattern.sub(f"{REMOVED}{kind}]", text)
    return text


def scrubbed(value: Any) -> Any:
    """A JSON value with all its texts scrubbed, the names of fields too."""
    if isinstance(value, str):
        return scrubbed_text(value)
    if isinstance(value, Mapping):
        return {scrubbed_text(name): scrubbed(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [scrubbed(inner) for inner in value]
    return value


def is_secret_file(path: str) -> bool:
    """Whether a file's name alone says that it doesn't belong into a release."""
    return _SECRET_FILES.fullmatch(PurePosixPath(path).name) is not None
