"""Gathers what the database holds of a run's pages once it is over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from messor.archive.texts import texts
from messor.ingest.blocks import MAX_CHARS
from messor.ingest.guidance import unreachable
from messor.ingest.result import Circumstances, IngestedPage, PlannedPageResult, result_of
from messor.ingest.run import IngestionRun, PlannedPage, retry_until_available
from messor.ingest.tiles import UsedPage
from messor.records import queries
from messor.records.queries import PageRecord
from messor.store.database import Database

MAX_RECORDS = 5_000  # of a run

# Good content, or what was fetched in its place during the run.
CONTENTS = """
SELECT t.page_id, s.id AS snapshot_id, s.content_hash, s.title, s.description, s.verdict
  FROM messor.crawl_tasks t
 CROSS JOIN LATERAL (
   SELECT * FROM messor.page_snapshots o
    WHERE o.page_id = t.page_id AND (o.id = t.snapshot_id OR o.crawled_at >= $2)
    ORDER BY (o.id = t.snapshot_id AND t.outcome IN ('ok', 'unchanged', 'friction')) DESC,
             o.verdict IS NOT NULL DESC, o.id DESC LIMIT 1) s
 WHERE t.page_id = ANY ($1::bigint[])
"""

FRICTION = """
SELECT f.signal, h.host, p.url FROM messor.friction_log f
  JOIN messor.hosts h ON h.id = f.host_id LEFT JOIN messor.pages p ON p.id = f.page_id
 WHERE h.domain_id = $1 AND f.occurred_at >= $2 ORDER BY f.occurred_at LIMIT 200
"""

HOSTS = """
SELECT h.host, messor.risk_at(h.risk_score, h.risk_at, messor.clock()) AS risk,
       h.cooldown_until > messor.clock() AS silent, h.cooldown_reason,
       r.verdict = 'deny_all' AS refused, r.reason, r.status_code,
       (SELECT f.error_json ->> 'message' FROM messor.http_fetches f WHERE f.host_id = h.id
         ORDER BY f.fetched_at DESC LIMIT 1) AS error
  FROM messor.hosts h LEFT JOIN messor.robots_files r ON r.id = h.robots_id
 WHERE h.id = ANY ($1::bigint[])
    OR h.id = (SELECT main_host_id FROM messor.domains WHERE id = $2) ORDER BY h.id
"""

WORKERS = """
SELECT EXISTS (SELECT FROM messor.worker_leases
                WHERE ended_at IS NULL AND expires_at > messor.clock())
"""


async def pages_of(run: IngestionRun) -> tuple[list[IngestedPage], list[UsedPage]]:
    """Every page of the plan with its result, and the content of those used."""
    rows = await retry_until_available(
        lambda: run.database.fetch(CONTENTS, list(run.pages), run.key.started_at)
    )
    stored = await retry_until_available(
        lambda: texts(run.database, [row["snapshot_id"] for row in rows])
    )
    contents = {
        row["page_id"]: {**row, "markdown": stored[row["snapshot_id"]].markdown[:MAX_CHARS]}
        for row in rows
        if row["snapshot_id"] in stored
    }
    pages: list[IngestedPage] = []
    used: list[UsedPage] = []
    for planned in sorted(run.pages.values(), key=lambda page: page.position):
        row = contents.get(planned.page_id)
        page = _page(planned, row)
        pages.append(page)
        if page.result is PlannedPageResult.USED and row is not None:
            used.append(_content(planned, page, row))
    return pages, used


async def records_of(run: IngestionRun, used: Sequence[UsedPage]) -> list[PageRecord]:
    """The records that the used pages state."""
    page_ids = [page.page_id for page in used]
    return await retry_until_available(
        lambda: queries.of_pages(run.database, page_ids, MAX_RECORDS)
    )


def _page(planned: PlannedPage, row: Any) -> IngestedPage:
    state = planned.state
    assert state is not None, "every page of a plan has a state"
    is_good = row is not None and row["snapshot_id"] == state.snapshot_id
    refused = state.refused and planned.asked and planned.done
    answered = planned.cached or state.fetched
    result = result_of(state.outcome, answered=answered, refused=refused, good=is_good)
    content = row if row is not None and (result is PlannedPageResult.USED or not is_good) else None
    return IngestedPage(
        state.url,
        result,
        None if result is PlannedPageResult.UNREACHED else state.outcome,
        None if refused else state.status,
        planned.reason,
        planned.cached,
        planned.asked and state.fetched,
        state.message,
        verdict=content["verdict"] if content else None,
        snapshot_id=content["snapshot_id"] if content else None,
        title=content["title"] if content else None,
        markdown=content["markdown"] if content else None,
    )


def _content(planned: PlannedPage, page: IngestedPage, row: Any) -> UsedPage:
    category = planned.state.category if planned.state else None
    return UsedPage(
        planned.page_id,
        page.url,
        category,
        row["snapshot_id"],
        row["content_hash"],
        row["title"],
        row["description"],
        row["markdown"],
    )


async def circumstances_of(run: IngestionRun, pages: Sequence[IngestedPage]) -> Circumstances:
    """Friction since the run began, risk, cooldowns, robots."""
    host_ids = {page.state.host_id for page in run.pages.values() if page.state}
    rows = await retry_until_available(
        lambda: run.database.fetch(HOSTS, list(host_ids), run.domain.id)
    )
    logged = await retry_until_available(
        lambda: _friction(run.database, run.domain.id, run.key.started_at)
    )
    blocked = [
        f"{page.status or page.outcome}:{_place(page.url)}"
        for page in pages
        if page.result is PlannedPageResult.BLOCKED
        and not any(_place(page.url) in s for s in logged)
    ]
    return Circumstances(
        list(dict.fromkeys([*logged, *blocked])),
        round(max((row["risk"] for row in rows), default=0)),
        [
            f"{row['host']} is not contacted for now: {row['cooldown_reason']}"
            for row in rows
            if row["silent"] and not row["refused"]
        ],
        [row["reason"] for row in rows if row["refused"] and row["status_code"] is not None],
        [
            unreachable(row["host"], row["reason"], row["error"])
            for row in rows
            if row["refused"] and row["status_code"] is None
        ],
        await retry_until_available(lambda: run.database.fetchval(WORKERS)),
    )


async def _friction(database: Database, domain_id: UUID, since: datetime) -> list[str]:
    rows = await database.fetch(FRICTION, domain_id, since)
    return [f"{row['signal']}:{_place(row['url']) if row['url'] else row['host']}" for row in rows]


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}"
