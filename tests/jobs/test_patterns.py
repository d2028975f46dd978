"""Errors grouped by what their messages have in common."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from messor.jobs.patterns import patterns
from messor.ledger import errors
from messor.ledger.errors import LoggedError
from messor.store.database import Database
from tests.jobs.conftest import Later


@pytest.mark.parametrize(
    "message, pattern",
    [
        ("timeout after 30 s", "timeout after <n> s"),
        ("timeout after 1,000.5 s", "timeout after <n> s"),
        ("GET https://one.test/a?b=1 failed", "GET <url> failed"),
        ("see (http://one.test/x) now", "see (<url>) now"),
        ("s3+https://bucket/key gone", "<url> gone"),
        ('no column "price" here', "no column <text> here"),
        ("no key 'price' here", "no key <text> here"),
        ("can't read, won't write", "can't read, won't write"),
        ("it isn't 'that' or 'this'", "it isn't <text> or <text>"),
        ("object at 0x7fF3a2 lost", "object at <hex> lost"),
        ("hash 9f86d081884c7d65 differs", "hash <hex> differs"),
        ("deadbeef stays, deadbeef1 goes", "deadbeef stays, <hex> goes"),
        ("job 019a8b6e-6c1f-7cc0-8f5a-3a8b1f1c2d3e died", "job <id> died"),
        ("10.0.0.1:80 refused", "<n> refused"),
        ("two\n\t lines ", "two lines"),
        ("", ""),
    ],
)
async def test_what_varies_becomes_a_placeholder(
    database: Database, message: str, pattern: str
) -> None:
    made = await database.fetchval("SELECT messor.error_pattern($1)", message)
    assert made == pattern
    assert await database.fetchval("SELECT messor.error_pattern($1)", made) == pattern


@pytest.mark.parametrize("part", ["'", '"', "a1", "http://", "9", "<", "“", " '", "0x", "\\"])
async def test_hostile_messages_end_as_short_patterns(database: Database, part: str) -> None:
    made = await database.fetchval("SELECT messor.error_pattern($1)", part * 100_000)
    assert len(made) <= 300


async def log(database: Database, *faults: LoggedError) -> None:
    async with database.transaction() as connection:
        await errors.log(connection, faults)


async def test_errors_are_grouped_with_counts_times_and_a_sample(
    database: Database, later: Later
) -> None:
    job_id = uuid4()
    await log(
        database,
        *(LoggedError("network", "OSError", f"no route to 10.0.0.{n}", None) for n in range(5)),
        LoggedError("network", "TimeoutError", "no route to 10.0.0.9", None),
        LoggedError("parse", "DecodeError", "odd byte", None, page_id=3),
    )
    await log(await later("1 hour"), LoggedError("network", "OSError", "no route to 10.9.9.9", None, job_id=job_id))  # fmt: skip
    first, *others = await patterns(await later("2 hours"))
    assert (first.error_type, first.pattern) == ("OSError", "no route to <n>")
    assert (first.times, first.of_jobs) == (6, 1)
    assert (first.sample, first.sample_job_id) == ("no route to 10.9.9.9", job_id)
    assert first.last_at - first.first_at > timedelta(minutes=59)
    assert {(found.error_type, found.times) for found in others} == {
        ("TimeoutError", 1),
        ("DecodeError", 1),
    }


async def test_patterns_are_asked_for_by_age_category_and_type(
    database: Database, later: Later
) -> None:
    await log(database, LoggedError("network", "OSError", "old", None))
    after = await later("2 days")
    await log(
        after,
        LoggedError("network", "OSError", "new", None),
        LoggedError("parse", "X", "odd", None),
    )
    assert len(await patterns(after)) == 3
    recent = await patterns(after, within=timedelta(days=1), category="network")
    assert [found.pattern for found in recent] == ["new"]
    assert [found.pattern for found in await patterns(after, error_type="X")] == ["odd"]
    assert len(await patterns(after, limit=2)) == 2
