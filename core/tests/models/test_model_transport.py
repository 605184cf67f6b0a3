"""What the transport records and which timeouts it applies, against real sockets."""

import contextlib
import gzip
import json
import socket
import threading

import pytest
from provider_standin import cut, drip, drop, hang, page, raw, reply, stall, status

httpx = pytest.importorskip("httpx")

from evalkit.models import Timeouts  # noqa: E402
from evalkit.models._deadline import time_limit  # noqa: E402
from evalkit.models._transport import (  # noqa: E402
    MAX_RESPONSE_BYTES,
    CurrentTransport,
    RecordingTransport,
    recording,
)

BODY = {"model": "m", "messages": []}


@contextlib.contextmanager
def client_with(timeouts=Timeouts(), connections=4):  # noqa: B008 - frozen
    transport = RecordingTransport(timeouts, connections)
    with httpx.Client(transport=CurrentTransport(), timeout=0.001) as client, recording(transport) as call:
        yield client, call
    transport.close()


def post(client, provider, **options):
    return client.post(f"{provider.openai_url}/chat/completions", json=BODY, **options)


def test_an_exchange_is_recorded_without_keys(provider):
    provider.then(status(401, "bad key sk-secret-1"))
    headers = {"authorization": "Bearer sk-secret-1"}
    with client_with() as (client, call):
        response = post(client, provider, headers=headers, params={"key": "k-secret-2", "alt": "1"})
    (attempt,) = call.attempts
    assert (attempt.n, attempt.method, attempt.status, attempt.error) == (1, "POST", 401, None)
    assert attempt.url == f"{provider.openai_url}/chat/completions"
    assert attempt.request_id.startswith("req-")
    assert json.loads(attempt.request_body) == BODY
    assert attempt.request_bytes == len(attempt.request_body)
    assert b"bad key [secret]" in attempt.response_body
    assert "secret-" not in json.dumps(attempt.as_dict())
    assert response.json()["error"]["message"] == "bad key [secret]"
    assert {"pool", "connect", "write", "wait", "read"} <= attempt.phases.keys()


def test_our_timeouts_apply_whatever_the_client_says(provider):
    provider.then(drip(pause_s=0.02))
    timeouts = Timeouts(connect=1, write=2, pool=3, read=4)
    with client_with(timeouts) as (client, call):
        assert post(client, provider).status_code == 200
    assert call.attempts[0].timeouts == {"connect": 1, "write": 2, "pool": 3, "read": 4}


def test_waiting_times_are_read_from_the_response(provider):
    provider.then(status(429, retry_after="7"), reply())
    with client_with() as (client, call):
        post(client, provider)
        post(client, provider)
    assert [a.retry_after for a in call.attempts] == [7.0, None]
    assert [a.n for a in call.attempts] == [1, 2]


def test_compressed_bodies_are_recorded_as_text(provider):
    packed = gzip.compress(b'{"a": 1}')
    provider.then(lambda exchange: exchange.send(200, packed, content_encoding="gzip"))
    with client_with() as (client, call):
        assert post(client, provider).json() == {"a": 1}
    assert call.attempts[0].response_body == b'{"a": 1}'
    assert call.attempts[0].response_bytes == len(packed)


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_a_response_without_measure_is_not_read_to_its_end(provider, encoding):
    body = b" " * (MAX_RESPONSE_BYTES + 1)
    body = gzip.compress(body) if encoding == "gzip" else body
    provider.then(lambda exchange: exchange.send(200, body, content_encoding=encoding))
    with client_with() as (client, call), pytest.raises(httpx.ReadError):
        post(client, provider)
    attempt = call.attempts[0]
    assert (attempt.status, attempt.error) == (200, "TooLongError")
    assert attempt.detail == "the response is longer than 16 MiB"


def test_a_body_that_claims_a_wrong_encoding_is_recorded_as_it_came(provider):
    provider.then(lambda exchange: exchange.send(200, b"plain", content_encoding="gzip"))
    with client_with() as (client, call), pytest.raises(httpx.DecodingError):
        post(client, provider)
    assert call.attempts[0].response_body == b"plain"


@pytest.mark.parametrize(("behaviour", "seen"), [(drop(), None), (cut(), 200)])
def test_broken_connections_are_recorded(provider, behaviour, seen):
    provider.then(behaviour)
    with client_with() as (client, call), pytest.raises(httpx.TransportError):
        post(client, provider)
    (attempt,) = call.attempts
    assert attempt.status == seen
    assert attempt.error in ("ReadError", "RemoteProtocolError")
    assert attempt.response_body == (b"" if seen is None else b'{"id": ')


