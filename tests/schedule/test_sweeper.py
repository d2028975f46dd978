"""O-Sweeper: what the dead leave behind comes back, old logs go, new ones are ready."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from messor.core.ids import new_id
from messor.errors import UsageError
from messor.jobs import jobs
from messor.jobs.jobs import NewJob
from messor.ledger import errors, events
from messor.ledger.errors import LoggedError
from messor.ledger.events import Event
from messor.schedule import sweeper as sweeping
from messor.schedule.standard import standard_registry
from messor.schedule.sweeper import LOGS, retention_months, sweeper
from messor.settings import Settings
from messor.store.database import Database
from tests.held_lanes import claim, lane_row, lease, make_domain, make_lanes
from tests.schedule.conftest import Later
from tests.schedule.sites import make_host, make_pages, run_steps

MAKE_JOB = """
INSERT INTO messor.jobs (id, job_type, target_kind, dedupe_key, state, available_at, locked_by,
                         locked_at, lock_expires_at, token, attempts, max_attempts)
VALUES ($1::uuid, 'export', 'domain', $1::uuid::text, 'running', messor.clock() - $2::interval, 'dead',
        messor.clock() - interval '1 day', messor.clock() - $2::interval, 7, $3, 3)
"""

OPEN_RUN = """
INSERT INTO messor.ingestion_runs (trace_id, orbit_slug, mode, url, requested_by, started_at)
VALUES ($1, 'orbit', 'light', 'https://a.test/', 'ada', messor.clock() - $2::interval)
"""

PARTITIONS = """
SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
 WHERE i.inhparent = ('messor.' || $1)::regclass ORDER BY 1
