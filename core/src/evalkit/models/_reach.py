"""Where a model is, with which key, and whether anybody is there."""

from __future__ import annotations

import os
import socket
import urllib.request
from dataclasses import dataclass
from urllib.parse import urlsplit

from evalkit.errors import UnknownNameError, UsageError
from evalkit.models._options import ModelOptions
from evalkit.models._presets import aliases, full_name, providers

NO_KEY = "no-key"
"""Sent where a server wants none: SDKs refuse to send nothing."""
_CONNECT_CHECK_S = 5.0


@dataclass(frozen=True, slots=True)
class Reach:
    """How a model is reached.

    `provider` and `name` are litellm's, `api_key_env` is the variable with the key; None where no key is
    sent, or where litellm finds it (`key_by_litellm`).
    """

    provider: str
    name: str
    base_url: str | None
    api_key_env: str | None
    key_by_litellm: bool = False

    @property
    def full_name(self) -> str:
        """`provider/name`, as litellm takes it."""
        return f"{self.provider}/{self.name}"

    @property
    def keyless(self) -> bool:
        """No key is sent."""
        return self.api_key_env is None and not self.key_by_litellm

    def api_key(self) -> str | None:
        """The key to send; None leaves it to litellm. UsageError names the variable that is missing."""
        if self.key_by_litellm:
            return None
        if self.api_key_env is None:  # keyless
            return NO_KEY
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise UsageError(
                f"model {self.full_name} needs a key: set {self.api_key_env}, or name another variable "
                "with -M api_key_env=NAME"
            )
        if not key.isascii() or not key.isprintable():
            raise UsageError(f"{self.api_key_env} holds line breaks or other characters that no key has")
        return key


def find_reach(model: str, options: ModelOptions) -> Reach:
    """How a model string with its options is reached. UnknownNameError for an unknown provider.

    A key is never sent to another address than its provider's unless `api_key_env` says so.
    """
    full = full_name(model)
    head, _, name = full.partition("/")
    known = providers()
    if not name or head not in known:
        head, name = _ask_litellm(full)
    provider = known.get(head)
    if options.base_url is not None or provider is None:
        by_litellm = options.base_url is None and options.api_key_env is None
        return Reach(head, name, options.base_url, options.api_key_env, by_litellm)
    if provider.base_url_needed:
        raise UsageError(f"model {full}: say where its server is with -M base_url=http://HOST:PORT/v1")
    return Reach(head, name, provider.base_url, options.api_key_env or provider.api_key_env)


def _ask_litellm(model: str) -> tuple[str, str]:
    from evalkit.models import _runtime

    found = _runtime.provider_of(model)
    if found is None:
        head, slash, _ = model.partition("/")
        known = _runtime.provider_names() if slash else [*aliases(), *(f"{p}/…" for p in providers())]
        hint = "a model is named provider/model, scripted:FILE or cassette:FILE"
        raise UnknownNameError("provider of models" if slash else "model", head, known, hint)
    return found


def check_reach(reach: Reach) -> None:
    """UsageError if the key is missing or nobody listens at an address of the user's own."""
    reach.api_key()
    if reach.key_by_litellm:
        from evalkit.models import _runtime

        if missing := _runtime.missing_keys(reach.full_name):
            raise UsageError(
                f"model {reach.full_name} needs {' and '.join(missing)}: set it, or name the variable with "
                "the key with -M api_key_env=NAME"
            )
    if reach.base_url is not None:
        _check_address(reach.base_url)


def _check_address(url: str) -> None:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if urllib.request.getproxies().get(parts.scheme) and not urllib.request.proxy_bypass(host):
        return
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((host, port), _CONNECT_CHECK_S).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"nobody answers at {url}: {reason}; start the server, or correct -M base_url"
        ) from error
