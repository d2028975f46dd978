"""The scenarios: a crawl that runs to its end while somebody does harm, and its verdict.

Harm is spread over the crawl by how much of the web was asked for, not by time, so that it hits
a slow machine's crawl as evenly as a fast one's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import asyncpg

from chaos import archive, checker, verdict
from chaos.checker import Check
from chaos.gather import read_tables, requests_of
from chaos.history import Fault, FaultKind, History
from chaos.stage import Plan, Stage, open_stage
from messor.archive.segments import seal_abandoned
from messor.core.terminal import say
from messor.ops import politeness
from messor.politeness import lanes
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION
from simweb.chance import draw
from simweb.conditions import RETRY_AFTER_S

STALL_LEASES = 3  # a stall lasts this many worker leases
CUT_LEASES = 2
QUIET_SECONDS = 1.5  # finished for this long means done
POLL_SECONDS = 0.05
AIM_SECONDS = 0.005  # between two looks for a refusal
REFUSAL_SECONDS = 10.0  # after which no more is waited for one
STUCK_SECONDS = 75.0  # without a single request: longer than the first retry of a page
TELL_SECONDS = 5.0
CLOCK = "SELECT pg_get_functiondef('messor.clock()'::regprocedure)"
AHEAD = "(clock_timestamp() + interval '1 hour')"
OPEN_LEASES = "SELECT count(*) FROM messor.worker_leases WHERE ended_at IS NULL"

# The driver's own complaint when a connection dies between an answer and its return to the pool.
AWAY = (*LOST_CONNECTION, asyncpg.InternalClientError)

Answer = TypeVar("Answer")


@dataclass(slots=True)
class Report:
    """What a run came to."""

    plan: Plan
    seconds: float
    figures: dict[str, int] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    said: str = ""  # by the workers

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)


async def play(plan: Plan) -> Report:
    """Crawl under harm, stop everything, judge."""
    async with open_stage(plan) as stage:
        started = time.monotonic()
        for _ in range(plan.workers):
            stage.crew.start()
        harming = asyncio.create_task(_harm(stage))
        try:
            finished = await _crawl(stage, harming)
        finally:
            harming.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await harming
        report = Report(plan, round(time.monotonic() - started, 1))
        report.checks.append(Check("crawl finished", int(finished), "= 1", finished))
        await asyncio.to_thread(stage.crew.dismiss)
        await _judge(stage, report)
        return report


async def _judge(stage: Stage, report: Report) -> None:
    plan = stage.plan
    await _close_books(stage)
    history = History(
        plan.delay,
        plan.lease,
        address_slots=stage.address_slots,
        retry_after=RETRY_AFTER_S if plan.refusing else 0.0,
        addresses=stage.addresses,
        expected=stage.expected,
        faults=stage.faults,
    )
    history.requests = requests_of(stage.web.requests())
    await read_tables(stage.database, history)
    counts = {kind: sum(f.kind is kind for f in stage.faults) for kind in FaultKind}
    wanted = {
        FaultKind.KILL: plan.kills,
        FaultKind.STALL: plan.stalls,
        FaultKind.POSTGRES: plan.crashes,
        FaultKind.CUT: plan.cuts,
        FaultKind.STEP: plan.steps,
    }
    report.checks += [
        Check(f"faults: {kind}", counts[kind], f"= {number}", counts[kind] == number)
        for kind, number in wanted.items()
        if number
    ]
    report.checks.append(verdict.none_of("workers that gave up", stage.crew.gave_up))
    if plan.steps:
        audited = await politeness.audit(stage.database, agent=Settings().agent_token)
        report.checks += verdict.judge_without_clock(history, dict(audited.found))
    else:
        report.checks += verdict.judge(history)
    report.checks += archive.judge(stage.archive, history.snapshots)
    report.figures = {
        "hosts": plan.hosts,
        "pages": len(history.expected),
        "requests": len(history.requests),
        "visits": len(history.visits),
        "worker leases": len(history.leases),
        "snapshots": len(history.snapshots),
    }
    if plan.addresses:
        report.figures["addresses"] = len(set(history.addresses.values()))
    if plan.refusing:
        report.figures["refusals"] = sum(r.status == checker.REFUSED for r in history.requests)
    report.said = stage.crew.said()


async def _close_books(stage: Stage) -> None:
    """End what dead workers left behind, as the next worker would."""
    await stage.session.repair()
    while await stage.database.fetchval(OPEN_LEASES):
        await lanes.reap(stage.database)
        await asyncio.sleep(0.1)
    await seal_abandoned(stage.archive, stage.database)


async def _crawl(stage: Stage, harming: asyncio.Task[None]) -> bool:
    """Watch until all is harvested and all harm is done; False when the time is over."""
    plan = stage.plan
    started = moved_at = time.monotonic()
    share = tell_at = 0.0
    quiet_since: float | None = None
    while (now := time.monotonic()) < min(started + plan.seconds, moved_at + STUCK_SECONDS):
        if not stage.crew.look_after():
            return False
        if harming.done():
            harming.result()
        quiet_since = (quiet_since or now) if await _is_finished(stage) else None
        # Without pages left there is nothing to harm: whoever still waits for progress is late.
        patience = QUIET_SECONDS if harming.done() else STALL_LEASES * plan.lease + 5
        if quiet_since is not None and now - quiet_since >= patience:
            return True
        before, share = share, await stage.share_done()
        moved_at = now if share > before else moved_at
        if now >= tell_at:
            tell_at = now + TELL_SECONDS
            say(f"{plan.name}: {share:.0%} asked for, {len(stage.faults)} faults so far")
        await asyncio.sleep(0.2)
    return False


async def _is_finished(stage: Stage) -> bool:
    try:
        return await stage.is_finished()
    except AWAY:
        return False


async def _harm(stage: Stage) -> None:
    plan = stage.plan
    chance = draw(plan.seed, "harm", plan.name)
    kinds = (
        [FaultKind.KILL] * plan.kills
        + [FaultKind.STALL] * plan.stalls
        + [FaultKind.POSTGRES] * plan.crashes
        + [FaultKind.CUT] * plan.cuts
        + [FaultKind.STEP] * plan.steps
    )
    chance.shuffle(kinds)
    moments = sorted(chance.uniform(0.02, 0.9) for _ in kinds)
    async with asyncio.TaskGroup() as stalls:
        for number, (kind, moment) in enumerate(zip(kinds, moments, strict=True)):
            await _reach(stage, moment)
            if plan.refusing and number % 2:
                await _refused(stage)
            else:
                await asyncio.sleep(chance.uniform(0, 0.3))
            if kind is FaultKind.POSTGRES:
                await _crash_postgres(stage)
                continue
            if kind is FaultKind.CUT:
                await _cut(stage)
                continue
            if kind is FaultKind.STEP:
                await _step_clock(stage)
                continue
            pid = chance.choice(await _until(stage.holders))
            if kind is FaultKind.KILL:
                _kill(stage, pid)
            else:
                stalls.create_task(_stall(stage, pid))


async def _reach(stage: Stage, moment: float) -> None:
    async def is_reached() -> bool:
        return await stage.share_done() >= moment

    await _until(is_reached)


async def _refused(stage: Stage) -> None:
    """Wait for the next refusal: whoever heard it has hardly had the time to write it down."""
    before = await stage.refusals()
    deadline = time.monotonic() + REFUSAL_SECONDS
    while (  # noqa: ASYNC110 - what it waits for happens in another process
        time.monotonic() < deadline and await stage.refusals() == before
    ):
        await asyncio.sleep(AIM_SECONDS)


async def _until(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """Ask again and again, also while the database is away, until there is something."""
    while True:
        with contextlib.suppress(*AWAY):
            if answer := await ask():
                return answer
        await asyncio.sleep(POLL_SECONDS)


def _kill(stage: Stage, pid: int) -> None:
    at = time.time()
    stage.crew.kill(pid)
    stage.faults.append(Fault(FaultKind.KILL, pid, at, time.time()))
    stage.crew.start()


async def _stall(stage: Stage, pid: int) -> None:
    at = time.time()
    stage.crew.stop(pid)
    await asyncio.sleep(STALL_LEASES * stage.plan.lease)
    stage.crew.resume(pid)
    stage.faults.append(Fault(FaultKind.STALL, pid, at, time.time()))


async def _cut(stage: Stage) -> None:
    """Cut everybody off from PostgreSQL until all their leases have run out."""
    assert stage.line is not None
    at = time.time()
    stage.line.cut()
    await asyncio.sleep(CUT_LEASES * stage.plan.lease)
    stage.line.mend()
    stage.faults.append(Fault(FaultKind.CUT, 0, at, time.time()))


async def _step_clock(stage: Stage) -> None:
    """Put the database's clock an hour ahead, for every session, and back after a while."""
    right: str = await stage.database.fetchval(CLOCK)
    at = time.time()
    async with stage.database.connection() as connection:
        await connection.execute(right.replace("clock_timestamp()", AHEAD))
    try:
        await asyncio.sleep(stage.plan.step_seconds)
    finally:
        async with stage.database.connection() as connection:
            await connection.execute(right)
    stage.faults.append(Fault(FaultKind.STEP, 0, at, time.time()))


async def _crash_postgres(stage: Stage) -> None:
    """Kill the postmaster and wait until the workers have brought another one up."""
    pid = await _until(stage.postmaster)
    assert pid is not None
    at = time.time()
    os.kill(pid, signal.SIGKILL)

    async def is_back() -> bool:
        return await stage.postmaster() != pid and await stage.database.fetchval("SELECT true")

    await _until(is_back)
    stage.faults.append(Fault(FaultKind.POSTGRES, 0, at, time.time()))
