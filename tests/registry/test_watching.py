"""What visits leave behind reaches a domain's life: rests, returns, and another look."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from messor.governance import rest
from messor.registry import domains, processing
from messor.registry.domains import Domain
from messor.schedule.orchestrators import RunPosition
from messor.schedule.standard import DOMAINS
from messor.store.database import Database
from simweb.answers import redirect
from tests.crawling import TESTER, admit, crawl, later
from tests.held_lanes import claim, give_back, lane_row, lease
from tests.little_web import LittleWeb, page
from tests.registry.standing import event_types, events, only

YEAR = datetime.now(UTC).year


async def watch(database: Database) -> dict[str, int]:
    """A whole run of the orchestrator, and what it counted."""
    counts: dict[str, int] = {}
    place: RunPosition | None = RunPosition()
    while place is not None:
        async with database.transaction() as connection:
            done = await DOMAINS.step(connection, place)
        counts |= done.counts
        place = done.next
    return {name.removeprefix("domains_"): count for name, count in counts.items()}


async def admitted(database: Database, name: str = "example.org") -> Domain:
    domain = await admit(database, f"https://{name}/", delay=None)
    async with database.transaction() as connection:
        return await processing.begin(connection, domain)


async def fail(database: Database, domain: Domain) -> Domain:
    async with database.transaction() as connection:
        return await rest.fail(connection, domain, "no answer")


async def test_a_quiet_registry_is_left_alone(database: Database) -> None:
    await admitted(database)
    before = await event_types(database)
    assert set((await watch(database)).values()) == {0}
    assert await event_types(database) == before


async def test_nobody_visits_a_domain_that_rests(dsn: str, database: Database) -> None:
    failed = await fail(database, await admitted(database))
    assert await claim(database, await lease(database)) == []
    assert failed.retry_after is not None
    row = await database.fetchrow("SELECT ready_at, claim_at FROM messor.lanes")
    assert row is not None
    assert (row["ready_at"], row["claim_at"]) == (failed.retry_after, failed.retry_after)
    async with Database(later(dsn, timedelta(minutes=61))) as after:
        assert (await watch(after))["returned"] == 1
        domain = await domains.get(after, "example.org")
        assert (domain.processing, domain.failure_count) == ("processing", 1)
        assert len(await claim(after, await lease(after))) == 1


async def test_a_visit_under_way_is_recalled_and_the_rest_outlasts_it(database: Database) -> None:
    domain = await admitted(database)
    holder = await lease(database)
    (lane,) = await claim(database, holder)
    failed = await fail(database, domain)
    row = await lane_row(database, lane.host_id)
    assert row["recall"] == lane.token
    async with database.transaction() as connection:
        renewal = await holder.renew(connection, 1)
    assert renewal.closed == [lane.host_id]
    await give_back(database, holder, [lane])
    row = await lane_row(database, lane.host_id)
    assert row["ready_at"] == failed.retry_after
    assert await claim(database, holder) == []


async def test_a_person_ends_the_rest(database: Database) -> None:
    failed = await fail(database, await admitted(database))
    async with database.transaction() as connection:
        revived = await rest.revive(connection, failed, actor=TESTER)
    assert (revived.processing, revived.retry_after) == ("processing", None)
    waits = await only(database, "SELECT max(ready_at) - messor.clock() FROM messor.lanes")
    assert waits < timedelta(minutes=1)


async def test_a_hosts_own_silence_outlasts_the_revival(database: Database) -> None:
    failed = await fail(database, await admitted(database))
    await database.fetch(
        "UPDATE messor.hosts SET cooldown_until = messor.clock() + interval '30 min'"
    )
    async with database.transaction() as connection:
        await rest.revive(connection, failed, actor=TESTER)
    waits = await only(database, "SELECT max(ready_at) - messor.clock() FROM messor.lanes")
    assert timedelta(minutes=29) < waits < timedelta(minutes=31)


async def test_without_funds_it_returns_in_the_new_year(dsn: str, database: Database) -> None:
    domain = await admitted(database)
    async with database.transaction() as connection:
        await rest.no_funds(connection, domain, YEAR, actor=TESTER)
    ready = await only(database, "SELECT ready_at FROM messor.lanes")
    assert ready == datetime(YEAR + 1, 1, 1, tzinfo=UTC)
    assert (await watch(database))["returned"] == 0
    left = datetime(YEAR + 1, 1, 1, 0, 1, tzinfo=UTC) - datetime.now(UTC)
    async with Database(later(dsn, left)) as new_year:
        assert (await watch(new_year))["returned"] == 1
        assert (await watch(new_year))["returned"] == 0
        assert (await domains.get(new_year, "example.org")).processing == "processing"
    returned = (await events(database))[-1]
    assert (returned.type, returned.actor) == ("domain.processing", "system")


async def silenced(database: Database, end_reason: str, status: int | None) -> None:
    """The main host is silent after a visit that ended so, with this status of its last request."""
    await database.fetch(
        "UPDATE messor.hosts SET cooldown_until = messor.clock() + interval '10 min',"
        " cooldown_reason = 'any words'"
    )
    await database.fetch(
        "INSERT INTO messor.visits (host_id, token, worker_id, claimed_at, end_reason)"
        " SELECT id, 1, 1, messor.clock(), $1 FROM messor.hosts",
        end_reason,
    )
    await database.fetch(
        "INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome,"
        " status_code, duration_ms, waited_ms, rule, policy_version)"
        " SELECT messor.clock(), 1, id, 1, 'error', $1::smallint, 1, 1, 'approved', 1"
        " FROM messor.hosts",
        status,
    )


@pytest.mark.parametrize("end_reason", ["unreachable", "robots"])
async def test_a_domain_that_does_not_answer_rests(database: Database, end_reason: str) -> None:
    await admitted(database)
    await silenced(database, end_reason, None)
    assert (await watch(database))["failing"] == 1
    domain = await domains.get(database, "example.org")
    assert (domain.processing, domain.failure_reason) == ("processing_failed", "any words")
    assert (await watch(database))["failing"] == 0


@pytest.mark.parametrize(
    "end_reason, status", [("cool_down", 429), ("robots", 503), ("friction", None)]
)
async def test_a_host_that_is_silent_for_another_reason_does_not_fail(
    database: Database, end_reason: str, status: int | None
) -> None:
    await admitted(database)
    await silenced(database, end_reason, status)
    assert (await watch(database))["failing"] == 0


async def test_a_site_that_is_down_rests_after_a_real_visit(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": page("One")}}) as web:
        await admit(database, "http://two.test/")
        await crawl(web.settings(), database)
    assert (await watch(database))["failing"] == 1
    assert (await domains.get(database, "two.test")).failure_count == 1


async def test_something_good_ends_the_failures(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": page("One")}}) as web:
        domain = await admit(database, "http://one.test/")
        await database.fetch(
            "UPDATE messor.domains SET processing = 'processing', failure_count = 2,"
            " failure_reason = 'x', last_processed_at = messor.clock()"
        )
        await crawl(web.settings(), database)
    assert (await watch(database))["recovered"] == 1
    assert (await domains.get(database, domain.domain)).failure_count == 0


async def test_a_domain_that_changed_hands_waits_for_review(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": page("One")}}) as web:
        settings = web.settings()
        await admit(database, "http://one.test/")
        await crawl(settings, database)
        assert (await watch(database))["changed_hands"] == 0
        web.houses["one.test"].rooms["/"] = redirect("http://casino.example/win")
        await database.fetch("UPDATE messor.crawl_tasks SET due_at = messor.clock()")
        await database.fetch("UPDATE messor.lanes SET due_at = messor.clock(), claim_at = ready_at")
        await crawl(settings, database)
    assert (await watch(database))["changed_hands"] == 1
    domain = await domains.get(database, "one.test")
    assert domain.status == "pending_review"
    assert domain.review_reason == "it changed hands: its start page redirects to casino.example"
    assert (await event_types(database))[-1] == "domain.review_asked"
    assert (await watch(database))["changed_hands"] == 0


async def test_a_domain_that_refuses_us_is_looked_at_again_once(database: Database) -> None:
    await admitted(database)
    await database.fetch("UPDATE messor.hosts SET risk_score = 95, risk_at = messor.clock()")
    assert (await watch(database))["turned_away"] == 1
    domain = await domains.get(database, "example.org")
    assert domain.status == "approved"
    assert domain.review_reason == "its behaviour changed: it refuses requests (risk 95)"
    assert (await watch(database))["turned_away"] == 0
