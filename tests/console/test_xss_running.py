"""Hostile words in tiles, runs, batches, jobs, events, people and proxies: none of them runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlencode
from uuid import UUID

import msgspec
import pytest
from playwright.async_api import Browser

from messor.access.members import Member
from messor.access.roles import Role
from messor.core.ids import new_id
from messor.jobs import jobs
from messor.jobs.jobs import NewJob
from messor.store.database import Database
from tests.console import seeding
from tests.console.test_browser import WIDE, log_in
from tests.console.test_xss import CANARY, OWN, payloads, visit
from tests.crawling import admit

RUN = """
INSERT INTO messor.ingestion_runs (trace_id, orbit_slug, mode, url, domain_id, requested_by, stage,
                                   completed_at, outcome, evidence)
VALUES ($1, 'shop-example', 'light', $2, $3, $4, 'done', messor.clock(), 'blocked', $5::jsonb)
RETURNING id
"""
TILE = """
INSERT INTO messor.tiles (id, orbit_id, run_id, position, category, title, summary, items,
                          source_url, confidence)
VALUES ($1, $2, 1, $3, $4, $4, $4, $5::jsonb, $4, 0.5)
"""
REFLECTED = (
    ("/orbit", "address"), ("/orbit", "q"), ("/orbit/new/import", "address"), ("/tasks", "domain"),
    ("/tasks", "status"), ("/jobs", "type"), ("/audit", "q"), ("/audit", "domain"),
    ("/jobs/dead", "type"),
)  # fmt: skip


def _marks(words: list[str], trace_id: str) -> str:
    marks = {
        "mode": words[0],
        "discoverySources": words[:20],
        "frictionSignals": [f"403:{word}" for word in words],
        "outcome": "blocked",
        "pagesPlanned": 1, "pagesFetched": 1, "pagesUsed": 0, "cacheHits": 0, "cacheMisses": 1,
        "domainRiskScore": 50, "durationMs": 5,
    }  # fmt: skip
    whole = {"traceId": trace_id, "nm_policyVersion": words[1], "nm_ingest": marks}
    return msgspec.json.encode(whole).decode()


async def _orbit(database: Database, words: list[str]) -> list[str]:
    shop = await admit(database, "shop.example")
    orbit_id: UUID = new_id()
    await database.fetch(
        "INSERT INTO messor.orbits (id, slug, name, owner, domain_id) VALUES ($1, $2, $3, $3, $4)",
        orbit_id,
        "shop-example",
        words[0],
        shop.id,
    )
    trace_id = "a" * 32
    run_id = await database.fetchval(
        RUN, trace_id, words[1], shop.id, words[2], _marks(words, trace_id)
    )
    for number, word in enumerate(words):
        items = msgspec.json.encode([{"kind": "item", "text": word, "url": word}]).decode()
        await database.fetch(TILE, new_id(), orbit_id, number, word, items)
    for number, word in enumerate(words[:100]):
        page_id = await seeding.add_page(
            database, shop, f"https://shop.example/{number}?{word}", outcome="error", error=word
        )
        await database.fetch(
            "INSERT INTO messor.ingestion_pages (run_id, page_id, position, reason) "
            "VALUES ($1, $2, $3, $4)",
            run_id,
            page_id,
            number,
            word,
        )
    return ["/orbit", "/orbit/shop-example/import", "/admin/orbits/health", "/tasks"]


async def _work(database: Database, words: list[str]) -> list[str]:
    whole = " ".join(words)[:20_000]
    batch_id = new_id()
    await database.fetch(
        "INSERT INTO messor.task_batches (id, name, submitted_by, source, format, lines) "
        "VALUES ($1, $2, $2, $2, 'lines', 9)",
        batch_id,
        words[1],
    )
    for number, word in enumerate(words[:50], 1):
        await database.fetch(
            "INSERT INTO messor.batch_errors (batch_id, line, text, reason) VALUES ($1, $2, $3, $3)",
            batch_id,
            number,
            word,
        )
        async with database.transaction() as connection:
            new = NewJob("export", f"{number} {word}", "log", payload={word[:100]: whole})
            await jobs.enqueue(connection, [new])
    await database.fetch(
        """UPDATE messor.jobs SET state = 'dead', attempts = 3, finished_at = messor.clock(),
                  dead_category = 'parse', dead_type = dedupe_key, dead_reason = dedupe_key"""
    )
    job_id = await database.fetchval("SELECT id FROM messor.jobs LIMIT 1")
    return ["/batches", f"/batches/{batch_id}", "/jobs", "/jobs/dead", f"/jobs/{job_id}"]


async def _people(database: Database, words: list[str]) -> list[str]:
    for word in words:
        await database.fetch(
            "INSERT INTO messor.events (type, actor, data) VALUES ('domain.noted', $1, $2::jsonb)",
            word,
            msgspec.json.encode({word[:100]: word, "reason": word}).decode(),
        )
    await database.fetch("UPDATE messor.sessions SET user_agent = $1", words[1])
    await database.fetch(
        "INSERT INTO messor.proxies (proxy_url, proxy_port, proxy_username, last_error) "
        "VALUES ('p.example', 1, $1, $1)",
        words[1],
    )
    pages = ["/members", "/keys", "/account", "/proxies", "/schedule", "/audit"]
    return pages + [f"/audit?{urlencode({'actor': word})}" for word in words[::9]]


@pytest.mark.wide
async def test_nothing_planted_in_the_work_or_the_people_runs(
    chromium: Browser,
    console: str,
    database: Database,
    joined: Callable[..., Awaitable[Member]],
) -> None:
    await joined(Role.ADMIN)
    words = [word.replace("\x00", "") for word in payloads()]
    paths = await _orbit(database, words) + await _work(database, words)
    context = await chromium.new_context(viewport=WIDE)
    told: list[str] = []
    await context.expose_function("__told", lambda what: told.append(str(what)))
    await context.add_init_script(CANARY)
    page = await context.new_page()
    await log_in(page, console, Role.ADMIN)
    paths += await _people(database, words)
    reflected = [f"{path}?{urlencode({name: word})}" for word in OWN for path, name in REFLECTED]
    await visit(page, console, paths + reflected, told)
    assert told == []
    await context.close()
