"""Domains, pages and what was kept of them, written straight into the tables."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.governance import intake
from messor.politeness import lanes
from messor.registry.domains import Domain
from messor.registry.preflights import PreflightReport
from messor.registry.submissions import Submitter
from messor.store.database import Database
from tests.crawling import TESTER

PAGE = """
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by, depth)
  VALUES ($1, $2, $3, 'link', 1) RETURNING id, host_id
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, due_at, status, outcome, last_fetched_at,
                                  last_status, error_message)
  SELECT id, host_id, messor.clock() + interval '1 day', 'completed', $4, messor.clock(), $5, $6
    FROM page
), fetched AS (
  INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, status_code,
                                   size, duration_ms, waited_ms, rule, policy_version)
  SELECT messor.clock(), id, host_id, 1, $4, $5, 2048, 120, 1000, 'approved', 1 FROM page
)
SELECT id FROM page
"""
SNAPSHOT = """
WITH made AS (
  INSERT INTO messor.page_snapshots (page_id, content_hash, data_hash, raw_hash, reader_version,
      segment_id, segment_offset, segment_length, size, status_code, content_type, title,
      description, crawled_at)
  VALUES ($1, $2, $2, $2, 1, 1, 0, 1, 1000, 200, 'text/html', $3, $3, messor.clock() - $5::interval)
  RETURNING id
), worded AS (
  INSERT INTO messor.snapshot_texts (snapshot_id, markdown) SELECT id, $4 FROM made
), changed AS (
  INSERT INTO messor.page_changes (page_id, seen_at, snapshot_id, state)
  SELECT $1, messor.clock() - $5::interval, id, 'changed' FROM made
), newest AS (
  UPDATE messor.crawl_tasks SET snapshot_id = made.id FROM made WHERE page_id = $1
)
SELECT id FROM made
"""


async def ask_for(
    database: Database, name: str, context: str | None = None, actor: str = TESTER
) -> Domain:
    async with database.transaction() as connection:
        answer = await intake.submit_domain(
            connection, name, Submitter(actor), context=context, look=False
        )
        return answer.domain


async def add_page(
    database: Database,
    domain: Domain,
    url: str,
    *,
    outcome: str = "ok",
    status: int = 200,
    error: str | None = None,
) -> int:
    async with database.transaction() as connection:
        host_id = await lanes.open_host(connection, domain.id, domain.domain)
        key = sha256(url.encode()).digest()
        page_id: int = await connection.fetchval(PAGE, host_id, key, url, outcome, status, error)
        return page_id


async def add_snapshot(
    database: Database, page_id: int, title: str, markdown: str, age: timedelta = timedelta()
) -> int:
    key = sha256(f"{title}{markdown}".encode()).digest()
    found: int = await database.fetchval(SNAPSHOT, page_id, key, title, markdown, age)
    return found


async def add_report(database: Database, domain: Domain, report: PreflightReport) -> UUID:
    key = new_id()
    await database.fetch(
        """INSERT INTO messor.preflights (id, domain_id, requested_by, finished_at, requests, report)
           VALUES ($1, $2, 'tester', messor.clock(), 3, $3::jsonb)""",
        key,
        domain.id,
        msgspec.json.encode(asdict(report)).decode(),
    )
    return key
