"""The contract's checks against evidence of real runs: whole, and broken on purpose."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from messor.ingest import IngestRequest, Mode, ingest
from messor.ops import contract
from messor.ops.contract import ContractReport
from messor.registry import domains
from messor.settings import Settings
from messor.store.database import Database
from simweb.answers import plain
from tests.clones import clone_of, filled_once
from tests.crawling import at_work
from tests.ingest.test_ingest import REVIEWER, shop
from tests.little_web import LittleWeb, Room, robots

AGENT = Settings().agent_token
MODES = tuple(mode.value for mode in Mode)


# What they share takes long to make, and each process that runs one of them makes its own.
pytestmark = pytest.mark.xdist_group("evidence")


async def _make_evidence(database: Database, folder: Path) -> None:
    """A site with two closed doors, read twice; and one that wants nobody."""
    one: dict[str, Room] = shop(14) | {"/about": plain(403, "no"), "/faq": plain(403, "no")}
    two: dict[str, Room] = dict.fromkeys(("/", *(f"/a-{n}" for n in range(9))), plain(403, "no"))
    two["/robots.txt"] = robots("User-agent: *\nAllow: /\n")
    async with LittleWeb(folder, {"one.test": one, "two.test": two}) as web:
        for name in ("one.test", "two.test"):
            async with database.transaction() as connection:
                asked = domains.Submission.understand(f"http://{name}/")
                domain, _ = await domains.submit(connection, asked, actor=REVIEWER)
                await domains.configure(connection, domain, actor=REVIEWER, delay=0.05)
        settings = web.settings()
        async with at_work(settings, database):
            for url in ("http://one.test/", "http://one.test/", "http://two.test/"):
                request = IngestRequest(url, REVIEWER, Mode.LIGHT, may_approve=True)
                await ingest(database, settings, request)


@pytest.fixture(scope="module")
def evidence(server_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database that holds evidence, for each test to clone."""
    folder = tmp_path_factory.mktemp("evidence")
    with filled_once(server_dsn, "evidence", lambda new: _make_evidence(new, folder)) as name:
        yield name


@pytest.fixture
async def database(server_dsn: str, evidence: str) -> AsyncIterator[Database]:
    async with clone_of(server_dsn, evidence) as opened:
        yield opened


async def _audit(database: Database) -> ContractReport:
    return await contract.audit(database, agent=AGENT, offered=MODES)


def _states(report: ContractReport) -> dict[str, str]:
    return {verdict.check.id: verdict.state for verdict in report.verdicts}


async def test_every_check_of_real_runs_passes_with_figures(database: Database) -> None:
    report = await _audit(database)
    told = [(v.check.id, v.state, v.figure, v.found.examples) for v in report.verdicts]
    assert set(_states(report).values()) == {"pass"}, told
    assert report.is_kept
    by_id = {verdict.check.id: verdict.found for verdict in report.verdicts}
    assert by_id["INGEST_001"].examined == 3
    assert by_id["INGEST_004"].detail > 0  # pauses at raised risk
    assert by_id["INGEST_006"].detail > 0  # pages of the cache
    assert by_id["COMPLY_001"].detail == 1
    newest = await database.fetchval(
        "SELECT trace_id FROM messor.ingestion_runs ORDER BY id DESC LIMIT 1"
    )
    assert by_id["INGEST_001"].newest == newest


