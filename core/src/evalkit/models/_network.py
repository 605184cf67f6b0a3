"""Connections that end what they wait for at the deadline of the call, however slowly bytes trickle in."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any

import httpcore

from evalkit.models._deadline import time_left_s


class DeadlineBackend(httpcore.NetworkBackend):
    """The usual sockets. A timeout of httpcore's bounds one read; here it never reaches past the deadline."""

    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect. Raises httpcore.ConnectTimeout."""
        clipped = _clipped(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.connect_tcp(host, port, clipped, local_address, socket_options))

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.NetworkStream:
        """Connect. Raises httpcore.ConnectTimeout."""
        clipped = _clipped(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.connect_unix_socket(path, clipped, socket_options))

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self._inner.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _clipped(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _clipped(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        clipped = _clipped(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, clipped))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _clipped(timeout: float | None, error: type[httpcore.TimeoutException]) -> float | None:
    """The timeout, or what is left until the deadline if that is less; `error` is raised if nothing is."""
    left = time_left_s()
    if left <= 0:
        raise error("the time of the episode is used up")
    if left == float("inf"):
        return timeout
    return left if timeout is None else min(timeout, left)
