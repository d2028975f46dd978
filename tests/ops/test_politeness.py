"""The audit of politeness: clean on what a worker did, and it finds whatever is planted."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from messor.ops import politeness, report
from messor.ops.politeness import audit
from messor.registry import domains
from messor.store.database import Database
from simweb.answers import redirect
from tests.clones import clone_of, filled_once
from tests.crawling import admit, at_work, submit, until
from tests.little_web import LittleWeb, page, robots
from tests.ops.logs import AGENT, BARE_SITE, REQUESTS, change, crawled, judged, many

A = "page_id = (SELECT id FROM messor.pages WHERE url = 'http://one.test/a')"


@pytest.fixture(scope="module")
def crawled_once(server_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database that a worker was at work in: at its pace that takes a while."""
    folder = tmp_path_factory.mktemp("crawled")
    with filled_once(server_dsn, "crawled", lambda database: crawled(database, folder)) as name:
        yield name


@pytest.fixture
async def log(server_dsn: str, crawled_once: str) -> AsyncIterator[Database]:
    """What a worker left behind."""
    async with clone_of(server_dsn, crawled_once) as database:
        yield database


async def kinds(database: Database) -> dict[str, int]:
    """How much was found of what; what is counted is listed."""
    found = await judged(database)
    assert len(found.findings) == found.found.total()
    assert found.is_clean == (not found.findings)
    return dict(found.found)


async def test_a_real_crawl_is_clean(log: Database) -> None:
    found = await judged(log)
    assert found.is_clean
    assert found.verdict == (
        f"0 of {REQUESTS} requests came early, and none was sent where it should not have been."
    )
    (lane,) = found.lanes
    assert (lane.host, lane.requests, lane.pace) == ("one.test", REQUESTS, "judged")
    assert lane.gaps == sum(found.histogram) == REQUESTS - 1  # each has one before it but the first
    assert lane.smallest is not None
    assert lane.smallest.ratio > 0.95
    assert lane.smallest.due_ms == 150


async def test_the_robots_in_force_are_told(log: Database) -> None:
    (lane,) = (await judged(log)).lanes
    (use,) = lane.robots
    row = await log.fetchrow("SELECT id, fetched_at FROM messor.robots_files")
    assert row is not None
    assert (use.robots_id, use.read_at) == (row["id"], row["fetched_at"])
    assert use.requests == REQUESTS - 1  # none was in force yet when robots.txt was read


async def test_an_empty_log_is_clean(database: Database) -> None:
    found = await judged(database)
    assert (found.lanes, found.findings, found.is_clean) == ([], [], True)
    assert found.verdict == "The log holds no requests of this period."


async def test_lanes_without_a_delay_are_not_judged(database: Database, tmp_path: Path) -> None:
    await crawled(database, tmp_path, delay=0)
    found = await judged(database)
    (lane,) = found.lanes
    assert (lane.pace, lane.smallest, lane.gaps, lane.early) == ("no delay requested", None, 0, 0)
    assert lane.unpaced == REQUESTS
    assert found.is_clean


async def test_early_within_a_visit(log: Database) -> None:
    await change(
        log,
        """UPDATE messor.http_fetches SET waited_ms = 100
            WHERE id = (SELECT max(id) FROM messor.http_fetches WHERE waited_ms > 0)""",
    )
    (finding,) = (await judged(log)).findings
    assert finding.kind == "early"
    assert finding.why == "came 100 ms after the previous request; 150 ms were due"
    assert finding.url is not None
    assert finding.url.startswith("http://one.test/")


@pytest.mark.parametrize("waited, early", [(146, 0), (145, 0), (144, 1)])
async def test_five_milliseconds_are_forgiven(log: Database, waited: int, early: int) -> None:
    await change(
        log,
        f"""UPDATE messor.http_fetches SET waited_ms = {waited}
             WHERE id = (SELECT max(id) FROM messor.http_fetches WHERE waited_ms > 0)""",
    )
    assert (await judged(log)).found["early"] == early


async def test_early_across_visits(log: Database) -> None:
    await change(
        log,
        """UPDATE messor.http_fetches f SET fetched_at = before.at + interval '20 ms'
             FROM (SELECT max(g.fetched_at) AS at, min(n.id) AS id
                     FROM messor.http_fetches g, messor.http_fetches n
                    WHERE n.waited_ms = 0 AND g.visit_token < n.visit_token
                    GROUP BY n.visit_token ORDER BY n.visit_token LIMIT 1) before
            WHERE f.id = before.id""",
    )
    (finding,) = (await judged(log)).findings
    assert finding.why == "came 20 ms after the previous request; 150 ms were due"


