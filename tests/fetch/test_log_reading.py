"""A domain's fetches over all its hosts, stretch by stretch: none is missed, none is told twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from messor.errors import UsageError
from messor.fetch import queries
from messor.fetch.queries import FETCHES, FetchFilter, LoggedFetch
from messor.politeness import lanes
from messor.store.database import Database
from tests.crawling import admit

FETCH = """
INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, duration_ms,
                                 waited_ms, rule, policy_version)
VALUES ($1, $2, $3, 1, $4, 1, 0, 'approved', 1)
"""


async def _log(database: Database) -> list[tuple[datetime, str]]:
    """Fetches of three hosts, the newest first; one host has most of them, every seventh is blocked."""
    domain = await admit(database, "one.example")
    other = await admit(database, "two.example")
    now = datetime.now(UTC)
    async with database.transaction() as connection:
        ids = [
            await lanes.open_host(connection, domain.id, host)
            for host in ("one.example", "a.one.example", "b.one.example")
        ]
        ids.append(await lanes.open_host(connection, other.id, "two.example"))
        times = []
        for number in range(60):
            host = 3 if number % 5 == 0 else 1 if number % 11 == 0 else 2 if number % 13 == 0 else 0
            at = now - timedelta(days=number)
            outcome = "blocked" if number % 7 == 0 else "ok"
            await connection.execute(FETCH, at, number + 1, ids[host], outcome)
            if host != 3:
                times.append((at, outcome))
    return times


async def _all(database: Database, wanted: FetchFilter, limit: int) -> list[LoggedFetch]:
    seen: list[LoggedFetch] = []
    cursor = None
    while True:
        part = await FETCHES.read(database, wanted, cursor=cursor, limit=limit)
        seen += part.items
        if (cursor := part.next) is None:
            return seen


@pytest.mark.parametrize("limit, stretch", [(50, 1_000), (3, 1_000), (3, 1), (1, 1), (7, 9)])
@pytest.mark.parametrize("outcome", [None, "blocked", "nothing"])
async def test_all_of_a_domain(
    database: Database,
    outcome: str | None,
    limit: int,
    stretch: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queries, "SCAN_LIMIT", stretch)
    logged = await _log(database)
    seen = await _all(database, FetchFilter(domain="one.example", outcome=outcome), limit)
    expected = [at for at, what in logged if outcome in (None, what)]
    assert [one.fetched_at for one in seen] == expected
    assert len({one.id for one in seen}) == len(seen)


async def test_times_providers_and_pages_narrow_the_log(database: Database) -> None:
    logged = await _log(database)
    times = [at for at, _ in logged]
    some = FetchFilter(domain="one.example", since=times[9], until=times[4])
    assert [one.fetched_at for one in await _all(database, some, 3)] == times[5:10]
    assert len(await _all(database, FetchFilter(domain="one.example", provider="http"), 50)) > 40
    assert await _all(database, FetchFilter(domain="one.example", provider="browser"), 50) == []
    (one,) = await _all(database, FetchFilter(page_id=2), 50)
    assert one.page_id == 2
    assert await _all(database, FetchFilter(page_id=2, outcome="blocked"), 50) == []
    assert await _all(database, FetchFilter(page_id=2, until=one.fetched_at), 50) == []
    assert await _all(database, FetchFilter(page_id=2, domain="two.example"), 50) == []
    with pytest.raises(UsageError, match="domain, page_id and url"):
        await FETCHES.read(database, FetchFilter(outcome="ok"))


async def test_a_domain_without_a_log(database: Database) -> None:
    await admit(database, "one.example")
    assert await _all(database, FetchFilter(domain="one.example"), 50) == []
    assert await _all(database, FetchFilter(domain="nobody.example"), 50) == []
