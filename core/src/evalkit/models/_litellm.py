"""Any model that litellm reaches: one synchronous try per call, recorded at the transport."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from evalkit.canonical import sha256_of
from evalkit.models import _runtime
from evalkit.models._chat import chat_messages, chat_tools, images_of, without_images
from evalkit.models._classify import failure, json_or_none
from evalkit.models._deadline import time_left_s
from evalkit.models._errors import ErrorKind
from evalkit.models._litellm_reply import read_response
from evalkit.models._options import ModelOptions
from evalkit.models._plain_response import plain_response
from evalkit.models._presets import preset_of
from evalkit.models._prices import snapshot
from evalkit.models._reach import check_reach, find_reach
from evalkit.models._transport import RecordingTransport, recording
from evalkit.models._types import CallKey, Controls, HttpAttempt, ModelReply, ModelRequest, Timeouts
from evalkit.types import Image

_PARAMETERS = {
    "reasoning_effort": "reasoning_effort",
    "temperature": "temperature",
    "top_p": "top_p",
    "max_output_tokens": "max_tokens",
    "stop": "stop",
    "seed": "seed",
    "response_format": "response_format",
}
"""Controls → parameters of litellm, those on which others depend first."""
_KEYLESS = "no key was sent there: name the variable that holds one with -M api_key_env=NAME"


class LitellmClient:
    """A model of a provider, or of a server that speaks a provider's language."""

    def __init__(self, argument: str, options: ModelOptions) -> None:
        """`argument` is the model's name. UnknownNameError if its provider is unknown."""
        self._reach = find_reach(argument, options)
        preset = preset_of(self._reach.full_name)
        self._options, self._preset = options, preset
        self.model, self.provider = self._reach.full_name, self._reach.provider
        self.source = {"model": self.model} | ({"base_url": url} if (url := options.base_url) else {})
        self.controls, self.defaults = options.controls, preset.controls
        self.max_connections = options.max_connections
        self.attempts = preset.attempts if options.max_retries is None else options.max_retries + 1
        self.timeouts = Timeouts(**{**preset.timeouts.as_dict(), **options.timeouts})
        self._transport = RecordingTransport(self.timeouts, self.max_connections)
        self._fitted: dict[str, tuple[dict[str, Any], dict[str, str]]] = {}
        self._lock = threading.Lock()

    def complete(self, request: ModelRequest, key: CallKey) -> ModelReply:
        """Try once. Raises ModelError, classified by what was exchanged."""
        parameters, not_sent = self._parameters(request.controls)
        arguments = self._arguments(request, parameters)
        images = images_of(request)
        with recording(self._transport) as call:
            try:
                response = _runtime.litellm().completion(**arguments)
            except Exception as error:
                attempts = _stripped(call.attempts, images)
                failed = failure(attempts, error)
                response = (
                    plain_response(json_or_none(attempts[-1].response_body))
                    if failed.kind is ErrorKind.MALFORMED_REPLY
                    else None
                )
                if response is None:
                    keyless = failed.kind is ErrorKind.AUTH and self._reach.keyless
                    raise (failed.explained(_KEYLESS) if keyless else failed) from error
        attempts = _stripped(call.attempts, images)
        return read_response(response, request, attempts, parameters, not_sent)

    def describe(self) -> Mapping[str, Any]:
        """The model, litellm's version, what was asked for and what applies, and prices per token."""
        entry = None if self._reach.base_url else _runtime.price_entry(self.model, self.provider)
        release = version("litellm")
        return {
            "model": self.model,
            "client": "litellm",
            "litellm": release,
            "options": self._options.as_dict(),
            "controls": self.controls.given(),
            "defaults": self.defaults.given(),
            "timeouts": self.timeouts.as_dict(),
            "attempts": self.attempts,
            "prices": snapshot(entry, f"litellm {release}"),
        }

    def check(self) -> None:
        """UsageError if the key is missing or nobody listens at the address."""
        check_reach(self._reach)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _arguments(self, request: ModelRequest, parameters: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {
            "model": self.model,
            "messages": chat_messages(request.messages),
            # the transport's timeouts apply; this one keeps litellm from ending a call sooner, and bounds
            # those of providers that bring connections of their own
            "timeout": min(sum(self.timeouts.as_dict().values()), max(0.001, time_left_s())),
            "max_retries": 0,
            "num_retries": 0,
            **parameters,
            **_runtime.client_argument(self.provider),
        }
        key = self._reach.api_key()
        if key is not None:
            found["api_key"] = key
        if self._reach.base_url is not None:
            found["api_base"] = self._reach.base_url
        if request.tools:
            found["tools"] = chat_tools(request.tools, strict=request.strict_tools)
        return found

    def _parameters(self, controls: Controls) -> tuple[dict[str, Any], dict[str, str]]:
        """litellm's parameters for the controls that the model takes, and why the others aren't sent."""
        given = controls.given()
        known = sha256_of(given)
        with self._lock:
            if known not in self._fitted:
                self._fitted[known] = self._fit(given)
            return self._fitted[known]

    def _fit(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        ignored = {name: f"{self.model} ignores it" for name in given if name in self._preset.not_taken}
        if given.get("reasoning_effort", "none") != "none":
            refused = [name for name in given if name in self._preset.not_with_reasoning]
            ignored |= dict.fromkeys(refused, f"{self.model} refuses it beside a reasoning effort")
        wanted = {p: given[c] for c, p in _PARAMETERS.items() if c in given and c not in ignored}
        taken, reasons = _runtime.accepted(self.provider, self._reach.name, wanted)
        names = {p: c for c, p in _PARAMETERS.items()}
        return taken, {**ignored, **{names[p]: reason for p, reason in reasons.items()}}


def _stripped(attempts: Iterable[HttpAttempt], images: list[Image]) -> tuple[HttpAttempt, ...]:
    """The attempts, their requests without the pictures, which are kept once as blobs."""
    found = tuple(attempts)
    for attempt in found:
        attempt.request_body = without_images(attempt.request_body, images)
    return found