async def test_two_holders_of_one_lane_are_found(log: Database) -> None:
    """Each keeps its own distance; the site sees both."""
    await change(
        log,
        """INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome,
             status_code, duration_ms, waited_ms, delay_ms, rule, policy_version, robots_id)
           SELECT fetched_at + interval '30 ms', page_id, host_id, visit_token + 1000, outcome,
                  status_code, duration_ms, waited_ms, delay_ms, rule, policy_version, robots_id
             FROM messor.http_fetches WHERE robots_id IS NOT NULL""",
    )
    found = await kinds(log)
    assert found["early"] >= REQUESTS - 1


async def test_a_delay_raised_between_visits_counts_from_the_request_after(log: Database) -> None:
    last = "(SELECT max(visit_token) FROM messor.http_fetches)"
    await change(
        log,
        f"""UPDATE messor.http_fetches SET delay_ms = 5000, waited_ms = least(waited_ms * 9999, 5000)
             WHERE visit_token = {last}""",
    )
    assert await kinds(log) == {}
    await change(log, "UPDATE messor.robots_files SET crawl_delay = 5")
    assert await kinds(log) == {"early": 1}  # what robots.txt asks for counts at once


async def test_attempts_that_may_not_have_gone_out_are_no_evidence(log: Database) -> None:
    await change(
        log,
        """INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome,
             error_json, duration_ms, waited_ms, delay_ms, rule, policy_version, robots_id)
           SELECT fetched_at + interval '2 ms', page_id, host_id, visit_token, 'error',
                  '{"type": "connect", "message": "refused"}', 1, 0, 150, rule, policy_version,
                  robots_id FROM messor.http_fetches WHERE robots_id IS NOT NULL""",
    )
    found = await judged(log)
    assert found.is_clean
    assert found.lanes[0].unanswered == REQUESTS - 1


async def test_a_page_that_the_robots_of_the_time_disallow(log: Database) -> None:
    await change(
        log,
        """WITH stricter AS (
             INSERT INTO messor.robots_files (host_id, verdict, reason, status_code, body, body_hash)
             SELECT host_id, 'rules', 'robots.txt was read', 200,
                    convert_to(E'User-agent: messorbot\\nDisallow: /a\\n', 'UTF8'), ''
               FROM messor.robots_files RETURNING id)
           UPDATE messor.http_fetches SET robots_id = (SELECT id FROM stricter)
            WHERE robots_id IS NOT NULL""",
    )
    (finding,) = (await judged(log)).findings
    assert (finding.kind, finding.url) == ("robots", "http://one.test/a")
    assert "disallow_rule:/a" in finding.why
    assert finding.robots_id == await log.fetchval("SELECT max(id) FROM messor.robots_files")


async def test_pages_fetched_although_robots_could_not_be_read(log: Database) -> None:
    await change(
        log,
        "UPDATE messor.robots_files SET verdict = 'deny_all', reason = 'robots.txt answered 503'",
    )
    assert await kinds(log) == {"robots": REQUESTS - 1}


async def test_a_page_fetched_before_any_robots(log: Database) -> None:
    await change(log, f"UPDATE messor.http_fetches SET robots_id = NULL WHERE {A}")
    (finding,) = (await judged(log)).findings
    assert (finding.kind, finding.url) == ("no_robots", "http://one.test/a")
    assert finding.why == "no version of robots.txt was in force"


async def test_what_is_gone_is_counted_and_not_judged(log: Database) -> None:
    await change(log, f"UPDATE messor.http_fetches SET robots_id = 4711 WHERE {A}")
    found = await judged(log)
    assert (found.is_clean, found.unknown_robots) == (True, 1)
    await change(log, "DELETE FROM messor.hosts")
    found = await judged(log)
    assert (found.is_clean, found.requests, found.unknown_robots) == (True, REQUESTS, REQUESTS)
    assert found.lanes[0].host.startswith("#")


EVENT = """
INSERT INTO messor.events (type, actor, domain_id, occurred_at)
SELECT 'domain.{}', 'tester', (SELECT id FROM messor.domains), {}(fetched_at) {}
  FROM messor.http_fetches"""
