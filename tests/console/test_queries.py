"""However a page is made, it asks little of the database: every screen, as the router has them."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import UUID

import pytest

from messor.console.app import SCREENS
from messor.jobs import jobs
from messor.jobs.jobs import NewJob
from messor.store.database import Database
from tests.console import seeding
from tests.console.conftest import Answer, Visitor
from tests.crawling import admit

MOST_QUERIES = 12
PART = re.compile(r"\{(\w+)(?::\w+)?\}")
NOWHERE = UUID(int=0)

# What parts of an address stand for, by the path they are part of or everywhere; those of things
# that are not there are answered too, and may not cost more for it.
PARTS = {
    "/domains/{name}": "shop.example",
    "/review/{name}": "foodbank.org",
    "/serps/domains/{name}": "shop.example",
    "/verticals/{name}": "funding",
}
STREAMS = ("/live",)
# All that `why` asks about: proxies, robots.txt, an endless family of addresses, friction.
AFFAIRS = """
WITH terms AS (
  UPDATE messor.domains SET proxies = 'pool'
), proxy AS (
  INSERT INTO messor.proxies (proxy_protocol, proxy_url, proxy_port, last_error, last_failure_at)
  VALUES ('http', '127.0.0.1', 3128, 'refused', messor.clock())
), file AS (
  INSERT INTO messor.robots_files (host_id, verdict, reason, body, body_hash)
  SELECT host_id, 'rules', 'read', '', '' FROM messor.pages WHERE id = $1 RETURNING id, host_id
), signal AS (
  INSERT INTO messor.friction_log (occurred_at, host_id, page_id, signal, points, score)
  SELECT messor.clock(), host_id, $1, 'status:403', 10, 10 FROM file
)
UPDATE messor.hosts SET robots_id = file.id FROM file WHERE hosts.id = file.host_id
"""
# A screen of something that was seeded is really drawn.
DRAWN = (
    "/domains/{name}",
    "/pages/{page_id:int}",
    "/pages/{page_id:int}/why",
    "/jobs/{job_id}",
    "/tasks",
    "/audit",
    "/jobs/dead",
)


async def _seed(database: Database) -> dict[str, str]:
    await seeding.ask_for(database, "foodbank.org", "help")
    domain = await admit(database, "shop.example", delay=3)
    page = await seeding.add_page(database, domain, "https://shop.example/a?sort=price&page=2")
    await database.fetch(AFFAIRS, page)
    await seeding.add_snapshot(database, page, "A", "one", timedelta(days=1))
    new = await seeding.add_snapshot(database, page, "A", "two")
    async with database.transaction() as connection:
        await jobs.enqueue(connection, [NewJob("export", "export:1", "log")])
    job_id = await database.fetchval("SELECT id FROM messor.jobs")
    return {"page_id": str(page), "snapshot_id": str(new), "job_id": str(job_id)}


def _address(path: str, known: dict[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name, before = found[1], path[: found.end()]
        number = "1" if ":int" in found[0] else str(NOWHERE)
        return PARTS.get(before) or known.get(name) or number

    return PART.sub(value, path)


async def _measured(
    admin: Visitor, database: Database, path: str, headers: dict[str, str]
) -> tuple[Answer, int]:
    before = database.round_trips
    answer = await admin.get(path, **headers)
    return answer, database.round_trips - before


@pytest.mark.parametrize("is_partial", [False, True])
async def test_every_screen_asks_little(
    admin: Visitor, database: Database, *, is_partial: bool
) -> None:
    known = await _seed(database)
    headers = {"HX-Request": "true"} if is_partial else {}
    asked = {}
    for screen in SCREENS:
        if screen.method != "GET" or screen.path in STREAMS:
            continue
        path = _address(screen.path, known)
        await admin.get(path, **headers)
        answer, asked[path] = await _measured(admin, database, path, headers)
        if asked[path] > MOST_QUERIES:  # perhaps of a task in the background
            answer, asked[path] = await _measured(admin, database, path, headers)
        assert answer.status < 500, path
        if screen.path in DRAWN and not is_partial:
            assert answer.status == 200, path
    assert len(asked) > 30
    assert {path: count for path, count in asked.items() if count > MOST_QUERIES} == {}
