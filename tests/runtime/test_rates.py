"""Limits that are counted in the process, and a share of descriptors."""

from __future__ import annotations

import resource
from datetime import timedelta

import pytest

from messor.access.errors import ThrottledError
from messor.access.ratelimits import Limit
from messor.errors import UnavailableError
from messor.runtime.server import descriptors
from messor.runtime.server.rates import Rates, Streams


def test_a_key_gets_its_requests_back_evenly() -> None:
    now = [0.0]
    rates = Rates(Limit(4, timedelta(seconds=8)), clock=lambda: now[0])
    for _ in range(4):
        rates.take("a")
    with pytest.raises(ThrottledError) as refused:
        rates.take("a")
    assert refused.value.retry_after == 2
    rates.take("b")
    now[0] = 2.0
    rates.take("a")
    with pytest.raises(ThrottledError):
        rates.take("a")
    now[0] = 100.0
    for _ in range(4):
        rates.take("a")


def test_many_keys_take_bounded_memory() -> None:
    rates = Rates(Limit(1, timedelta(hours=1)), clock=lambda: 0.0, most_keys=100)
    for number in range(1_000):
        rates.take(str(number))
    assert len(rates._spent) <= 101
    with pytest.raises(ThrottledError):
        rates.take("999")


def test_streams_are_counted_while_open() -> None:
    streams = Streams(3, 2)
    with streams.holding("a"), streams.holding("a"):
        with pytest.raises(ThrottledError, match="2 streams open"):
            streams.require_room("a")
        streams.require_room("b")
        with streams.holding("b"), pytest.raises(UnavailableError):
            streams.require_room("b")
    streams.require_room("a")


@pytest.mark.parametrize(
    "allowed, wanted, share", [(4096, 512, 512), (1024, 512, 384), (256, 512, 64), (20, 512, 16)]
)
def test_the_server_leaves_a_reserve(
    allowed: int, wanted: int, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (allowed, allowed))
    assert descriptors.share(wanted) == share
