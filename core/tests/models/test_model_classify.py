"""What an exchange amounts to, whatever exception a library made of it, and the tokens it names."""

import json
import math
import pickle

import pytest

from evalkit.models import ErrorKind, HttpAttempt, ModelError, Usage, cost, total_usage
from evalkit.models._classify import failure
from evalkit.models._prices import snapshot
from evalkit.models._usage import read_usage

TIMEOUTS = {"connect": 10.0, "write": 60.0, "pool": 30.0, "read": 300.0}


def attempt(status=None, body=b"", **fields):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HttpAttempt(1, "POST", "http://x/v1", 0.0, TIMEOUTS, status=status, response_body=body, **fields)


def openai_error(message="no", code=None):
    return {"error": {"message": message, "code": code}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, openai_error(), "rate_limited"),
        (429, openai_error(code="insufficient_quota"), "insufficient_quota"),
        (400, openai_error("Your credit balance is too low to access the API"), "insufficient_quota"),
        (402, b"", "insufficient_quota"),
        (401, openai_error(), "auth"),
        (403, openai_error(), "auth"),
        (403, openai_error(code="content_filter"), "content_filter"),
        (404, openai_error(), "model_not_found"),
        (400, openai_error(code="context_length_exceeded"), "context_overflow"),
        (413, openai_error("request_too_large"), "context_overflow"),
        (400, openai_error("The response was filtered: content management policy"), "content_filter"),
        (400, openai_error("temperature must be below 2"), "bad_request"),
        (422, openai_error(), "bad_request"),
        (301, b"", "model_not_found"),
        (408, b"", "server_error"),
        (500, b"<html>", "server_error"),
        (502, b"<html>", "server_error"),
        (529, openai_error("Overloaded"), "server_error"),
        (200, {"choices": []}, "empty_choices"),
        (200, b'{"choices": [', "malformed_reply"),
        (200, b"", "malformed_reply"),
        (200, openai_error("slow down", 429), "rate_limited"),
        (200, openai_error("gone wrong", "internal"), "server_error"),
        (200, openai_error("no credit", 402), "insufficient_quota"),
    ],
)
def test_status_and_body_decide(status, body, kind):
    # litellm shows a refused connection as a 500 and a 429 as a bad request: the exception says nothing
    error = failure([attempt(500), attempt(status, body)], RuntimeError("BadRequestError"))
    assert error.kind == kind
    assert error.status == status
    assert len(error.attempts) == 2
    assert "http://x/v1" in str(error)


@pytest.mark.parametrize(
    ("name", "phase", "status", "kind"),
    [
        ("ConnectTimeout", "connect", None, "timeout"),
        ("WriteTimeout", "write", None, "timeout"),
        ("PoolTimeout", "pool", None, "timeout"),
        ("ReadTimeout", "read", None, "timeout"),
        ("ReadTimeout", "read", 200, "timeout"),
        ("ConnectError", "connect", None, "connection"),
        ("RemoteProtocolError", None, 200, "connection"),
    ],
)
def test_what_broke_on_the_way_is_a_timeout_or_the_connection(name, phase, status, kind):
    error = failure([attempt(status, error=name, phase=phase)], RuntimeError("InternalServerError 500"))
    assert (error.kind, error.phase, error.policy.retried) == (kind, phase, True)
    if kind == "timeout":
        assert f"after {TIMEOUTS[phase]:g} s" in str(error)


def test_without_any_exchange_the_status_of_the_exception_is_all_there_is():
    class RefusedError(Exception):
        status_code = 429

    assert failure([], RefusedError("x")).kind is ErrorKind.RATE_LIMITED
    assert failure([], ValueError("no such tool")).kind is ErrorKind.NOT_SENT


def test_a_waiting_time_is_handed_on():
    assert failure([attempt(429, openai_error(), retry_after=9.0)], None).retry_after == 9.0


def test_the_message_is_one_short_line():
    error = failure([attempt(400, openai_error("a\nb " * 1000))], None)
    assert "\n" not in str(error)
    assert len(str(error)) < 400


def test_errors_cross_processes():
    error = failure([attempt(429, openai_error(), retry_after=2.0)], None)
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, ModelError)
    assert (str(copy), copy.kind, copy.retry_after) == (str(error), error.kind, 2.0)


@pytest.mark.parametrize(
    ("body", "usage"),
    [
        ({}, Usage()),
        (None, Usage()),
        ([], Usage()),
        ({"usage": None}, Usage()),
        ({"usage": {"prompt_tokens": 5, "completion_tokens": 2}}, Usage(5, 2)),
        ({"usage": {"prompt_tokens": 0, "completion_tokens": 0}}, Usage(0, 0)),
        ({"usage": {"prompt_tokens": 5}}, Usage(5, None)),
        ({"usage": {"prompt_tokens": True, "completion_tokens": "3"}}, Usage()),
        ({"usage": {"prompt_tokens": 10**400, "completion_tokens": -5}}, Usage()),
        ({"usage": {"prompt_tokens": math.nan, "completion_tokens": math.inf}}, Usage()),
        (
            {
                "usage": {
                    "prompt_tokens": 9,
                    "completion_tokens": 8,
                    "prompt_tokens_details": {"cached_tokens": 4},
                    "completion_tokens_details": {"reasoning_tokens": 6},
                }
            },
            Usage(9, 8, 4, 6),
        ),
        ({"usage": {"input_tokens": 5, "output_tokens": 2}}, Usage(5, 2)),
        (
            {
                "usage": {
                    "input_tokens": 5,
                    "output_tokens": 2,
                    "cache_read_input_tokens": 100,
                    "cache_creation_input_tokens": 10,
                }
            },
            Usage(115, 2, 100),
        ),
        (
            {"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 30}},
            Usage(5, 32, None, 30),
        ),
        ({"prompt_eval_count": 5, "eval_count": 2}, Usage(5, 2)),
        ({"usage": {"tokens": {"input_tokens": 5, "output_tokens": 2}}}, Usage(5, 2)),
    ],
)
def test_tokens_are_those_the_provider_names_and_none_otherwise(body, usage):
    assert read_usage(body) == usage


PRICES = {"input": 2.0, "output": 10.0, "cached": 0.5}


def test_cost_counts_cached_input_at_its_own_price():
    assert cost(Usage(10, 3, 4), PRICES) == 6 * 2.0 + 4 * 0.5 + 3 * 10.0
    assert cost(Usage(10, 3, 4), PRICES | {"cached": None}) == 50.0
    assert cost(Usage(10, 3), PRICES) == 50.0


def test_unknown_prices_or_tokens_give_an_unknown_cost():
    assert cost(Usage(10, 3), None) is None
    assert cost(Usage(None, 3), PRICES) is None
    assert cost(Usage(10, None), PRICES) is None
    assert total_usage([Usage(1, 2), Usage(3, None)]) == Usage(4, None)
    assert total_usage([]) == Usage()


def test_a_price_entry_without_both_prices_is_unknown():
    entry = {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "cache_read_input_token_cost": 1e-7}
    assert snapshot(entry, "list") == {"input": 1e-6, "output": 2e-6, "cached": 1e-7, "source": "list"}
    assert snapshot({"input_cost_per_token": 1e-6}, "list") is None
    assert snapshot(None, "list") is None
