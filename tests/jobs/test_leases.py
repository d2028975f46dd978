"""How workers hold jobs: no two at once, and no word from one who lost the lease."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from messor.errors import LeaseLostError
from messor.jobs import jobs, leases, outcomes
from messor.jobs.jobs import Job, NewJob
from messor.jobs.outcomes import Backoff
from messor.ledger import events
from messor.ledger.errors import Category, LoggedError
from messor.ledger.events import Event
from messor.store.database import Database
from tests.jobs.conftest import Later

ROW = "SELECT * FROM messor.jobs WHERE id = $1"
CLOCK = "SELECT messor.clock()"


async def ask(database: Database, *keys: str, **more: Any) -> list[NewJob]:
    wanted = [NewJob("score", key, "domain", **more) for key in keys]
    async with database.transaction() as connection:
        return await jobs.enqueue(connection, wanted)


async def claim(database: Database, limit: int = 1, worker: str = "w") -> list[Job]:
    return await leases.claim(database, worker, ["score"], limit, 60)


async def fail(database: Database, job: Job, *, retryable: bool = True, **more: Any) -> str:
    fault = LoggedError("network", "OSError", "no route", "stack", job_id=job.id)
    async with database.transaction() as connection:
        return await outcomes.fail(connection, job, fault, retryable=retryable, **more)


async def complete(database: Database, job: Job) -> None:
    """Complete a job after an effect that can be counted."""
    async with database.transaction() as connection:
        await events.record(connection, [Event("domain.track_level_changed", f"token {job.token}")])
        await outcomes.complete(connection, job, {"ok": True})


async def row(database: Database, job: Job) -> Any:
    return await database.fetchrow(ROW, job.id)


async def test_priority_first_then_the_longest_waiting(database: Database) -> None:
    for key, priority in [("late", 9), ("mid-1", 5), ("mid-2", 5), ("first", 1)]:
        await ask(database, key, priority=priority)
    assert [job.dedupe_key for job in await claim(database, 3)] == ["first", "mid-1", "mid-2"]
    assert [job.dedupe_key for job in await claim(database, 3)] == ["late"]


async def test_the_type_that_waits_longest_comes_first(database: Database) -> None:
    async with database.transaction() as connection:
        await jobs.enqueue(connection, [NewJob("b", "b", "domain")])
        await jobs.enqueue(connection, [NewJob("a", "a", "domain"), NewJob("c", "c", "domain")])
    (first,) = await leases.claim(database, "w", ["a", "b"], 1, 60)
    assert first.job_type == "b"
    assert [job.job_type for job in await leases.claim(database, "w", ["a", "b"], 9, 60)] == ["a"]


async def test_32_claimers_over_10000_jobs_never_share_one(database: Database) -> None:
    await ask(database, *(str(number) for number in range(10_000)))
    claimed: list[Job] = []

    async def claimer(crowd: Database, number: int) -> None:
        while len(claimed) < 10_000:
            claimed.extend(await claim(crowd, 5 + number % 20, f"w{number}"))

    async with asyncio.timeout(300), Database(database.dsn, pool_size=32) as crowd:
        await asyncio.gather(*(claimer(crowd, number) for number in range(32)))
    assert len(claimed) == len({job.id for job in claimed}) == 10_000
    assert {job.token for job in claimed} == {1}


async def test_racing_for_expired_leases_never_gives_a_token_twice(database: Database) -> None:
    await ask(database, *"abcdefgh", max_attempts=1000)
    claimed: list[Job] = []

    async def claimer(crowd: Database, number: int) -> None:
        while len(claimed) < 300:
            claimed.extend(await leases.claim(crowd, f"w{number}", ["score"], 4, 0))

    async with asyncio.timeout(300), Database(database.dsn, pool_size=16) as crowd:
        await asyncio.gather(*(claimer(crowd, number) for number in range(16)))
    assert len({(job.id, job.token) for job in claimed}) == len(claimed)


async def test_a_late_completion_is_refused_with_its_effects(
    database: Database, later: Later
) -> None:
    await ask(database, "a")
    (slow,) = await claim(database)
    (fast,) = await claim(await later("2 minutes"))
    assert (fast.id, fast.token, fast.attempts) == (slow.id, slow.token + 1, 2)
    with pytest.raises(LeaseLostError):
        await complete(database, slow)
    with pytest.raises(LeaseLostError):
        await fail(database, slow)
    await complete(database, fast)
    with pytest.raises(LeaseLostError):
        await complete(database, fast)
    stored = await row(database, fast)
    assert (stored["state"], stored["result_json"]) == ("done", '{"ok": true}')
    assert await database.fetchval("SELECT array_agg(actor) FROM messor.events") == ["token 2"]


async def test_a_completion_racing_with_a_takeover_waits_and_is_refused(
    database: Database, later: Later
) -> None:
    await ask(database, "a")
    (slow,) = await claim(database)
    ahead = await later("2 minutes")
    async with ahead.transaction() as connection:
        taken = await connection.fetch(leases.CLAIM, ["score"], 1, "fast", 60)
        refused = asyncio.create_task(complete(database, slow))
        done, _ = await asyncio.wait([refused], timeout=0.1)
        assert taken
        assert not done
    with pytest.raises(LeaseLostError):
        await refused


async def test_a_lease_that_ran_out_unnoticed_may_still_complete(
    database: Database, later: Later
) -> None:
    await ask(database, "a")
    (job,) = await claim(database)
    await complete(await later("2 minutes"), job)
    assert (await row(database, job))["state"] == "done"


async def test_an_expired_lease_is_claimable_and_leaves_a_trace(
    database: Database, later: Later
) -> None:
    await ask(database, "a")
    (job,) = await claim(database, worker="gone")
    assert await claim(database) == []
    (again,) = await claim(await later("61 seconds"))
    assert again.id == job.id
    logged = await database.fetchrow("SELECT * FROM messor.error_logs")
    assert logged is not None
    assert (logged["job_id"], logged["error_type"]) == (job.id, "LeaseExpired")
    assert "gone" in logged["error_message"]
    assert "attempt 1" in logged["error_message"]


async def test_a_job_that_kills_its_workers_ends_as_a_dead_letter(
    database: Database, later: Later
) -> None:
    await ask(database, "poison", "harmless", max_attempts=3)
    for minutes in (0, 2):
        assert len(await claim(await later(f"{minutes} minutes"), 2)) == 2
    then = await later("4 minutes")
    assert await claim(then, 2) == []
    for _ in range(2):  # the last try of each, apart from each other
        (suspect,) = await leases.claim_suspect(then, "w", ["score"], 60)
        if suspect.dedupe_key == "harmless":
            await complete(then, suspect)
    assert await leases.claim_suspect(then, "w", ["score"], 60) == []
    assert await claim(await later("6 minutes"), 2) == []
    assert await jobs.counts(database) == {"score": {"dead": 1, "done": 1}}
    assert await database.fetchval("SELECT count(*) FROM messor.error_logs") == 5
    dead = await database.fetchrow("SELECT * FROM messor.jobs WHERE state = 'dead'")
    assert dead is not None
    assert (dead["dead_category"], dead["dead_type"]) == ("internal", "LeaseExpired")
    assert dead["dead_reason"] == "The lease of worker w expired during attempt 3."


async def test_heartbeats_keep_a_lease(database: Database, later: Later) -> None:
    await ask(database, "a", "b")
    held = await claim(database, 2)
    assert await leases.heartbeat(await later("50 seconds"), held, 60) == []
    assert await claim(await later("100 seconds"), 2) == []
    assert len(await claim(await later("120 seconds"), 2)) == 2
    assert await leases.heartbeat(database, held, 60) == held
    assert await leases.heartbeat(database, [], 60) == []


async def test_heartbeats_do_not_wait_for_a_completion(database: Database) -> None:
    await ask(database, "a", "b")
    held = await claim(database, 2)
    async with database.transaction() as connection:
        await outcomes.complete(connection, held[0])
        async with asyncio.timeout(60):  # a lock would be given up before
            assert await leases.heartbeat(database, held, 60) == []
    assert await leases.heartbeat(database, held, 60) == []


@pytest.mark.parametrize("attempt, nominal", [(1, 10.0), (2, 20.0), (3, 40.0), (4, 50.0)])
async def test_back_off_doubles_to_a_limit(
    database: Database, attempt: int, nominal: float
) -> None:
    made = await ask(database, *(str(number) for number in range(12)), max_attempts=9)
    await database.fetch("UPDATE messor.jobs SET attempts = $1", attempt - 1)
    assert len(made) == 12
    waits = []
    for job in await claim(database, 12):
        before = await database.fetchval(CLOCK)
        assert await fail(database, job, backoff=Backoff(10, 50)) == "queued"
        after = await database.fetchval(CLOCK)
        due = (await row(database, job))["available_at"]
        assert before + timedelta(seconds=nominal * 0.5) <= due
        assert due <= after + timedelta(seconds=nominal * 1.5)
        waits.append((due - before).total_seconds())
    assert max(waits) - min(waits) > nominal * 0.1


async def test_a_failed_job_comes_back_when_its_wait_is_over(
    database: Database, later: Later
) -> None:
    await ask(database, "a")
    (job,) = await claim(database)
    await fail(database, job, backoff=Backoff(60))
    assert await claim(database) == []
    (again,) = await claim(await later("91 seconds"))
    assert (again.attempts, again.token) == (2, 2)


async def test_dead_when_attempts_are_used_up_or_it_is_no_use(
    database: Database, later: Later
) -> None:
    await ask(database, "hopeless")
    (job,) = await claim(database)
    assert await fail(database, job, retryable=False) == "dead"
    await ask(database, "tried", max_attempts=2)
    (job,) = await claim(database)
    assert await fail(database, job) == "queued"
    (job,) = await claim(await later("1 hour"))
    assert await fail(database, job) == "dead"
    assert await claim(await later("1 day")) == []
    stored = await row(database, job)
    assert stored["finished_at"] is not None
    assert stored["locked_by"] is None
    reason = (stored["dead_category"], stored["dead_type"], stored["dead_reason"])
    assert reason == ("network", "OSError", "no route")
    logged = await database.fetch("SELECT category, stack_trace, job_id FROM messor.error_logs")
    assert len(logged) == 3
    assert {(entry["category"], entry["stack_trace"]) for entry in logged} == {("network", "stack")}


async def test_a_job_without_attempts_dies_with_a_reason(database: Database) -> None:
    (job,) = await ask(database, "a", max_attempts=0)
    assert await claim(database) == []
    stored = await database.fetchrow(ROW, job.id)
    assert stored is not None
    assert (stored["state"], stored["dead_reason"]) == ("dead", "It has no attempts left.")


@pytest.mark.parametrize(
    "category, nominal", [("network", 10.0), ("http", 20.0), ("blocked", 100.0), ("storage", 10.0)]
)
def test_the_category_stretches_the_wait(category: Category, nominal: float) -> None:
    assert Backoff(10).seconds(1, category) == nominal
    assert Backoff(10).seconds(2, category) == nominal * 2
    assert Backoff(10, 15).seconds(9, category) == 15


async def test_a_batch_is_completed_but_for_what_was_lost(database: Database, later: Later) -> None:
    await ask(database, *"abcd")
    held = await claim(database, 4)
    async with database.transaction() as connection:
        await jobs.cancel(connection, [held[0].id])
        await leases.give_back(connection, [held[1]])
    (retaken,) = await claim(database)
    async with database.transaction() as connection:
        assert await leases.confirm(connection, held) == held[2:]
        finished = [(job, {"key": job.dedupe_key}) for job in held]
        assert await outcomes.complete_all(connection, finished) == held[:2]
    assert retaken.id == held[1].id
    assert await jobs.counts(database) == {"score": {"cancelled": 1, "running": 1, "done": 2}}
    results = await database.fetch("SELECT dedupe_key, result_json->>'key' FROM messor.jobs WHERE state = 'done'")  # fmt: skip
    assert {tuple(row) for row in results} == {(job.dedupe_key,) * 2 for job in held[2:]}


async def test_a_confirmed_job_stays_ours_until_the_transaction_ends(
    database: Database, later: Later
) -> None:
    await ask(database, "a")
    held = await claim(database)
    async with database.transaction() as connection:
        assert await leases.confirm(connection, held) == held
        assert await claim(await later("2 minutes")) == []
        assert await outcomes.complete_all(connection, [(held[0], None)]) == []
    assert (await row(database, held[0]))["state"] == "done"


async def test_given_back_jobs_are_there_at_once_and_lose_no_attempt(database: Database) -> None:
    await ask(database, "a", "b")
    held = await claim(database, 2)
    await complete(database, held[0])
    async with database.transaction() as connection:
        await leases.give_back(connection, held)
    (again,) = await claim(database, 2)
    assert (again.id, again.attempts, again.token) == (held[1].id, 1, 2)


async def test_the_clock_is_the_databases_alone(database: Database, later: Later) -> None:
    behind = await later("-1 hour")
    await ask(await later("1 hour"), "tomorrow")
    assert await claim(database) == []
    async with database.transaction() as connection:
        await connection.execute("SET LOCAL messor.clock_offset = '61 minutes'")
        (taken,) = await connection.fetch(leases.CLAIM, ["score"], 1, "w", 60.0)
    assert taken["token"] == 1
    assert await claim(behind) == []
    assert await claim(await later("61 minutes")) == []
    assert len(await claim(await later("63 minutes"))) == 1