FORGET = """
DELETE FROM messor.http_fetches WHERE page_id IN (
  SELECT page_id FROM messor.crawl_tasks WHERE kind = 'sitemap' AND 'sitemap' IN ({kinds})
  UNION SELECT page_id FROM messor.ingestion_pages
         WHERE reason = 'homepage' AND 'homepage' IN ({kinds}))
"""
# The last request, as the first of another visit, so many milliseconds too early.
NEXT_VISIT = """
WITH changed AS (
  SELECT id, lag(fetched_at) OVER (PARTITION BY host_id ORDER BY fetched_at) AS before
    FROM messor.http_fetches)
UPDATE messor.http_fetches f
   SET waited_ms = 0, visit_token = visit_token + 1000,
       fetched_at = c.before + make_interval(secs => (f.delay_ms - {early}) / 1000.0)
  FROM changed c WHERE c.id = f.id AND f.id = (
    SELECT max(id) FROM messor.http_fetches WHERE delay_ms >= 1200)
"""
BREAKS = {
    "a marker is missing": (
        "INGEST_001",
        "UPDATE messor.ingestion_runs SET evidence = evidence #- '{nm_ingest,cacheMisses}'",
    ),
    "a marker has another kind": (
        "INGEST_001",
        """UPDATE messor.ingestion_runs
              SET evidence = jsonb_set(evidence, '{nm_ingest,durationMs}', '"soon"')""",
    ),
    "another contract": (
        "INGEST_001",
        """UPDATE messor.ingestion_runs SET evidence = jsonb_set(evidence, '{nm_policyVersion}', '"v0"')""",
    ),
    "another trace": (
        "INGEST_001",
        """UPDATE messor.ingestion_runs SET evidence = jsonb_set(evidence, '{traceId}', '"x"')""",
    ),
    "fetches that nobody made": (
        "INGEST_001",
        """UPDATE messor.ingestion_runs
              SET evidence = jsonb_set(evidence, '{nm_ingest,pagesFetched}', '49')""",
    ),
    "no evidence at all": (
        "INGEST_001",
        "UPDATE messor.ingestion_runs SET evidence = '{}' WHERE id = 1",
    ),
    "no source of discovery": (
        "INGEST_002",
        """UPDATE messor.ingestion_runs
              SET evidence = jsonb_set(evidence, '{nm_ingest,discoverySources}', '[]')""",
    ),
    "pages before robots.txt": (
        "INGEST_002",
        "UPDATE messor.robots_files SET fetched_at = fetched_at + interval '1 hour'",
    ),
    "pages before the sitemap": (
        "INGEST_002",
        """UPDATE messor.http_fetches f SET fetched_at = r.completed_at
             FROM messor.ingestion_runs r, messor.crawl_tasks t
            WHERE r.id = 1 AND t.page_id = f.page_id AND (t.kind = 'sitemap' OR t.page_id IN (
              SELECT page_id FROM messor.ingestion_pages WHERE reason = 'homepage'))""",
    ),
    "discovery that never happened": ("INGEST_002", FORGET.format(kinds="'sitemap', 'homepage'")),
    "a sitemap that nobody read": ("INGEST_002", FORGET.format(kinds="'sitemap'")),
    "a homepage that nobody read": ("INGEST_002", FORGET.format(kinds="'homepage'")),
    "sources read too long ago": (
        "INGEST_002",
        """UPDATE messor.http_fetches SET fetched_at = fetched_at - interval '26 hours'
            WHERE page_id IN (SELECT page_id FROM messor.sitemaps UNION
              SELECT page_id FROM messor.ingestion_pages WHERE reason = 'homepage')""",
    ),
    "robots.txt forbade it": (
        "INGEST_003",
        r"""UPDATE messor.robots_files SET body = 'User-agent: *\012Disallow: /\012'""",
    ),
    "no robots.txt in force": ("INGEST_003", "UPDATE messor.http_fetches SET robots_id = NULL"),
    "a pause cut short": (
        "INGEST_004",
        "UPDATE messor.http_fetches SET waited_ms = 20 WHERE delay_ms > 40",
    ),
    "a pause cut short between two visits": ("INGEST_004", NEXT_VISIT.format(early=60)),
    "no slower for friction": (
        "INGEST_004",
        "UPDATE messor.http_fetches SET delay_ms = 50 WHERE delay_ms >= 1200",
    ),
    "friction unseen": ("INGEST_005", "DELETE FROM messor.friction_log"),
    "no early stop": (
        "INGEST_005",
        """INSERT INTO messor.friction_log (occurred_at, host_id, page_id, signal, points, score)
           SELECT f.first - interval '100 ms', f.host_id, NULL, '403', 20, 20
             FROM (SELECT h.host_id, max(h.fetched_at) AS first FROM messor.http_fetches h
                     JOIN messor.visits v ON v.host_id = h.host_id AND v.token = h.visit_token
                    WHERE h.status_code = 200 AND h.page_id IN (
                      SELECT page_id FROM messor.ingestion_pages)
                      AND h.fetched_at > v.claimed_at + interval '200 ms' GROUP BY 1) f,
                  generate_series(1, 3)""",
    ),
    "a stale cache": (
        "INGEST_006",
        """UPDATE messor.ingestion_pages SET cached = true WHERE run_id = 1""",
    ),
    "a cache that is not asked": (
        "INGEST_006",
        """INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome,
              status_code, duration_ms, waited_ms, rule, policy_version)
           SELECT r.started_at - interval '3 hours', f.page_id, f.host_id, 0, 'ok', 200, 1, 0, 'x', 1
             FROM messor.ingestion_runs r JOIN messor.ingestion_pages i ON i.run_id = r.id
             JOIN messor.http_fetches f ON f.page_id = i.page_id WHERE r.id = 1""",
    ),
    "hits that are not counted": (
        "INGEST_006",
        """UPDATE messor.ingestion_runs
              SET evidence = jsonb_set(evidence, '{nm_ingest,cacheHits}', '0')""",
    ),
    "blocked, and it says success": (
        "COMPLY_001",
        "UPDATE messor.ingestion_runs SET outcome = 'success' WHERE outcome IN ('partial', 'blocked')",
    ),
    "blocked, and no signal": (
        "COMPLY_001",
        """UPDATE messor.ingestion_runs
              SET evidence = jsonb_set(evidence, '{nm_ingest,frictionSignals}', '[]')""",
    ),
    "blocked, and nobody told": (
        "COMPLY_001",
        "DELETE FROM messor.events WHERE type = 'ingestion.blocked'",
    ),
    "a tile of a challenge": (
        "COMPLY_001",
        "UPDATE messor.page_snapshots SET verdict = 'blocked'",
    ),
    "other points": ("COMPLY_002", "UPDATE messor.friction_log SET points = 1"),
    "a score that does not rise": ("COMPLY_002", "UPDATE messor.friction_log SET score = 3"),
    "a host that forgets": ("COMPLY_002", "UPDATE messor.hosts SET risk_score = 0, risk_at = NULL"),
    "a run that plays it down": (
        "COMPLY_002",
        """UPDATE messor.ingestion_runs
              SET evidence = jsonb_set(evidence, '{nm_ingest,domainRiskScore}', '0')""",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
async def test_a_broken_behaviour_fails_its_check(database: Database, what: str) -> None:
    check, sql = BREAKS[what]
    await database.fetch(sql)
    report = await _audit(database)
    assert _states(report)[check] == "fail"
    assert not report.is_kept
    assert check in report.message
    (verdict,) = [one for one in report.verdicts if one.check.id == check]
    assert verdict.found.examples


@pytest.mark.parametrize(
    "change",
    [
        NEXT_VISIT.format(early=40),  # the log's times may differ by so much
        "UPDATE messor.http_fetches SET waited_ms = delay_ms - 4 WHERE waited_ms > 0",
        # The homepage was read by another run, most of a day before.
        """UPDATE messor.http_fetches SET fetched_at = fetched_at - interval '24 hours'
            WHERE page_id IN (SELECT page_id FROM messor.sitemaps UNION
              SELECT page_id FROM messor.ingestion_pages WHERE reason = 'homepage')""",
    ],
    ids=["between visits", "within a visit", "sources of yesterday"],
)
async def test_what_is_within_tolerance_raises_no_alarm(database: Database, change: str) -> None:
    await database.fetch(change)
    states = _states(await _audit(database))
    assert (states["INGEST_002"], states["INGEST_004"]) == ("pass", "pass")


MARKERS = {
    "mode": "string",
    "discoverySources": "array",
    "pagesPlanned": "number",
    "pagesFetched": "number",
    "pagesUsed": "number",
    "cacheHits": "number",
    "cacheMisses": "number",
    "outcome": "string",
    "frictionSignals": "array",
    "domainRiskScore": "number",
    "durationMs": "number",
}
OF_RUN_1 = "UPDATE messor.ingestion_runs SET {} WHERE id = 1"
PUT = "evidence = jsonb_set(evidence, '{{nm_ingest,{}}}', '{}')"
# What the evidence of the first run says, and what its check answers.
UNTRUE = {
    **{f"no {name}": (f"evidence = evidence #- '{{nm_ingest,{name}}}'", f"nm_ingest lacks {name}")
       for name in MARKERS},
    **{f"{name} of another type": (PUT.format(name, "7" if kind == "string" else '"soon"'),
                                   f"nm_ingest lacks {name}")
       for name, kind in MARKERS.items()},
    "no traceId": ("evidence = evidence - 'traceId'", "its traceId is not its own"),
    "another contract": (
        """evidence = jsonb_set(evidence, '{nm_policyVersion}', '"orbitBehaviourContract.v1.0.0"')""",
        "its nm_policyVersion is not orbitBehaviourContract.v1.1.0",
    ),
    "another mode": (PUT.format("mode", '"standard"'), "it says another mode"),
    "another outcome": (PUT.format("outcome", '"success"'), "it says another outcome"),
    "a hit too many": (
        "evidence = jsonb_set(evidence, '{nm_ingest,cacheHits}', '1')",
        "hits and misses are not the pages planned",
    ),
    "a page too many used": (
        """evidence = jsonb_set(evidence, '{nm_ingest,pagesUsed}',
             to_jsonb((evidence #>> '{nm_ingest,pagesPlanned}')::int + 1))""",
        "it used more pages than it planned",
    ),
    "a page too many fetched": (
        """evidence = jsonb_set(evidence, '{nm_ingest,pagesFetched}',
             to_jsonb((evidence #>> '{nm_ingest,pagesFetched}')::int + 1))""",
        "it says it fetched pages that the log does not have",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", UNTRUE)
async def test_each_marker_is_examined_and_named(database: Database, what: str) -> None:
    change, fault = UNTRUE[what]
    trace = await database.fetchval(f"{OF_RUN_1.format(change)} RETURNING left(trace_id, 8)")
    found = {verdict.check.id: verdict.found for verdict in (await _audit(database)).verdicts}
    evidence = found["INGEST_001"]
    assert (evidence.examined, evidence.broken) == (3, 1)
    assert evidence.examples == [f"{trace}: {fault}"]


# One page that the second run took from the cache, as last fetched so long before it was planned.
TAKEN = """
WITH one AS (SELECT i.page_id, i.planned_at - interval '{age}' AS at
               FROM messor.ingestion_pages i WHERE i.run_id = 2 AND i.cached
              ORDER BY i.page_id LIMIT 1),
log AS (UPDATE messor.http_fetches f SET fetched_at = one.at FROM one
         WHERE f.page_id = one.page_id)
UPDATE messor.page_snapshots s SET crawled_at = one.at FROM one WHERE s.page_id = one.page_id
"""
# One page that the first run fetched, as fetched before with this outcome, so long before the run.
ASKED_AGAIN = """
INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, status_code,
       duration_ms, waited_ms, rule, policy_version)
SELECT r.started_at - interval '{age}', f.page_id, f.host_id, 0, '{outcome}', 200, 1, 0, 'x', 1
  FROM messor.ingestion_runs r JOIN messor.ingestion_pages i ON i.run_id = r.id
  JOIN messor.http_fetches f ON f.page_id = i.page_id AND f.outcome = 'ok'
 WHERE r.id = 1 ORDER BY f.page_id LIMIT 1
"""
STALE = "was taken from the cache, but was not fetched within a day before"
AGAIN = "was fetched again within a day"


@pytest.mark.parametrize(
    "change, fault",
    [
        (TAKEN.format(age="24 hours 4 minutes"), None),  # planning takes a moment
        (TAKEN.format(age="24 hours 6 minutes"), STALE),
        (ASKED_AGAIN.format(age="1 hour", outcome="ok"), AGAIN),
        (ASKED_AGAIN.format(age="23 hours 54 minutes", outcome="unchanged"), AGAIN),
        (ASKED_AGAIN.format(age="23 hours 56 minutes", outcome="ok"), None),
        (ASKED_AGAIN.format(age="1 hour", outcome="error"), None),  # nothing to keep
    ],
    ids=["a day", "more than a day", "an hour", "almost a day", "the next day", "after a failure"],
)
async def test_the_cache_is_judged_by_a_day(
    database: Database, change: str, fault: str | None
) -> None:
    assert len(await database.fetch(f"{change} RETURNING 1")) == 1
    found = {verdict.check.id: verdict.found for verdict in (await _audit(database)).verdicts}
    cache = found["INGEST_006"]
    assert cache.broken == (fault is not None), cache.examples
    assert all(example.endswith(str(fault)) for example in cache.examples)


async def test_the_report_is_of_the_contract_in_force_with_each_check_once(
    database: Database,
) -> None:
    told = (await _audit(database)).as_dict()
    assert told["contract"] == "orbitBehaviourContract.v1.1.0"
    assert told["window_hours"] == 7 * 24
    assert [check["id"] for check in told["checks"]] == [
        *(f"INGEST_00{n}" for n in range(1, 8)), "COMPLY_001", "COMPLY_002",
    ]  # fmt: skip
    assert (told["kept"], told["message"]) == (True, "9 of 9 checks hold.")
    assert all(check["examined"] > 0 and check["broken"] == 0 for check in told["checks"])


async def test_one_broken_check_among_good_ones_breaks_the_contract(database: Database) -> None:
    await database.fetch(OF_RUN_1.format("evidence = evidence - 'traceId'"))
    told = (await _audit(database)).as_dict()
    assert (told["kept"], told["message"]) == (False, "The contract is broken: INGEST_001.")
    states = Counter(check["state"] for check in told["checks"])
    assert states == {"pass": 8, "fail": 1}
    report = await contract.audit(database, agent=AGENT, offered=None)
    assert report.counts == {"pass": 7, "fail": 1, "no data": 1}


async def test_a_check_without_data_breaks_nothing_and_is_counted(database: Database) -> None:
    report = await contract.audit(database, agent=AGENT, offered=None)
    assert report.is_kept
    assert report.message == "8 of 9 checks hold, 1 has no data yet."


async def test_a_selector_that_lacks_a_mode_or_has_another_fails(database: Database) -> None:
    for offered in (("light", "standard"), (*MODES, "turbo"), ()):
        report = await contract.audit(database, agent=AGENT, offered=offered)
        assert _states(report)["INGEST_007"] == "fail"
    report = await contract.audit(database, agent=AGENT, offered=None)
    assert _states(report)["INGEST_007"] == "no data"


async def test_what_lies_before_the_window_is_not_judged(database: Database) -> None:
    await database.fetch(
        "UPDATE messor.ingestion_runs SET started_at = started_at - interval '8 days'"
    )
    report = await contract.audit(database, agent=AGENT, offered=None, window=timedelta(days=7))
    assert set(_states(report).values()) == {"no data"}
    assert report.is_kept
    assert "no data" in report.message