"""


async def partitions(database: Database, log: str) -> list[str]:
    return [row[0] for row in await database.fetch(PARTITIONS, log)]


async def sweep(database: Database, months: int = 13) -> dict[str, int]:
    return await run_steps(database, sweeper(dict.fromkeys(LOGS, months)))


async def test_a_quiet_house_is_left_as_it_is(database: Database) -> None:
    counts = await sweep(database)
    assert counts.pop("steps") == 8 + len(LOGS)
    assert set(counts.values()) == {0}


async def test_lanes_of_dead_workers_come_back(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    await claim(database, await lease(database))
    await database.fetch(
        "UPDATE messor.worker_leases SET expires_at = messor.clock() - interval '1 s'"
    )
    assert (await sweep(database))["lanes_freed"] == 1
    assert (await lane_row(database, host_id))["worker_id"] is None


async def test_jobs_of_dead_workers_wait_again_or_die(database: Database) -> None:
    hour, moment = timedelta(hours=1), timedelta(seconds=5)
    held = {"waits": (hour, 1), "dies": (hour, 3), "lives": (moment, 1)}
    ids = {name: new_id() for name in held}
    for name, (ago, attempts) in held.items():
        await database.fetch(MAKE_JOB, ids[name], ago, attempts)
    counts = await sweep(database)
    assert (counts["jobs_reclaimed"], counts["jobs_dead"]) == (1, 1)
    rows = {row["id"]: dict(row) for row in await database.fetch("SELECT * FROM messor.jobs")}
    states = {name: (rows[ids[name]]["state"], rows[ids[name]]["token"]) for name in held}
    assert states == {"waits": ("queued", 8), "dies": ("dead", 8), "lives": ("running", 7)}
    assert rows[ids["dies"]]["finished_at"] is not None
    logged = await database.fetch("SELECT job_id, error_message FROM messor.error_logs")
    assert {row["job_id"] for row in logged} == {ids["waits"], ids["dies"]}
    assert "The lease of worker dead expired during attempt 3." in {
        row["error_message"] for row in logged
    }


async def test_more_jobs_than_a_step_takes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "JOBS_PER_STEP", 3)
    for _ in range(8):
        await database.fetch(MAKE_JOB, new_id(), timedelta(hours=1), 1)
    assert (await sweep(database))["jobs_reclaimed"] == 8


async def test_a_lost_wake_up_is_made_up_for(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "LANES_PER_STEP", 2)
    hosts = [(await make_host(database, f"l{n}.test"))[0] for n in range(5)]
    for host_id in hosts[:4]:  # the last one has nothing to do
        await make_pages(database, host_id, due_in=timedelta(hours=-1))
        await make_pages(database, host_id, what="later", due_in=timedelta(hours=5))
    await database.fetch("UPDATE messor.lanes SET claim_at = NULL, due_at = NULL")
    assert (await sweep(database))["lanes_woken"] == 4
    for host_id in hosts[:4]:
        lane = await lane_row(database, host_id)
        first = "SELECT min(due_at) FROM messor.crawl_tasks WHERE host_id = $1"
        assert lane["due_at"] == await database.fetchval(first, host_id)
        assert lane["claim_at"] == max(lane["ready_at"], lane["due_at"])
    assert (await lane_row(database, hosts[4]))["claim_at"] is None
    assert (await sweep(database))["lanes_woken"] == 0


@pytest.mark.parametrize("status", ["suspended", "pending_review"])
async def test_lanes_that_must_sleep_sleep_on(database: Database, status: str) -> None:
    host_id, _ = await make_host(database, "a.test", status=status)
    await make_pages(database, host_id, due_in=timedelta(hours=-1))
    await database.fetch("UPDATE messor.lanes SET claim_at = NULL")
    assert (await sweep(database))["lanes_woken"] == 0


async def test_ingestions_whose_process_was_lost_end_with_an_error(database: Database) -> None:
    await database.fetch(OPEN_RUN, "old", timedelta(hours=2))
    await database.fetch(OPEN_RUN, "young", timedelta(minutes=10))
    assert (await sweep(database))["ingestions_ended"] == 1
    rows = await database.fetch("SELECT trace_id, stage, outcome FROM messor.ingestion_runs")
    assert {tuple(row) for row in rows} == {
        ("old", "done", "error"),
        ("young", "discovering", None),
    }
    data = await database.fetchval("SELECT data FROM messor.events WHERE type = 'ingestion.lost'")
    assert '"trace_id": "old"' in data


async def test_old_partitions_go_and_new_ones_come(database: Database, later: Later) -> None:
    before = await partitions(database, "http_fetches")
    then = await later(timedelta(days=14 * 31))
    counts = await sweep(then)
    for log in LOGS:
        kept = await partitions(then, log)
        oldest = await then.fetchval(
            "SELECT to_char(messor.clock() - interval '13 months', '_YYYY_MM')"
        )
        months = [name.removeprefix(log) for name in kept if not name.endswith("_other")]
        assert min(months) >= oldest
        assert len(months) >= 5
        assert f"{log}_other" in kept
    gone = set(before) - set(await partitions(then, "http_fetches"))
    assert gone
    assert counts["partitions_dropped"] == len(gone) * len(LOGS)
    events = await then.fetch("SELECT data FROM messor.events WHERE type = 'retention.applied'")
    assert len(events) == counts["partitions_dropped"]
    assert (await sweep(then))["partitions_dropped"] == 0


async def test_nothing_goes_when_all_is_kept_for_ever(database: Database, later: Later) -> None:
    before = set(await partitions(database, "http_fetches"))
    then = await later(timedelta(days=1000))
    await sweep(then, months=0)
    assert before <= set(await partitions(then, "http_fetches"))


async def test_a_log_may_have_a_rule_of_its_own(later: Later) -> None:
    """Months by log come from the settings, and reach the sweeper of this release."""
    rules = {"jobs_history": 2, "http_fetches": 0, "events": 30}
    settings = Settings(retention_months=4, retention_by_log=rules)
    then = await later(timedelta(days=12 * 31))
    await run_steps(then, standard_registry(settings).get("O-Sweeper"))
    oldest = await then.fetch(
        """SELECT n, to_char(messor.clock() - make_interval(months => n), '_YYYY_MM') AS month
             FROM generate_series(0, 30) AS n"""
    )
    months = {row["n"]: row["month"] for row in oldest}
    for log in LOGS:
        kept = [name.removeprefix(log) for name in await partitions(then, log)]
        kept = sorted(name for name in kept if name != "_other")
        if log in ("http_fetches", "events"):
            assert kept[0] < months[11]
        else:
            assert kept[0] >= months[rules.get(log, 4)]


async def test_job_history_is_moved_made_ahead_and_dropped(
    database: Database, later: Later
) -> None:
    """A job from its end to where nobody knows of it any more, by sweeps alone."""
    async with database.transaction() as connection:
        (job,) = await jobs.enqueue(connection, [NewJob("score", "a", "domain")])
        await jobs.cancel(connection, [job.id])
    history = "SELECT tableoid::regclass::text FROM messor.jobs_history WHERE id = $1"
    assert await database.fetchval(history, job.id) is None
    then = await later(timedelta(days=32))
    assert (await sweep(then, months=2))["jobs_retired"] == 1
    part = await then.fetchval(history, job.id)
    assert "other" not in part
    ahead = await then.fetchval(
        "SELECT to_char(messor.clock() + interval '3 months', '\"jobs_history_\"YYYY_MM')"
    )
    assert ahead in await partitions(then, "jobs_history")
    much_later = await later(timedelta(days=32 + 4 * 31))
    await sweep(much_later, months=2)
    assert await much_later.fetchval(history, job.id) is None
    assert part.removeprefix("messor.") not in await partitions(much_later, "jobs_history")


@pytest.mark.parametrize(
    "rules, complaint", [({"pages": 3}, "names 'pages'"), ({"events": -1}, "0 keeps a log")]
)
def test_rules_that_make_no_sense_are_refused(rules: dict[str, int], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        retention_months(Settings(retention_by_log=rules))


async def test_a_suspect_is_left_to_the_runners_that_know_it(database: Database) -> None:
    await database.fetch(MAKE_JOB, new_id(), timedelta(hours=1), 2)
    assert (await sweep(database))["jobs_reclaimed"] == 0
    assert await database.fetchval("SELECT state FROM messor.jobs") == "running"


async def test_old_rows_in_the_partition_for_everything_else_go_too(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "ROWS_PER_STEP", 3)
    insert = """INSERT INTO messor.error_logs (occurred_at, category, error_type, error_message)
                SELECT messor.clock() - $1::interval, 'internal', 'X', 'x' FROM generate_series(1, 7)"""
    await database.fetch(insert, timedelta(days=500))
    await database.fetch(insert, timedelta(days=200))
    assert (await sweep(database))["old_rows_deleted"] == 7
    assert await database.fetchval("SELECT count(*) FROM messor.error_logs") == 7


async def test_a_log_somebody_reads_keeps_its_partition_until_the_next_sweep(
    later: Later, dsn: str
) -> None:
    then = await later(timedelta(days=14 * 31))
    log = LOGS[0]
    before = await partitions(then, log)
    async with Database(dsn) as reader, reader.transaction() as reading:
        await reading.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        await reading.fetch(f"SELECT count(*) FROM messor.{log}")
        await asyncio.wait_for(sweep(then), 120)
        assert set(before) <= set(await partitions(then, log))
    await sweep(then)
    assert not set(before) <= set(await partitions(then, log))


async def test_partitions_are_made_for_months_whose_rows_came_too_early(
    database: Database, later: Later
) -> None:
    """Nobody made partitions for half a year, and somebody wrote to a log before we came."""
    then = await later(timedelta(days=200))
    for log, moment in (("events", "occurred_at"), ("http_fetches", "fetched_at")):
        await write_one(then, log, moment)
    await sweep(then)
    for log, moment in (("events", "occurred_at"), ("http_fetches", "fetched_at")):
        month = await then.fetchval("SELECT to_char(messor.clock(), '_YYYY_MM')")
        assert f"{log}{month}" in await partitions(then, log)
        rows = await then.fetch(f"SELECT tableoid::regclass::text AS part FROM messor.{log}")
        assert f"{log}{month}" in {row["part"].removeprefix("messor.") for row in rows}
        await write_one(then, log, moment)  # ids go on counting


async def write_one(database: Database, log: str, moment: str) -> Any:
    if log == "events":
        return await database.fetch("INSERT INTO messor.events (type, actor) VALUES ('x', 'y')")
    return await database.fetch(
        """INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome,
             duration_ms, waited_ms, rule, policy_version)
           VALUES (messor.clock(), 1, 1, 1, 'ok', 1, 1, 'x', 1)"""
    )


async def test_ids_of_logs_stay_unique(later: Later) -> None:
    then = await later(timedelta(days=200))
    for _ in range(3):
        await write_one(then, "events", "occurred_at")
    await sweep(then)
    for _ in range(3):
        await write_one(then, "events", "occurred_at")
    doubled = "SELECT id FROM messor.events GROUP BY id HAVING count(*) > 1"
    assert await then.fetch(doubled) == []


async def test_rows_written_after_the_last_partition_come_where_they_belong(later: Later) -> None:
    """Nothing kept the logs for half a year; what was written meanwhile is neither lost nor in the way."""
    then = await later(timedelta(days=200))
    async with then.transaction() as connection:
        await events.record(connection, [Event("domain.noted", "test")])
        await errors.log(
            connection, [LoggedError("parse", "Error", "a stray", None, None, None, {})]
        )
    stray = "SELECT tableoid::regclass::text FROM messor.events WHERE type = 'domain.noted'"
    assert await then.fetchval(stray) == "events_other"
    await sweep(then)
    assert await then.fetchval(stray) != "events_other"
    for log in LOGS:
        strays = await then.fetchval(f"SELECT count(*) FROM messor.{log}_other")
        assert strays == 0, log
