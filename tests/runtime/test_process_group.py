"""What runs together ends together."""

from __future__ import annotations

import asyncio
import os

import pytest

from messor.runtime.ends import MEGABYTE, Ceiling, Lifeline, resident_bytes
from messor.runtime.process_group import ProcessGroup


class Member:
    """Runs until told to stop, or for ever."""

    def __init__(self, *, is_deaf: bool = False) -> None:
        self.told = asyncio.Event()
        self.is_deaf = is_deaf
        self.end = "none"

    def stop(self) -> None:
        self.told.set()

    async def run(self) -> None:
        try:
            await self.told.wait()
            if self.is_deaf:
                await asyncio.Event().wait()
            self.end = "stopped"
        except asyncio.CancelledError:
            self.end = "cancelled"
            raise


class Failing(Member):
    async def run(self) -> None:
        raise RuntimeError("a member's own fault")


async def test_all_are_told_to_stop() -> None:
    members = [Member(), Member()]
    company = ProcessGroup(members)
    running = asyncio.create_task(company.run())
    await asyncio.sleep(0)
    company.stop()
    await asyncio.wait_for(running, 60)
    assert [member.end for member in members] == ["stopped", "stopped"]


async def test_the_failure_of_one_ends_all_and_is_told() -> None:
    member = Member()
    with pytest.raises(RuntimeError, match="own fault"):
        await asyncio.wait_for(ProcessGroup([member, Failing()]).run(), 60)
    assert member.end == "stopped"


async def test_who_does_not_hear_is_cancelled() -> None:
    deaf, other = Member(is_deaf=True), Member()
    company = ProcessGroup([deaf, other], farewell_seconds=0.05)
    company.stop()
    await asyncio.wait_for(company.run(), 60)
    assert (deaf.end, other.end) == ("cancelled", "stopped")
    assert company.was_cut_short


async def test_a_process_that_outgrew_its_ceiling_says_so() -> None:
    low, high = Ceiling(1, poll_seconds=0.01), Ceiling(1_000_000, poll_seconds=0.01)
    await asyncio.wait_for(ProcessGroup([low, high]).run(), 60)
    assert (low.is_outgrown, high.is_outgrown) == (True, False)


def test_memory_is_known_of_others_too() -> None:
    assert resident_bytes() > MEGABYTE
    assert resident_bytes(os.getpid()) > MEGABYTE
    assert resident_bytes(2**22 + 1) == 0


async def test_the_end_of_the_supervisor_is_heard() -> None:
    ours, theirs = os.pipe()
    member = Member()
    running = asyncio.create_task(ProcessGroup([member, Lifeline(ours)]).run())
    os.write(theirs, b"whatever")
    await asyncio.sleep(0.05)
    assert not running.done()
    os.close(theirs)
    await asyncio.wait_for(running, 60)
    os.close(ours)
    assert member.end == "stopped"
