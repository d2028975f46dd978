"""Pace and permits: when the next request may go, and that each goes once."""

from __future__ import annotations

import asyncio

import pytest

from messor.core import clock
from messor.errors import LeaseLostError
from messor.politeness.lease import WorkerLease
from messor.politeness.pace import ANSWER_SHARE, Pace


class Time:
    """A deadline clock that stands still until told to go on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(clock, "now", time)
    return time


def lease_at(now: float, seconds: float = 30.0) -> WorkerLease:
    return WorkerLease(1, seconds, now)


async def turn() -> None:
    """One turn of the loop: what was written is sent."""
    await asyncio.sleep(0)


async def test_the_first_request_waits_until_the_lane_is_ready() -> None:
    pace = Pace(1.0, 0.03, lease_at(clock.now()))
    asked = clock.now()
    await pace.permit()
    assert clock.now() - asked >= 0.03


async def test_the_next_request_is_due_a_delay_after_the_last_was_written(time: Time) -> None:
    pace = Pace(2.0, 0.0, lease_at(time.now))
    permit = await pace.permit()
    time.now += 5  # connecting took that long
    permit.use()
    assert pace.due == time.now + 2
    time.now += 0.5  # the loop was busy before the bytes went out
    await turn()
    assert permit.written_at == time.now
    assert pace.due == time.now + 2


async def test_an_answer_within_a_moment_counts_and_a_late_one_does_not(time: Time) -> None:
    pace = Pace(2.0, 0.0, lease_at(time.now))
    permit = await pace.permit()
    permit.use()
    await turn()
    written = time.now
    time.now += 0.01
    permit.answered()
    assert pace.due == pytest.approx(written + 0.01 + 2)
    time.now += 10
    permit.answered()
    assert pace.due == pytest.approx(written + 2 * ANSWER_SHARE + 2)


async def test_a_permit_is_used_once(time: Time) -> None:
    permit = await Pace(0.0, 0.0, lease_at(time.now)).permit()
    permit.use()
    with pytest.raises(LeaseLostError):
        permit.use()


@pytest.mark.parametrize("late", [0.0, 0.001, 100.0])
async def test_a_permit_is_refused_from_the_deadline_on(time: Time, late: float) -> None:
    lease = lease_at(time.now)
    permit = await Pace(1.0, 0.0, lease).permit()
    time.now = lease.deadline + late
    with pytest.raises(LeaseLostError):
        permit.use()


async def test_a_renewed_lease_lets_the_permit_pass(time: Time) -> None:
    lease = lease_at(time.now)
    permit = await Pace(1.0, 0.0, lease).permit()
    time.now += 31
    lease.deadline = time.now + 30
    permit.use()
    assert permit.used_at == time.now


async def test_the_gap_between_two_requests_is_known(time: Time) -> None:
    pace = Pace(0.0, 0.0, lease_at(time.now))
    first = await pace.permit()
    first.use()
    time.now += 4
    second = await pace.permit()
    second.use()
    assert (first.gap, second.gap) == (0.0, 4.0)


async def test_silence_puts_off_and_never_hurries(time: Time) -> None:
    pace = Pace(1.0, 50.0, lease_at(time.now))
    pace.be_silent(10)
    assert pace.ready_in == 50
    pace.be_silent(90)
    assert pace.ready_in == 90


async def test_silence_that_comes_while_waiting_is_kept() -> None:
    pace = Pace(0.0, 0.02, lease_at(clock.now()))
    waiting = asyncio.create_task(pace.permit())
    await asyncio.sleep(0)
    pace.be_silent(0.06)
    asked = clock.now()
    await waiting
    assert clock.now() - asked >= 0.05


async def test_two_permits_taken_together_do_not_shorten_the_delay(time: Time) -> None:
    """Only lanes without a delay have several runners; a lane that learns of one must slow down."""
    pace = Pace(0.0, 0.0, lease_at(time.now))
    first, second = await pace.permit(), await pace.permit()
    first.use()
    pace.delay = 5.0
    second.use()
    assert pace.due == time.now + 5
