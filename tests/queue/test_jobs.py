"""What people do with jobs: ask for them, call them off, revive them, count them."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from messor.ledger.errors import Fault
from messor.queue import jobs, leases
from messor.queue.jobs import NewJob
from messor.store.database import Database


def score(key: str, **more: object) -> NewJob:
    return NewJob("score", key, "domain", **more)  # type: ignore[arg-type]


async def ask(database: Database, *wanted: NewJob) -> list[NewJob]:
    async with database.transaction() as connection:
        return await jobs.enqueue(connection, wanted)


async def state(database: Database, job: NewJob) -> str:
    value: str = await database.fetchval("SELECT state FROM messor.jobs WHERE id = $1", job.id)
    return value


async def test_enqueue_answers_which_were_new(database: Database) -> None:
    first, again, other = score("a:2026-W01"), score("a:2026-W01"), score("b:2026-W01")
    assert await ask(database, first) == [first]
    assert await ask(database, other, again) == [other]
    next_window = score("a:2026-W02")
    assert await ask(database, again, next_window) == [next_window]


async def test_a_key_twice_in_one_batch_is_one_job(database: Database) -> None:
    assert len(await ask(database, score("same"), score("same"))) == 1
    assert await jobs.counts(database) == {"score": {"queued": 1}}


async def test_nothing_to_enqueue(database: Database) -> None:
    assert await ask(database) == []


async def test_concurrent_askers_make_one_job_per_key(database: Database) -> None:
    keys = [f"key-{number}" for number in range(20)]
    batches = [[score(key) for key in keys[shift:] + keys[:shift]] for shift in range(12)]
    async with Database(database.dsn, pool_size=12) as crowd:
        new = await asyncio.gather(*(ask(crowd, *batch) for batch in batches))
    assert sorted(job.dedupe_key for batch in new for job in batch) == sorted(keys)


async def test_enqueue_is_part_of_the_callers_transaction(database: Database) -> None:
    async def ask_and_stumble() -> None:
        async with database.transaction() as connection:
            await jobs.enqueue(connection, [score("a")])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await ask_and_stumble()
    assert await jobs.counts(database) == {}


async def test_what_was_asked_arrives(database: Database) -> None:
    wanted = score(
        "whole",
        target_url="https://example.org/",
        payload={"depth": [1, {"ü": None}]},
        input_hash="hash",
        prompt_version="v3",
        model="small",
        priority=2,
        max_attempts=7,
    )
    await ask(database, wanted)
    (job,) = await leases.claim(database, "w", ["score"], 1, 60)
    assert (job.id, job.dedupe_key, job.payload) == (wanted.id, "whole", wanted.payload)
    assert (job.target_kind, job.target_url, job.input_hash) == (
        "domain",
        wanted.target_url,
        "hash",
    )
    assert (job.prompt_version, job.model, job.priority) == ("v3", "small", 2)
    assert (job.token, job.attempts, job.max_attempts) == (1, 1, 7)


async def test_a_delay_is_kept(database: Database) -> None:
    await ask(database, score("soon", delay=timedelta(hours=1)))
    assert await leases.claim(database, "w", ["score"], 1, 60) == []


async def test_cancel_waiting_and_running_but_not_done(database: Database) -> None:
    done, running, waiting = (score(key, priority=rank) for rank, key in enumerate("abc", 1))
    await ask(database, done, running, waiting)
    first, second = await leases.claim(database, "w", ["score"], 2, 60)
    async with database.transaction() as connection:
        await leases.complete(connection, first)
        cancelled = await jobs.cancel(connection, [done.id, running.id, waiting.id])
    assert set(cancelled) == {running.id, waiting.id}
    assert await jobs.counts(database) == {"score": {"done": 1, "cancelled": 2}}
    assert await leases.heartbeat(database, [first, second], 60) == [second]


async def test_requeue_dead_by_id_by_type_and_all(database: Database) -> None:
    scores = [score(f"{number}", max_attempts=1) for number in range(3)]
    export = NewJob("export", "e", "domain", max_attempts=1)
    await ask(database, *scores, export)
    for job in await leases.claim(database, "w", ["score", "export"], 10, 60):
        async with database.transaction() as connection:
            fault = Fault("internal", "Error", "no", None, job_id=job.id)
            await leases.fail(connection, job, fault, retryable=True)
    async with database.transaction() as connection:
        assert await jobs.requeue_dead(connection, job_ids=[scores[0].id]) == [scores[0].id]
        assert await jobs.requeue_dead(connection, job_type="export") == [export.id]
        assert len(await jobs.requeue_dead(connection)) == 2
        assert await jobs.requeue_dead(connection) == []
    revived = await leases.claim(database, "w", ["score", "export"], 10, 60)
    assert {(job.attempts, job.token) for job in revived} == {(1, 2)}
    assert await state(database, export) == "running"
