"""Facts read from HTTP messages: waiting times, request ids, addresses without secrets."""

from __future__ import annotations

import email.utils
import math
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

_REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid", "x-goog-request-id", "cf-ray")
_SECRET_HEADERS = (
    "authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
    "x-amz-security-token",
)
_SECRET_PARAMETERS = ("key", "api_key", "api-key", "token", "access_token", "sig", "signature")
_REDACTED = b"[secret]"
_SHORTEST_SECRET = 6


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a response asks to wait, or None; `now` is Unix time.

    Reads `retry-after-ms`, and `retry-after` as seconds or as an HTTP date; a time that has passed is 0.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - now)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def request_id(headers: Mapping[str, str]) -> str | None:
    """The provider's name for an exchange, to quote in a complaint."""
    return next((headers[name] for name in _REQUEST_IDS if name in headers), None)


def bare_url(url: str) -> str:
    """An address without user, password, query and fragment."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def secrets_of(headers: Mapping[str, str], parameters: Mapping[str, str]) -> list[bytes]:
    """The secrets that a request carries, as they could be echoed."""
    values = [headers[name].rpartition(" ")[2] for name in _SECRET_HEADERS if name in headers]
    values += [value for name, value in parameters.items() if name.lower() in _SECRET_PARAMETERS]
    forms = {form for value in values for form in (value, quote(value, safe=""))}
    return sorted((f.encode("utf-8") for f in forms if len(f) >= _SHORTEST_SECRET), key=len, reverse=True)


def redacted(body: bytes, secrets: list[bytes]) -> bytes:
    """The body with each secret blotted out."""
    for secret in secrets:
        body = body.replace(secret, _REDACTED)
    return body
