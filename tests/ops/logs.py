"""A crawled log to audit: a small site, visited in several visits, at a pace that was asked for."""

from __future__ import annotations

from pathlib import Path

from messor.ops import politeness
from messor.ops.report import PolitenessReport
from messor.store.database import Database
from tests.crawling import admit, crawl
from tests.little_web import LittleWeb, page

AGENT = "MessorBot"
DELAY = 0.15
LINKS = ("/a", "/b", "/c")
REQUESTS = 2 + 1 + len(LINKS)  # robots.txt, a guess at a sitemap, the homepage, what it links to


async def crawled(database: Database, folder: Path, *, delay: float = DELAY) -> None:
    """Crawl `one.test`, three requests a visit."""
    rooms = {"/": page("home", *LINKS), **{link: page(link) for link in LINKS}}
    async with LittleWeb(folder, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/", delay=delay)
        await crawl(web.settings(visit_pages=3), database)


async def judged(database: Database) -> PolitenessReport:
    return await politeness.audit(database, agent=AGENT)


async def change(database: Database, sql: str) -> None:
    """Tamper with the log; something must have changed."""
    async with database.transaction() as connection:
        status = await connection.execute(sql)
        assert not status.endswith(" 0"), sql


# Inserts that fill a log without a crawl: one approved domain, one host with an open robots.txt.
BARE_SITE = """
INSERT INTO messor.domains (id, domain, base_url, status, submitted_by, submitter_type, reviewed_at)
VALUES ('00000000-0000-7000-8000-000000000001', 'bulk.test', 'http://bulk.test/', 'approved',
        'tester', 'admin', messor.clock());
INSERT INTO messor.events (type, actor, domain_id, occurred_at)
SELECT type, 'tester', '00000000-0000-7000-8000-000000000001', messor.clock() - age
  FROM (VALUES ('domain.submitted', interval '400 days'),
               ('domain.approved', interval '399 days')) AS e (type, age);
INSERT INTO messor.hosts (domain_id, host)
SELECT '00000000-0000-7000-8000-000000000001', 'h' || n || '.bulk.test' FROM generate_series(1, 3) n;
INSERT INTO messor.robots_files (host_id, verdict, reason, status_code, body, body_hash)
SELECT id, 'rules', 'robots.txt was read', 200,
       convert_to('User-agent: *' || chr(10) || 'Disallow: /no', 'UTF8'), '' FROM messor.hosts;
INSERT INTO messor.pages (host_id, url_hash, url, found_by)
SELECT id, 'x', 'http://' || host || '/page', 'link' FROM messor.hosts;
INSERT INTO messor.crawl_tasks (page_id, host_id) SELECT id, host_id FROM messor.pages;
"""


def many(requests: int) -> str:
    """A request a second, in visits of fifty, over the lanes of the bare site."""
    return f"""
INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, status_code,
                                 duration_ms, waited_ms, delay_ms, rule, policy_version, robots_id)
SELECT messor.clock() - interval '30 days' + n * interval '1.001 second', p.id, p.host_id, n / 50,
       'ok', 200, 30, CASE n % 50 WHEN 0 THEN 0 ELSE 1001 END, 1000, 'approved', 1, r.id
  FROM generate_series(1, {requests // 3}) n, messor.pages p
  JOIN messor.robots_files r ON r.host_id = p.host_id
"""
