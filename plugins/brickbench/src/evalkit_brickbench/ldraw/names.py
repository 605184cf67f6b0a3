"""File names as references spell them."""

from __future__ import annotations

import unicodedata


def normalise(name: str) -> str:
    """The key under which a file is looked up: lower case, forward slashes, NFC, no quotes, no `./`."""
    key = name.strip().replace("\\", "/").lower()
    if not key.isascii():
        key = unicodedata.normalize("NFC", key)
    if len(key) > 1 and key[0] == key[-1] == '"':
        key = key[1:-1].strip()
    while key.startswith("./"):
        key = key[2:]
    return key


def stem(name: str) -> str:
    """The part name of a file name: normalised, without `.dat` (other endings stay)."""
    return normalise(name).removesuffix(".dat")


def is_safe(key: str) -> bool:
    """Whether a normalised name stays inside the folder it's looked up in."""
    pieces = key.split("/")
    return bool(key) and "\0" not in key and ":" not in pieces[0] and not {"", "..", "."} & set(pieces)
