"""The limiter: its arithmetic under any order of events, and its threads."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.models import AdaptiveLimiter, ErrorKind, Limiters, ModelError
from evalkit.models._limiter import Window

EVENTS = st.lists(
    st.one_of(
        st.just(("start", 0.0)),
        st.just(("succeed", 0.0)),
        st.tuples(st.just("limited"), st.one_of(st.none(), st.floats(0, 100))),
        st.tuples(st.just("time"), st.floats(0, 50)),
    ),
    max_size=200,
)


@given(st.integers(1, 50).flatmap(lambda most: st.tuples(st.just(most), st.integers(1, most))), EVENTS)
def test_the_window_keeps_its_bounds_and_nobody_starts_while_held(bounds, events):
    most, floor = bounds
    window = Window(most, floor)
    now, running, held = 0.0, [], float("-inf")
    for kind, value in events:
        if kind == "time":
            now += value
        elif kind == "start":
            wait = window.wait_s(now)
            if wait == 0.0:
                assert now >= held
                running.append(window.started())
            elif wait is not None:
                assert wait == pytest.approx(held - now)
        elif running:
            epoch = running.pop(0)
            if kind == "succeed":
                window.succeeded()
            else:
                window.rate_limited(epoch, now, value)
                held = held if value is None else max(held, now + value)
            window.ended()
        assert floor <= window.size <= most
        assert window.running == len(running)


def test_a_burst_of_429_narrows_once_and_successes_widen_by_one_each_round():
    window = Window(16)
    epochs = [window.started() for _ in range(16)]
    for epoch in epochs:
        window.rate_limited(epoch, 0.0, None)
        window.ended()
    assert window.size == 8
    for _ in range(8):
        window.succeeded()
    assert 8.9 < window.size <= 9
    window.rate_limited(window.epoch, 0.0, None)
    assert 4.4 < window.size < 4.6


def test_a_held_window_opens_when_the_time_is_over():
    window = Window(4)
    window.rate_limited(window.started(), 100.0, 20.0)
    window.ended()
    assert window.wait_s(105.0) == 15.0
    assert window.wait_s(120.0) == 0.0


def test_a_floor_out_of_range_is_refused():
    with pytest.raises(ValueError, match="floor"):
        Window(3, 4)


def test_no_more_calls_run_than_allowed():
    limiter = AdaptiveLimiter(3)
    together, most, lock = 0, 0, threading.Lock()
    gate = threading.Barrier(3)

    def call():
        nonlocal together, most
        with limiter.slot() as slot:
            with lock:
                together += 1
                most = max(most, together)
            gate.wait(10)  # passes only if three are inside at once
            with lock:
                together -= 1
            slot.succeeded()

    threads = [threading.Thread(target=call) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert most == 3
    assert limiter.window.running == 0


def test_closing_wakes_those_who_wait_for_a_slot_and_those_who_sleep():
    limiter = AdaptiveLimiter(1)
    errors = []

    def run(action):
        try:
            action()
        except ModelError as error:
            errors.append(error.kind)

    def take():
        with limiter.slot():
            pass

    with limiter.slot():
        threads = [
            threading.Thread(target=run, args=(action,)) for action in (take, lambda: limiter.pause(600))
        ]
        for thread in threads:
            thread.start()
        limiter.close()
        for thread in threads:
            thread.join(20)
    assert errors == [ErrorKind.CANCELLED] * 2


def test_a_slot_is_given_back_when_the_call_fails():
    limiter = AdaptiveLimiter(1)
    with pytest.raises(RuntimeError), limiter.slot():
        raise RuntimeError
    assert limiter.window.running == 0


def test_clients_of_one_provider_at_one_address_share_a_limiter():
    class Client:
        def __init__(self, provider, **address):
            self.provider, self.max_connections = provider, 7
            self.source = {"model": "m", **address}

    limiters = Limiters()
    one = limiters.of(Client("openai"))
    assert limiters.of(Client("openai")) is one
    assert limiters.of(Client("anthropic")) is not one
    local = limiters.of(Client("openai", base_url="http://a/v1"))
    assert local is not one
    assert limiters.of(Client("openai", base_url="http://b/v1")) is not local
    assert limiters.of(Client("openai", base_url="http://a/v1")) is local
    assert one.window.most == 7


def test_who_waits_for_a_slot_gives_up_when_the_time_is_over():
    limiter = AdaptiveLimiter(1)
    with limiter.slot(), pytest.raises(ModelError) as failed, limiter.slot(0.05):
        pass
    assert failed.value.kind is ErrorKind.DEADLINE
    limiter.window.rate_limited(0, limiter._clock(), 600.0)
    with pytest.raises(ModelError, match="deadline"), limiter.slot(0.05):
        pass
    assert limiter.window.running == 0
