"""Pages with texts and records, and result pages, written straight into the tables."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.store.database import Database
from messor.verticals import files, verticals
from messor.verticals.organisations import NewOrganisation, put
from messor.verticals.verticals import Applied
from tests.held_lanes import make_domain

MAKE_PAGE = """
WITH host AS (
  INSERT INTO messor.hosts (domain_id, host, last_request_at) VALUES ($1, $2, messor.clock())
  ON CONFLICT (host) DO UPDATE SET host = excluded.host RETURNING id
), page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by)
  SELECT id, sha256(convert_to($3, 'UTF8')), $3, 'link' FROM host RETURNING id, host_id
), snapshot AS (
  INSERT INTO messor.page_snapshots (page_id, content_hash, data_hash, raw_hash, reader_version,
         segment_id, segment_offset, segment_length, size, status_code, title, language, crawled_at)
  SELECT id, sha256(convert_to($5, 'UTF8')), '', '', 1, 1, 0, 1, 1, 200, $4, $6, messor.clock()
    FROM page RETURNING id, page_id
), words AS (
  INSERT INTO messor.snapshot_texts (snapshot_id, markdown, data) SELECT id, $5, $7 FROM snapshot
)
INSERT INTO messor.crawl_tasks (page_id, host_id, status, outcome, completed_at, snapshot_id)
SELECT p.id, p.host_id, 'completed', 'ok', messor.clock(), s.id FROM page p, snapshot s
RETURNING page_id, snapshot_id
"""
EXTRACTED = """
INSERT INTO messor.extractions (page_id, snapshot_id, domain_id, page_type) VALUES ($1, $2, $3, $4)
ON CONFLICT (page_id) DO UPDATE SET snapshot_id = excluded.snapshot_id
"""
MAKE_RECORD = """
INSERT INTO messor.records (page_id, snapshot_id, domain_id, kind, identity, confidence, parser,
       parser_version, data, fields, content_hash, first_seen, last_seen, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, 'p', '1', $7, '{}', '', messor.clock(), messor.clock(), messor.clock())
RETURNING id
"""
MAKE_SERP = """
WITH request AS (
  INSERT INTO messor.search_requests (id, keyword_id, serp_profile_id, window_key, state, page)
  SELECT $1::uuid, k.id, k.serp_profile_id, $1::uuid::text, 'answered', $6 FROM messor.keywords k WHERE k.id = $2
  RETURNING id, keyword_id, serp_profile_id
), snapshot AS (
  INSERT INTO messor.serp_snapshots (id, keyword_id, serp_profile_id, request_id, window_key, engine,
                                     outcome, message, captured_at)
  SELECT id, keyword_id, serp_profile_id, id, $1::uuid::text, 'searxng', $3::text,
         CASE WHEN $3::text <> 'ok' THEN 'it says so' END, $4 FROM request RETURNING id
)
INSERT INTO messor.serp_results (snapshot_id, rank_position, block_type, domain, url, title, is_best)
SELECT s.id, r.rank, r.block, r.domain, 'https://' || r.domain || '/', r.domain,
       row_number() OVER (PARTITION BY r.domain, r.block IN ('organic', 'local_pack')
                          ORDER BY r.rank, r.block) = 1
  FROM snapshot s, jsonb_to_recordset($5) AS r (rank int, block text, domain text)
"""


class Site:
    """A domain whose pages are made one by one."""

    def __init__(self, database: Database, domain_id: UUID, name: str) -> None:
        self.id, self.name = domain_id, name
        self._database = database
        self._pages = 0

    async def page(
        self,
        text: str,
        *,
        title: str = "",
        language: str | None = None,
        page_type: str | None = None,
        data: object = None,
    ) -> tuple[int, int]:
        """A page that was extracted: its id and its snapshot's."""
        self._pages += 1
        url = f"https://{self.name}/{self._pages if self._pages > 1 else ''}"
        stated = None if data is None else msgspec.json.encode(data).decode()
        row = await self._database.fetchrow(
            MAKE_PAGE, self.id, self.name, url, title, text, language, stated
        )
        assert row is not None
        page_id, snapshot_id = row
        await self._database.fetch(EXTRACTED, page_id, snapshot_id, self.id, page_type)
        return page_id, snapshot_id

    async def record(
        self, page: tuple[int, int], kind: str, confidence: float = 0.5, **data: Any
    ) -> int:
        identity = msgspec.json.encode(data).decode()
        found: int = await self._database.fetchval(
            MAKE_RECORD, *page, self.id, kind, identity, confidence, identity
        )
        return found


async def make_site(database: Database, name: str, **terms: Any) -> Site:
    return Site(database, await make_domain(database, name, **terms), name)


async def apply_vertical(database: Database, name: str = "wellness") -> Applied:
    async with database.transaction() as connection:
        applied, _ = await verticals.apply(connection, files.shipped(name), actor="test")
    return applied


async def own(database: Database, applied: Applied, name: str, *domains: str) -> UUID:
    given = NewOrganisation.understand(name, domains)
    async with database.transaction() as connection:
        key, _ = await put(connection, applied, given, actor="test")
    return key


async def make_keyword(
    database: Database, applied: Applied, text: str, tier: str, service: str | None = None
) -> UUID:
    key: UUID = await database.fetchval(
        """INSERT INTO messor.keywords (keyword_text, serp_profile_id, vertical_id, tier, service_name)
           SELECT $2, id, $1, $3, $4 FROM messor.serp_profiles WHERE vertical_id = $1
            ORDER BY name LIMIT 1 RETURNING id""",
        applied.id,
        text,
        tier,
        service,
    )
    return key


async def make_serp(
    database: Database,
    keyword: UUID,
    at: datetime,
    results: list[tuple[int, str, str]],
    *,
    outcome: str = "ok",
    page: int = 1,
) -> None:
    """A result page: its results as (rank, block, domain)."""
    rows = [{"rank": rank, "block": block, "domain": domain} for rank, block, domain in results]
    given = msgspec.json.encode(rows).decode()
    await database.fetch(MAKE_SERP, new_id(), keyword, outcome, at, given, page)


# Here credibility is what reviewers go by; the keyword judge is wrong half of the time.
DECIDED_CANDIDATE = """
WITH c AS (INSERT INTO messor.candidates (id, session_id, vertical_id, domain, url, url_hash,
     search_engine, search_query, position, confidence_score, status, validation_notes,
     reviewed_at, review_reason)
   VALUES ($1, $2, $3, $4, $4, sha256($4::text::bytea), 'e', 'q', 1, 0.9, $5, '{}', messor.clock(), 'x')
   RETURNING id)
INSERT INTO messor.judgements
SELECT id, j.judge, j.score, 1, 'said' FROM c, (VALUES ('keyword', $6::float8),
  ('domain_credibility', $7::float8)) AS j (judge, score)
"""


async def decide_candidates(database: Database, count: int) -> None:
    """Candidates whose reviewers followed the credibility of the domain alone."""
    applied = await apply_vertical(database, "funding")
    session = new_id()
    await database.fetch(
        """INSERT INTO messor.discovery_sessions (id, vertical_id, vertical_version, started_by)
           VALUES ($1, $2, 1, 'test')""",
        session,
        applied.id,
    )
    for number in range(count):
        is_right = number % 2 == 0
        await database.fetch(
            DECIDED_CANDIDATE,
            new_id(),
            session,
            applied.id,
            f"d{number}.test",
            "APPROVED" if is_right else "REJECTED",
            1.0 if number % 4 < 2 else 0.55,
            0.95 if is_right else 0.2,
        )
