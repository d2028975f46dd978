"""Keys count until their window ends; then finished jobs go to the history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from messor.jobs import dead_letters, history, jobs, leases, outcomes
from messor.jobs.dead_letter_queries import DeadLetterFilter
from messor.jobs.jobs import NewJob
from messor.store.database import Database
from tests.jobs.conftest import Later
from tests.jobs.test_leases import ask, claim, complete, fail

SOON = timedelta(minutes=5)


async def in_history(database: Database) -> list[tuple[str, str]]:
    rows = await database.fetch(
        "SELECT dedupe_key, state FROM messor.jobs_history ORDER BY dedupe_key"
    )
    return [(row["dedupe_key"], row["state"]) for row in rows]


async def test_a_done_jobs_key_counts_until_its_window_ends(
    database: Database, later: Later
) -> None:
    await ask(database, "a", window_ends_at=datetime.now(UTC) + SOON)
    (job,) = await claim(database)
    await complete(database, job)
    assert await history.retire(database) == 0
    assert await ask(database, "a") == []
    after = await later("6 minutes")
    assert await history.retire(after) == 1
    assert await history.retire(after) == 0
    assert await in_history(database) == [("a", "done")]
    assert len(await ask(database, "a")) == 1


async def test_without_a_window_a_key_counts_for_31_days(database: Database, later: Later) -> None:
    await ask(database, "a")
    await complete(database, (await claim(database))[0])
    assert await history.retire(await later("30 days")) == 0
    assert await history.retire(await later("32 days")) == 1


async def test_only_done_and_cancelled_jobs_retire(database: Database, later: Later) -> None:
    past = datetime.now(UTC) - SOON
    await ask(database, *"abcde", window_ends_at=past)
    held = await claim(database, 4)
    await complete(database, held[0])
    await fail(database, held[1], retryable=False)
    async with database.transaction() as connection:
        await jobs.cancel(connection, [held[2].id])
    assert await history.retire(database) == 2
    gone = [(held[0].dedupe_key, "done"), (held[2].dedupe_key, "cancelled")]
    assert await in_history(database) == sorted(gone)
    assert await jobs.counts(database) == {"score": {"dead": 1, "running": 1, "queued": 1}}


async def test_the_whole_job_is_kept(database: Database) -> None:
    wanted = NewJob("score", "a", "domain", target_url="https://one.test/", payload={"n": 1},
                    input_hash="h", prompt_version="v", model="m", priority=2,
                    window_ends_at=datetime.now(UTC) - SOON)  # fmt: skip
    async with database.transaction() as connection:
        await jobs.enqueue(connection, [wanted])
    (job,) = await leases.claim(database, "w", ["score"], 1, 60)
    async with database.transaction() as connection:
        await outcomes.complete(connection, job, {"ok": True})
    before = await database.fetchrow("SELECT * FROM messor.jobs")
    assert await history.retire(database) == 1
    after = await database.fetchrow("SELECT * FROM messor.jobs_history")
    assert before is not None
    assert after is not None
    kept = dict(after)
    assert kept.pop("retired_at") is not None
    assert kept == dict(before)


async def test_retiring_goes_in_batches_oldest_window_first(database: Database) -> None:
    now = datetime.now(UTC)
    for minutes, key in enumerate("abcde", 1):
        await ask(database, key, window_ends_at=now - timedelta(minutes=minutes))
    for job in await claim(database, 5):
        await complete(database, job)
    assert [await history.retire(database, 2) for _ in range(4)] == [2, 2, 1, 0]
    order = await database.fetch("SELECT dedupe_key FROM messor.jobs_history ORDER BY retired_at")
    assert {row["dedupe_key"] for row in order[:2]} == {"d", "e"}


async def test_a_row_someone_holds_is_left_to_the_next_round(database: Database) -> None:
    await ask(database, *"ab", window_ends_at=datetime.now(UTC) - SOON)
    for job in await claim(database, 2):
        await complete(database, job)
    async with database.transaction() as connection:
        await connection.execute("SELECT FROM messor.jobs WHERE dedupe_key = 'a' FOR UPDATE")
        assert await history.retire(database) == 1
    assert await history.retire(database) == 1


async def test_the_history_has_partitions_by_month(database: Database) -> None:
    await ask(database, "a", window_ends_at=datetime.now(UTC) - SOON)
    await complete(database, (await claim(database))[0])
    await history.retire(database)
    row = await database.fetchrow(
        "SELECT tableoid::regclass::text AS place, retired_at FROM messor.jobs_history"
    )
    assert row is not None
    assert row["place"].removeprefix("messor.") == f"jobs_history_{row['retired_at']:%Y_%m}"


async def test_a_purged_letter_is_in_the_history_and_its_key_is_free(database: Database) -> None:
    await ask(database, "a")
    await fail(database, (await claim(database))[0], retryable=False)
    assert await ask(database, "a") == []
    assert await dead_letters.purge(database, DeadLetterFilter(), actor="ann") == 1
    assert await in_history(database) == [("a", "dead")]
    assert len(await ask(database, "a")) == 1