LONG_APPROVED = "UPDATE messor.events SET occurred_at = occurred_at - interval '1 hour'"


@pytest.mark.parametrize("status", ["suspended", "rejected", "blacklisted", "resubmitted"])
async def test_requests_while_the_domain_was_not_approved(log: Database, status: str) -> None:
    await change(log, LONG_APPROVED)
    await change(log, EVENT.format(status, "min", "- interval '30 s'"))
    await change(log, EVENT.format("approved", "max", "- interval '1 ms'"))
    found = await judged(log)
    assert dict(found.found) == {"not_approved": REQUESTS - 1}
    assert f"the domain was {status} at 2" in found.findings[0].why


async def test_a_visit_under_way_may_end(log: Database) -> None:
    await change(log, LONG_APPROVED)
    await change(log, EVENT.format("suspended", "max", "- interval '1 s'"))
    assert await kinds(log) == {}


async def test_requests_before_anybody_asked_for_the_domain(log: Database) -> None:
    await change(log, "UPDATE messor.events SET occurred_at = occurred_at + interval '1 hour'")
    found = await judged(log)
    assert dict(found.found) == {"not_approved": REQUESTS - 1}  # robots.txt serves others, too
    assert "not submitted before" in found.findings[0].why


async def test_a_history_whose_beginning_was_dropped_is_no_evidence(log: Database) -> None:
    await change(log, "DELETE FROM messor.events WHERE type = 'domain.submitted'")
    await change(log, "UPDATE messor.events SET occurred_at = occurred_at + interval '1 hour'")
    assert await kinds(log) == {}


async def test_robots_read_for_another_domain_are_no_offence(
    database: Database, tmp_path: Path
) -> None:
    """The host comes to its own domain later; what was asked of it before was asked for another."""
    hosts = {
        "one.test": {"/robots.txt": redirect("http://two.test/rules"), "/": page("home")},
        "two.test": {"/rules": robots("User-agent: *\nAllow: /\n"), "/": page("two")},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, "http://one.test/")
        async with at_work(web.settings(), database):
            await until(lambda: "/rules" in web.paths("two.test"))
    await admit(database, "http://two.test/")
    found = await judged(database)
    assert {lane.host for lane in found.lanes} == {"one.test", "two.test"}
    assert dict(found.found) == {}


@pytest.mark.parametrize(
    "header, found", [("30", True), ("DATE", True), ("0", False), ("soon", False), ("", False)]
)
@pytest.mark.parametrize("status", [429, 503])
async def test_requests_during_a_retry_after(
    log: Database, header: str, found: bool, status: int
) -> None:
    if header == "DATE":
        header = f"{datetime.now(UTC) + timedelta(minutes=1):%a, %d %b %Y %H:%M:%S} GMT"
    await change(
        log,
        f"""UPDATE messor.http_fetches SET status_code = {status}, duration_ms = 1,
                   headers_json = jsonb_build_object('Retry-After', '{header}')
             WHERE id = (SELECT id FROM messor.http_fetches ORDER BY fetched_at OFFSET 2 LIMIT 1)""",
    )
    assert await kinds(log) == ({"retry_after": REQUESTS - 3} if found else {})


async def test_silences_add_up(log: Database) -> None:
    """A short one within a long one, and one that begins before it ends."""
    for number, seconds in enumerate((60, 2, 90)):
        await change(
            log,
            f"""UPDATE messor.http_fetches SET status_code = 503, duration_ms = 1,
                       headers_json = '{{"Retry-After": "{seconds}"}}'
                 WHERE id = (SELECT id FROM messor.http_fetches ORDER BY fetched_at
                             OFFSET {number} LIMIT 1)""",
        )
    assert await kinds(log) == {"retry_after": REQUESTS - 1}


FRICTION = """
INSERT INTO messor.friction_log (occurred_at, host_id, signal, points, score)
SELECT min(fetched_at) - interval '{}', min(host_id), '429', 30, {} FROM messor.http_fetches"""


@pytest.mark.parametrize(
    "ago, score, found",
    [("1 min", 95, True), ("1 min", 80, False), ("3 days", 100, False), ("1 day", 100, True)],
)
async def test_requests_while_critical(log: Database, ago: str, score: int, found: bool) -> None:
    await change(log, FRICTION.format(ago, score))
    assert await kinds(log) == ({"critical": REQUESTS} if found else {})


