"""Waiting between tries, and what providers say about it."""

import email.utils

import pytest

from evalkit.models import ERROR_POLICIES, CallKey, ErrorKind, ModelError, RetryPolicy
from evalkit.models._http import bare_url, redacted, retry_after_s, secrets_of

KEY = CallKey("T-1", 1, 1)
NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": email.utils.formatdate(NOW + 90, usegmt=True)}, 90.0),
        ({"retry-after": email.utils.formatdate(NOW - 90, usegmt=True)}, 0.0),
        ({"retry-after": "2", "retry-after-ms": "250"}, 0.25),
    ],
)
def test_retry_after_is_read_as_seconds_and_as_a_date(headers, seconds):
    assert retry_after_s(headers, NOW) == seconds


def test_waiting_is_between_two_and_ten_seconds_grows_and_repeats():
    policy = RetryPolicy(attempts=50)
    error = ModelError(ErrorKind.SERVER_ERROR, "x")
    keys = [CallKey(f"T-{n}", 1, 1) for n in range(200)]
    first = [policy.wait_s(error, 1, key) for key in keys]
    later = [policy.wait_s(error, 9, key) for key in keys]
    assert all(2 <= wait <= 4 for wait in first)
    assert all(2 <= wait <= 10 for wait in later)
    assert max(later) > 9
    assert len(set(first)) == 200
    assert [policy.wait_s(error, 1, key) for key in keys] == first


def test_retry_after_takes_the_place_of_the_own_waiting_up_to_a_cap():
    policy = RetryPolicy(attempts=3, retry_after_cap_s=60)
    assert policy.wait_s(ModelError(ErrorKind.RATE_LIMITED, "x", retry_after=0.5), 1, KEY) == 0.5
    assert policy.wait_s(ModelError(ErrorKind.RATE_LIMITED, "x", retry_after=9000), 1, KEY) == 60


def test_tries_end_and_what_cannot_be_mended_is_not_tried_again():
    policy = RetryPolicy(attempts=2)
    assert policy.wait_s(ModelError(ErrorKind.TIMEOUT, "x"), 1, KEY) is not None
    assert policy.wait_s(ModelError(ErrorKind.TIMEOUT, "x"), 2, KEY) is None
    for kind, rule in ERROR_POLICIES.items():
        assert (policy.wait_s(ModelError(kind, "x"), 1, KEY) is None) == (not rule.retried)


def test_every_kind_has_a_policy_and_weather_never_counts():
    assert set(ERROR_POLICIES) == set(ErrorKind)
    assert not any(rule.retried and (rule.fatal or rule.counts) for rule in ERROR_POLICIES.values())
    fatal = {kind for kind, rule in ERROR_POLICIES.items() if rule.fatal}
    assert fatal == {
        ErrorKind.AUTH,
        ErrorKind.INSUFFICIENT_QUOTA,
        ErrorKind.MODEL_NOT_FOUND,
        ErrorKind.NOT_KEPT,
    }


def test_secrets_are_blotted_out_of_addresses_and_bodies():
    assert bare_url("https://me:pw@host:8443/v1/x?key=abc#f") == "https://host:8443/v1/x"
    secrets = secrets_of({"authorization": "Bearer sk-0123+456"}, {"key": "AIza7890", "alt": "sse-long"})
    body = b"key sk-0123+456 or sk-0123%2B456 or AIza7890 with sse-long"
    assert redacted(body, secrets) == b"key [secret] or [secret] or [secret] with sse-long"
