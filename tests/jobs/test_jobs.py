"""What people do with jobs: ask for them, call them off, revive them, count them."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from messor.errors import ConflictError
from messor.jobs import jobs, leases, outcomes
from messor.jobs.jobs import NewJob
from messor.store.database import Database


def score(key: str, **more: object) -> NewJob:
    return NewJob("score", key, "domain", **more)  # type: ignore[arg-type]


async def ask(database: Database, *wanted: NewJob) -> list[NewJob]:
    async with database.transaction() as connection:
        return await jobs.enqueue(connection, wanted)


async def test_enqueue_answers_which_were_new(database: Database) -> None:
    first, again, other = score("a:2026-W01"), score("a:2026-W01"), score("b:2026-W01")
    assert await ask(database, first) == [first]
    assert await ask(database, other, again) == [other]
    next_window = score("a:2026-W02")
    assert await ask(database, again, next_window) == [next_window]


async def test_what_is_asked_for_again_stays_as_it_was(database: Database) -> None:
    await ask(database, score("a:2026-W01", priority=7))
    assert await ask(database, score("a:2026-W01", priority=1)) == []
    assert await database.fetchval("SELECT priority FROM messor.jobs") == 7


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
        await outcomes.complete(connection, first)
        cancelled = await jobs.cancel(connection, [done.id, running.id, waiting.id])
    assert set(cancelled) == {running.id, waiting.id}
    assert await jobs.counts(database) == {"score": {"done": 1, "cancelled": 2}}
    assert await leases.heartbeat(database, [first, second], 60) == [second]


async def test_cancelling_a_type_takes_all_that_was_open(database: Database) -> None:
    await ask(database, *(score(str(number)) for number in range(7)))
    await ask(database, NewJob("export", "e", "domain"))
    await leases.claim(database, "w", ["score"], 2, 60)
    assert await jobs.cancel_type(database, "score", batch=3) == 7
    assert await jobs.cancel_type(database, "score") == 0
    assert await jobs.counts(database) == {"score": {"cancelled": 7}, "export": {"queued": 1}}


async def test_50_submissions_at_once_with_one_key_are_one_job_and_one_answer(
    database: Database,
) -> None:
    async def submit(crowd: Database) -> jobs.Receipt:
        async with crowd.transaction() as connection:
            return await jobs.submit(connection, score("idempotency-key"))

    async with asyncio.timeout(300), Database(database.dsn, pool_size=25) as crowd:
        answers = await asyncio.gather(*(submit(crowd) for _ in range(50)))
    assert len(answers) == 50
    assert len(set(answers)) == 1
    rows = await database.fetch("SELECT id, created_at FROM messor.jobs")
    assert [(row["id"], row["created_at"]) for row in rows] == [
        (answers[0].id, answers[0].created_at)
    ]


async def test_a_key_answers_the_same_while_its_job_runs_and_when_it_is_done(
    database: Database,
) -> None:
    async def submit() -> jobs.Receipt:
        async with database.transaction() as connection:
            return await jobs.submit(connection, score("a"))

    first = await submit()
    (job,) = await leases.claim(database, "w", ["score"], 1, 60)
    assert await submit() == first
    async with database.transaction() as connection:
        await outcomes.complete(connection, job)
    assert await submit() == first


async def test_a_key_of_another_kind_of_job_is_refused(database: Database) -> None:
    await ask(database, score("a"))
    async with database.transaction() as connection:
        with pytest.raises(ConflictError, match=r"'a'.*'score'"):
            await jobs.submit(connection, NewJob("export", "a", "domain"))
    assert await jobs.counts(database) == {"score": {"queued": 1}}
