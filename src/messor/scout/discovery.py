"""Discovery sessions: result pages in, candidates and statistics out.

Each result is judged and stored separately, so that one failure affects no other, and an
interrupted session resumes where it stopped: what it already holds is skipped. `scout.search`
requests the pages.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.core.logs import room_logger
from messor.errors import NotFoundError
from messor.ledger.events import Event, record
from messor.registry import domains, processing
from messor.registry.domains import Domain, Submission
from messor.scout import candidates
from messor.scout.judges.model import Judgement, SearchResult
from messor.scout.judges.panel import Panel
from messor.scout.savepoint import BAD_ROW, isolated
from messor.store.database import Connection, Database
from messor.verticals.verticals import Applied
from messor.web.urls import url_hash

logger = room_logger(__name__)
SYSTEM = "system"
MAX_CONTEXT = 3_500
ABANDONED_AFTER = timedelta(hours=6)
RESTING = ("processed_low_quality", "no_funds_this_year", "processing_failed")

BEGIN = """
INSERT INTO messor.discovery_sessions (id, vertical_id, vertical_version, started_by)
VALUES ($1, $2, $3, $4)
"""
END = """
UPDATE messor.discovery_sessions
   SET state = $2, finished_at = messor.clock(), message = $3, statistics = $4
 WHERE id = $1 AND state = 'running' RETURNING id
"""
# What the vertical found at the domain before.
FOUND_BEFORE = """
SELECT url_hash, title, snippet, status,
       date_trunc('year', created_at AT TIME ZONE 'UTC')
         = date_trunc('year', messor.clock() AT TIME ZONE 'UTC') AS is_of_this_year
  FROM messor.candidates WHERE domain_id = $1 AND vertical_id = $2
"""
ABANDONED = """
UPDATE messor.discovery_sessions SET state = 'failed', finished_at = messor.clock(),
       message = 'Whoever ran it was gone; what it had not judged is left to the next session.'
 WHERE vertical_id = $1 AND state = 'running' AND started_at < messor.clock() - $2::interval
RETURNING id
"""
UNJUDGED = """
SELECT s.id FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
 WHERE k.vertical_id = $1 AND s.judged_in IS NULL AND s.outcome <> 'failed'
 ORDER BY s.captured_at, s.id LIMIT $2
"""
CLAIM_UNJUDGED = f"{UNJUDGED.rstrip()} FOR UPDATE OF s SKIP LOCKED"
JUDGED = "UPDATE messor.serp_snapshots SET judged_in = $2 WHERE id = ANY ($1::uuid[])"
ERASED = """
SELECT EXISTS (SELECT FROM messor.erasures
                WHERE (kind = 'domain' AND key = $1) OR (kind = 'url' AND key = $2))
"""
# Results of some pages that have a URL, the best position of each URL first.
RESULTS = """
SELECT r.url, r.domain, r.title, r.snippet, s.engine, k.keyword_text, r.rank_position, r.published_at
  FROM messor.serp_snapshots s
  JOIN messor.serp_results r ON r.snapshot_id = s.id
  JOIN messor.keywords k ON k.id = s.keyword_id
 WHERE s.id = ANY ($1::uuid[]) AND r.block_type IN ('organic', 'local_pack', 'featured') AND r.url IS NOT NULL
 ORDER BY r.rank_position, k.keyword_text, r.id
"""


@dataclass(slots=True)
class ProcessingStats:
    """Statistics of a session, as logged."""

    total_processed: int = 0
    candidates_created: int = 0
    skipped_low_confidence: int = 0
    skipped_domain_already_processed: int = 0
    skipped_blacklisted: int = 0
    failures: int = 0
    average_confidence: float | None = None
    max_confidence: float | None = None
    min_confidence: float | None = None
    processing_time_ms: int = 0
    confidences: list[float] = field(default_factory=list, repr=False)

    def summary(self) -> dict[str, Any]:
        """The figures; confidence is that of created candidates."""
        figures = asdict(self)
        made = figures.pop("confidences")
        if made:
            figures["average_confidence"] = round(sum(made) / len(made), 4)
            figures["max_confidence"], figures["min_confidence"] = max(made), min(made)
        return figures


async def begin(connection: Connection, applied: Applied, *, actor: str) -> UUID:
    """Open a session."""
    key = new_id()
    await connection.execute(BEGIN, key, applied.id, applied.vertical.version, actor)
    data = {"session": str(key), "vertical": applied.vertical.name}
    await record(connection, [Event("discovery.started", actor, data=data)])
    return key


async def end(
    connection: Connection,
    session_id: UUID,
    stats: ProcessingStats,
    *,
    state: str = "finished",
    message: str | None = None,
) -> None:
    """Close a session with its figures."""
    figures = stats.summary()
    text = msgspec.json.encode(figures).decode()
    if await connection.fetchval(END, session_id, state, message, text) is None:
        raise NotFoundError(f"No discovery session {session_id} is running.")
    logger.info("Discovery session %s is %s: %s", session_id, state, figures)
    data = {"session": str(session_id), "state": state, **figures}
    await record(connection, [Event("discovery.finished", SYSTEM, data=data)])


async def close_abandoned(
    connection: Connection, applied: Applied, after: timedelta = ABANDONED_AFTER
) -> int:
    """End sessions whose process is long gone; returns how many."""
    return len(await connection.fetch(ABANDONED, applied.id, after))


async def unjudged(
    source: Connection | Database, applied: Applied, limit: int = 10_000
) -> list[UUID]:
    """The vertical's result pages that no session has judged."""
    return [row["id"] for row in await source.fetch(UNJUDGED, applied.id, limit)]