@pytest.mark.parametrize("behaviour", [hang(), stall()])
def test_silence_ends_with_a_read_timeout(provider, behaviour):
    provider.then(behaviour)
    with client_with(Timeouts(read=0.1)) as (client, call), pytest.raises(httpx.ReadTimeout):
        post(client, provider)
    assert (call.attempts[0].error, call.attempts[0].phase) == ("ReadTimeout", "read")


def trickle(body):
    """Endless bytes, never silent for long: in the body, or already in the headers."""

    def behave(exchange):
        if body:
            exchange.send_head(200, 10**6, "application/json")
        else:
            exchange.write(b"HTTP/1.1 200 OK\r\nx: ")
        for _ in range(2_000):
            exchange.write(b" ")
            if exchange.stopping.wait(0.01):
                break

    return behave


@pytest.mark.parametrize("body", [True, False])
def test_a_reply_that_trickles_in_is_cut_at_the_deadline(provider, body):
    provider.then(trickle(body))
    with client_with() as (client, call), time_limit(0.4), pytest.raises(httpx.ReadTimeout):
        post(client, provider)
    (attempt,) = call.attempts
    assert (attempt.error, attempt.phase) == ("ReadTimeout", "read")
    assert max(attempt.timeouts.values()) <= 0.4
    assert len(provider.requests) == 1


def test_nothing_is_sent_when_the_time_is_over(provider):
    with client_with() as (client, _), time_limit(0.0), pytest.raises(httpx.ConnectTimeout):
        post(client, provider)
    assert provider.requests == []
    with client_with() as (client, _), time_limit(20.0):
        assert post(client, provider).status_code == 200


def test_a_full_pool_ends_with_a_pool_timeout(provider):
    provider.then(hang())
    transport = RecordingTransport(Timeouts(pool=0.1), 1)
    with httpx.Client(transport=CurrentTransport()) as client:

        def occupy():
            with recording(transport), contextlib.suppress(httpx.TransportError):
                post(client, provider)

        thread = threading.Thread(target=occupy)
        thread.start()
        provider.await_requests(1)
        with recording(transport) as call, pytest.raises(httpx.PoolTimeout):
            post(client, provider)
        provider.stop()
        thread.join(10)
    assert (call.attempts[0].error, call.attempts[0].phase) == ("PoolTimeout", "pool")


def test_a_server_that_does_not_read_ends_with_a_write_timeout():
    with socket.create_server(("127.0.0.1", 0), backlog=1) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        with client_with(Timeouts(write=0.1)) as (client, call), pytest.raises(httpx.WriteTimeout):
            client.post(url, content=b"x" * 32_000_000)
    assert (call.attempts[0].error, call.attempts[0].phase) == ("WriteTimeout", "write")
    assert call.attempts[0].request_bytes == 32_000_000


@pytest.mark.skipif("linux" not in __import__("sys").platform, reason="needs a backlog that is really full")
def test_a_server_that_does_not_accept_ends_with_a_connect_timeout():
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):  # fill the queue of connections not yet accepted
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        with client_with(Timeouts(connect=0.1)) as (client, call), pytest.raises(httpx.ConnectTimeout):
            client.post(url, content=b"x")
    assert (call.attempts[0].error, call.attempts[0].phase) == ("ConnectTimeout", "connect")


def test_a_refused_connection_has_its_phase():
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    with client_with() as (client, call), pytest.raises(httpx.ConnectError):
        client.post(url)
    assert (call.attempts[0].error, call.attempts[0].phase) == ("ConnectError", "connect")
    assert call.attempts[0].status is None


def test_requests_outside_of_a_call_pass_unrecorded(provider):
    with httpx.Client(transport=CurrentTransport(), timeout=10) as client:
        assert post(client, provider).status_code == 200


def test_calls_of_several_threads_do_not_mix(provider):
    provider.otherwise = drip(pause_s=0.005)
    transport = RecordingTransport(Timeouts(), 4)
    counts = []
    with httpx.Client(transport=CurrentTransport()) as client:

        def work(requests):
            with recording(transport) as call:
                for _ in range(requests):
                    post(client, provider)
            counts.append((requests, len(call.attempts)))

        threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert sorted(counts) == [(n, n) for n in (1, 2, 3, 4)]


def test_the_proxy_of_the_environment_is_used(provider, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{provider.port}")
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.delenv("no_proxy", raising=False)
    provider.then(page(203, "from the proxy"))
    with client_with() as (client, call):
        response = client.post("http://model.invalid/v1/chat/completions", json=BODY)
    assert response.text == "from the proxy"
    assert call.attempts[0].url == "http://model.invalid/v1/chat/completions"


def test_any_bytes_are_kept(provider):
    provider.then(raw(b"\xff\x00"))
    with client_with() as (client, call):
        post(client, provider)
    assert call.attempts[0].response_body == b"\xff\x00"