async def test_a_reviewer_may_ask_a_critical_host(log: Database) -> None:
    await change(log, FRICTION.format("1 min", 95))
    await change(log, FRICTION.format("2 min", 90))
    assert await kinds(log) == {"critical": REQUESTS}
    await change(
        log,
        """INSERT INTO messor.ingestion_runs (trace_id, orbit_slug, mode, url, domain_id,
             requested_by, started_at)
           SELECT 't', 'o', 'user_assisted', 'http://one.test/', id, 'tester',
                  (SELECT min(fetched_at) FROM messor.http_fetches) - interval '5 minutes'
             FROM messor.domains""",
    )
    assert await kinds(log) == {}


async def test_one_request_may_be_wrong_in_several_ways(log: Database) -> None:
    await change(
        log,
        """UPDATE messor.http_fetches SET robots_id = NULL, waited_ms = 1
            WHERE id = (SELECT max(id) FROM messor.http_fetches WHERE waited_ms > 0)""",
    )
    found = await judged(log)
    assert dict(found.found) == {"early": 1, "no_robots": 1}
    assert found.verdict == (
        f"1 of {REQUESTS} requests came early; sent where they should not have been: "
        "1 without a robots.txt in force."
    )
    assert (found.lanes[0].early, found.lanes[0].wrong) == (1, 1)


async def test_the_period_begins_where_it_is_told_to(log: Database) -> None:
    """What came before is not counted, but an answer's wish for silence still holds."""
    third = await log.fetchval(
        "SELECT fetched_at FROM messor.http_fetches ORDER BY fetched_at OFFSET 2 LIMIT 1"
    )
    found = await audit(log, agent=AGENT, since=third)
    assert (found.requests, found.is_clean) == (REQUESTS - 2, True)
    assert found.lanes[0].gaps == REQUESTS - 2
    await change(
        log,
        """UPDATE messor.http_fetches SET fetched_at = fetched_at - interval '2 days',
                  status_code = 429, headers_json = '{"Retry-After": "604800"}'
            WHERE id = (SELECT min(id) FROM messor.http_fetches)""",
    )
    found = await audit(log, agent=AGENT, since=third)
    assert dict(found.found) == {"retry_after": REQUESTS - 2}
    future = datetime.now(UTC) + timedelta(hours=1)
    assert (await audit(log, agent=AGENT, since=future)).lanes == []


async def test_one_domain_of_several(log: Database) -> None:
    other = await submit(log, "http://other.test/")
    assert (await audit(log, agent=AGENT, domain=other)).requests == 0
    one = await domains.get(log, "one.test")
    found = await audit(log, agent=AGENT, domain=one)
    assert (found.requests, found.domain) == (REQUESTS, "one.test")


async def test_the_worst_lane_comes_first(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute(BARE_SITE)
        await connection.execute(many(300))
    await change(
        database,
        """UPDATE messor.http_fetches SET waited_ms = 400
            WHERE host_id = 2 AND id % 7 = 0 AND waited_ms > 0""",
    )
    found = await judged(database)
    assert [lane.host for lane in found.lanes] == ["h2.bulk.test", "h1.bulk.test", "h3.bulk.test"]
    assert found.lanes[0].early > 5


@pytest.mark.wide
async def test_memory_does_not_grow_with_the_log(database: Database) -> None:
    rows = 60_000
    async with database.transaction() as connection:
        await connection.execute(BARE_SITE)
        await connection.execute("SET LOCAL statement_timeout = 0")
        await connection.execute(many(rows))
        await connection.execute(
            "UPDATE messor.http_fetches SET waited_ms = 1 WHERE host_id = 3 AND waited_ms > 0"
        )
    read: list[int] = []
    tracemalloc.start()
    try:
        found = await audit(database, agent=AGENT, progress=read.append)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (found.requests, read[-1]) == (rows, rows)
    early = rows // 3 * 49 // 50  # of one lane, all but the first of each visit
    assert dict(found.found) == {"early": early}
    assert (len(found.findings), found.unlisted) == (report.MAX_LISTED, early - report.MAX_LISTED)
    assert peak < 5_000_000  # a tenth of a kilobyte a row would be more


def test_the_tolerances_are_those_that_are_told() -> None:
    assert (politeness.WITHIN_MS, politeness.ACROSS_MS) == (5.0, 50.0)
