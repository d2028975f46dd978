"""Robots in force: what each answer means, versions, and the pace they ask for."""

from __future__ import annotations

import pytest

from messor.ledger.decisions import Verdict
from messor.politeness import robots
from messor.politeness.lanes import Lane
from messor.politeness.lease import WorkerLease
from messor.politeness.robots import Adopted, RobotsCache, RobotsFile, RobotsInForce
from messor.store.database import Database
from tests.held_lanes import claim, lane_row, lease, make_domain, make_lanes

AGENT = "MessorBot"
RULES = b"User-agent: *\nDisallow: /private/\nCrawl-delay: 7\n"


@pytest.mark.parametrize(
    "status, verdict, objection",
    [
        (200, "rules", None),
        (404, "allow_all", None),
        (410, "allow_all", None),
        (403, "allow_all", None),
        (401, "allow_all", None),
        (500, "deny_all", Verdict.DEFERRED),
        (503, "deny_all", Verdict.DEFERRED),
        (429, "deny_all", Verdict.DEFERRED),
        (None, "deny_all", Verdict.DEFERRED),
    ],
)
def test_each_status_has_its_verdict(
    status: int | None, verdict: str, objection: Verdict | None
) -> None:
    file = RobotsFile.from_response(status, b"User-agent: *\nAllow: /\n", AGENT)
    assert file.verdict == verdict
    assert str(status or "no answer") in file.reason or status == 200
    said = RobotsInForce(1, file).objection(AGENT, "http://one.test/")
    assert (said.verdict if said else None) == objection


def test_rules_deny_and_say_which() -> None:
    in_force = RobotsInForce(1, RobotsFile.from_response(200, RULES, AGENT))
    said = in_force.objection(AGENT, "http://one.test/private/x")
    assert said is not None
    assert (said.verdict, said.rule) == (Verdict.DENIED, "robots")
    assert "/private/" in said.reason
    assert in_force.objection(AGENT, "http://one.test/public") is None


def test_the_body_of_a_refusal_is_not_read_as_rules() -> None:
    file = RobotsFile.from_response(404, b"User-agent: *\nDisallow: /\n", AGENT)
    assert RobotsInForce(1, file).objection(AGENT, "http://one.test/") is None


@pytest.mark.parametrize(
    "text, delay",
    [("10", 10.0), ("0.1", 0.1), ("86400", 86_400.0), ("abc", None), ("-3", None), ("1e9", None)],
)
def test_the_crawl_delay_is_read(text: str, delay: float | None) -> None:
    body = f"User-agent: *\nCrawl-delay: {text}\n".encode()
    assert RobotsFile.from_response(200, body, AGENT).crawl_delay == delay


async def held(database: Database, delay: float = 1.0) -> tuple[WorkerLease, Lane]:
    await make_lanes(database, await make_domain(database, delay=delay))
    holder = await lease(database)
    (lane,) = await claim(database, holder)
    return holder, lane


async def put_in_force(
    database: Database, holder: WorkerLease, lane: Lane, status: int | None, body: bytes
) -> int | None:
    file = RobotsFile.from_response(status, body, AGENT)
    async with database.transaction() as connection:
        adopted = Adopted(lane.host_id, lane.token, "https", file)
        ids = await robots.store(connection, holder.id, [adopted])
    return ids.get((lane.host_id, "https"))


async def test_the_crawl_delay_reaches_the_lane_at_once(database: Database) -> None:
    holder, lane = await held(database)
    await put_in_force(database, holder, lane, 200, RULES)
    assert (await lane_row(database, lane.host_id))["delay"] == 7


async def test_a_small_crawl_delay_does_not_hurry_us(database: Database) -> None:
    holder, lane = await held(database, delay=3)
    await put_in_force(database, holder, lane, 200, b"User-agent: *\nCrawl-delay: 1\n")
    assert (await lane_row(database, lane.host_id))["delay"] == 3


@pytest.mark.parametrize("digits", ["9" * 13, "9" * 30, "9" * 400], ids=len)
async def test_an_absurd_crawl_delay_is_stored_and_does_no_harm(
    database: Database, digits: str
) -> None:
    """It must neither fail the flush nor, as an overflowing interval, the reaping of others."""
    holder, lane = await held(database)
    body = f"User-agent: *\nCrawl-delay: {digits}\n".encode()
    assert await put_in_force(database, holder, lane, 200, body) is not None
    await database.fetch(
        "UPDATE messor.worker_leases SET expires_at = messor.clock() - interval '1 s'"
    )
    assert await database.fetchval("SELECT messor.reap_workers()") == 1


async def test_a_refresh_that_changes_nothing_adds_no_version(database: Database) -> None:
    holder, lane = await held(database)
    first = await put_in_force(database, holder, lane, 200, RULES)
    assert await put_in_force(database, holder, lane, 200, RULES) == first
    changed = await put_in_force(database, holder, lane, 200, RULES + b"Disallow: /more\n")
    assert changed is not None
    assert changed != first
    assert await put_in_force(database, holder, lane, 500, b"") not in (first, changed)
    assert await database.fetchval("SELECT count(*) FROM messor.robots_files") == 3


async def test_a_stale_token_changes_nothing(database: Database) -> None:
    holder, lane = await held(database)
    lane.token -= 1
    assert await put_in_force(database, holder, lane, 200, RULES) is None
    assert await database.fetchval("SELECT robots_id FROM messor.hosts") is None


async def test_the_shelf_loads_what_it_has_not_at_hand(database: Database) -> None:
    holder, lane = await held(database)
    first = await put_in_force(database, holder, lane, 200, RULES)
    second = await put_in_force(database, holder, lane, 503, b"")
    assert first is not None
    assert second is not None
    shelf = RobotsCache(database, AGENT, size=1)
    for _ in range(2):
        found = await shelf.get({first, second, 999})
        assert set(found) == {first, second}
        assert found[first].objection(AGENT, "http://one.test/private/x") is not None
        assert found[second].file.verdict == "deny_all"


def test_a_web_page_in_its_place_is_flagged_and_denies_nothing() -> None:
    page = b"<!DOCTYPE html><title>Not found</title><p>Disallow: /everything/"
    file = RobotsFile.from_response(200, page, "MessorBot")
    assert file.reason == "robots.txt is a web page"
    assert RobotsInForce(1, file).objection("MessorBot", "http://one.test/everything/") is None