async def claim_unjudged(connection: Connection, applied: Applied, limit: int) -> list[UUID]:
    """The same, locked against other judges until the caller's transaction ends."""
    return [row["id"] for row in await connection.fetch(CLAIM_UNJUDGED, applied.id, limit)]


async def mark_judged(connection: Connection, snapshots: Iterable[UUID], session_id: UUID) -> None:
    await connection.execute(JUDGED, list(snapshots), session_id)


async def results_of(
    source: Connection | Database, snapshots: Iterable[UUID]
) -> list[SearchResult]:
    """Results of some result pages, each URL once, at its best position."""
    rows = await source.fetch(RESULTS, list(snapshots))
    found: dict[str, SearchResult] = {}
    for row in rows:
        if row["domain"] is not None:
            found.setdefault(row["url"], SearchResult(*row))
    return list(found.values())


class Discovery:
    """Turns results of one session into candidates, each in its own or the caller's transaction."""

    def __init__(
        self, source: Connection | Database, applied: Applied, session_id: UUID, panel: Panel
    ) -> None:
        self._source = source
        self._applied = applied
        self._session_id = session_id
        self._panel = panel

    async def process(self, results: Iterable[SearchResult]) -> ProcessingStats:
        """Judge and store results; a failure is counted, and the others continue."""
        stats = ProcessingStats()
        started = time.monotonic()
        judged = [(result, self._panel.judge(result)) for result in results]
        # A domain is known by its best result: three poor ones before it would close the domain.
        judged.sort(key=lambda pair: -pair[1].confidence_score)
        for result, judgement in judged:
            stats.total_processed += 1
            try:
                async with isolated(self._source) as connection:
                    await self._one(connection, result, judgement, stats)
            except BAD_ROW as error:
                stats.failures += 1
                logger.warning("A result of %s was skipped: %s", result.domain, error)
        stats.processing_time_ms = int((time.monotonic() - started) * 1000)
        return stats

    async def _one(
        self,
        connection: Connection,
        result: SearchResult,
        judgement: Judgement,
        stats: ProcessingStats,
    ) -> None:
        if await connection.fetchval(ERASED, result.domain, result.url):
            stats.skipped_blacklisted += 1
            return
        # A known domain stays unchanged: what a reviewer rejected is not submitted again
        # automatically.
        await domains.submit(
            connection,
            Submission.understand(result.url),
            actor=SYSTEM,
            submitter_type="system",
            context=_context(result, judgement),
        )
        domain = await domains.lock(connection, result.domain)
        if domain.status == "blacklisted":
            stats.skipped_blacklisted += 1
        elif await self._is_done(connection, domain, result):
            stats.skipped_domain_already_processed += 1
        else:
            await self._keep(connection, result, judgement, domain, stats)

    async def _is_done(self, connection: Connection, domain: Domain, result: SearchResult) -> bool:
        """Whether the domain is closed, or the vertical knows what this result shows."""
        if domain.status == "rejected" or domain.processing in RESTING:
            return True
        rows = await connection.fetch(FOUND_BEFORE, domain.id, self._applied.id)
        return any(self._is_same(row, result) for row in rows)

    def _is_same(self, before: Any, result: SearchResult) -> bool:
        """Whether a candidate stands for this result, too.

        The year's first result of a decided candidate is a new call. One that was rejected or
        skipped is judged again only if its text changed.
        """
        has_url = before["url_hash"] == url_hash(result.url)
        is_identical = has_url and (
            (before["title"], before["snippet"]) == (result.title, result.snippet)
        )
        if before["status"] == candidates.SKIPPED:
            return is_identical
        if before["is_of_this_year"] or before["status"] in candidates.UNDECIDED:
            return has_url or self._unit(before["title"], result) == self._unit(
                result.title, result
            )
        return is_identical and before["status"] == candidates.REJECTED

    def _unit(self, title: str, result: SearchResult) -> str:
        """The program that a title of the domain names, if programs are what the vertical looks for."""
        is_program = self._applied.vertical.unit == "program"
        return self._panel.program_key(title, result.domain) if is_program else ""

    async def _keep(
        self,
        connection: Connection,
        result: SearchResult,
        judgement: Judgement,
        domain: Domain,
        stats: ProcessingStats,
    ) -> None:
        made = await candidates.create(
            connection,
            result,
            judgement,
            session_id=self._session_id,
            vertical_id=self._applied.id,
            domain_id=domain.id,
        )
        if made is None:  # of an earlier run of this session
            stats.skipped_domain_already_processed += 1
            return
        if domain.processing == "discovered":
            domain = await processing.begin(connection, domain)
        await processing.judged(
            connection, domain, judgement.confidence_score, session_id=self._session_id
        )
        if judgement.should_crawl:
            stats.candidates_created += 1
            stats.confidences.append(judgement.confidence_score)
        else:
            stats.skipped_low_confidence += 1


def _context(result: SearchResult, judgement: Judgement) -> str:
    """Context for the domain's reviewer."""
    found = f"Found by {result.search_engine} for {result.search_query!r} at {result.position}."
    return f"{found} {judgement.reasoning}"[:MAX_CONTEXT]
