"""Tracking: which keywords are due in their window, and the job that takes one snapshot.

The schedule creates the jobs on time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from messor.errors import NotFoundError, UnavailableError
from messor.jobs.handlers import Effects, Handlers, Result
from messor.jobs.jobs import Job, NewJob, enqueue
from messor.scout import serps
from messor.scout.engines.model import SearchProfile
from messor.scout.search import Searcher, SearchOutcome, WantedSerp
from messor.scout.windows import Window, window_of
from messor.store.database import Connection, Database

JOB = "serp_snapshot"
TIERS = ("A", "B", "C")
NOW = timedelta()
NEXT_ROUND = timedelta(hours=6)  # after all attempts of a job found no available engine
PRIORITY = {"A": 4, "B": 5, "C": 6}
FIRST_PRIORITY = 3  # of a keyword that was never searched: its visibility is unknown until then

_WANTED = """k.id AS keyword_id, k.serp_profile_id AS profile_id, k.keyword_text AS query, k.tier,
  k.last_snapshot_at IS NULL AS is_new,
  p.gl, p.hl, p.device, p.location, p.uule"""
# Also where the requesting process is gone, and where a gap was not recorded: both end as required,
# and nothing is paid again.
DUE = f"""
SELECT {_WANTED}
  FROM messor.keywords k
  JOIN messor.serp_profiles p ON p.id = k.serp_profile_id AND p.active
  JOIN unnest($2::text[], $3::text[]) AS w (tier, key) ON w.tier = k.tier
  LEFT JOIN messor.search_requests r ON r.keyword_id = k.id AND r.serp_profile_id = k.serp_profile_id
       AND r.window_key = w.key AND r.page = 1
 WHERE k.vertical_id = $1 AND k.active AND (
       r.id IS NULL OR r.state = 'open'
    OR (r.state = 'asking' AND r.held_until <= (SELECT messor.clock()))
    OR (r.state = 'gap' AND NOT EXISTS (SELECT FROM messor.serp_snapshots s WHERE s.request_id = r.id)))
 ORDER BY k.last_snapshot_at IS NOT NULL, k.tier, k.last_snapshot_at, k.id LIMIT $4
"""
ONE = f"""
SELECT {_WANTED} FROM messor.keywords k JOIN messor.serp_profiles p ON p.id = k.serp_profile_id
 WHERE k.id = $1
"""


@dataclass(frozen=True, slots=True)
class DueKeyword:
    """A keyword without a page in this window yet."""

    wanted: WantedSerp
    tier: str
    window: Window
    is_new: bool = False  # never searched before


async def now(source: Connection | Database) -> datetime:
    moment: datetime = await source.fetchval("SELECT messor.clock()")
    return moment


async def due(
    source: Connection | Database, vertical_id: UUID, limit: int = 1000
) -> list[DueKeyword]:
    """The due keywords: those never searched first, then the highest tier and longest unseen."""
    moment = await now(source)
    windows = {tier: window_of(tier, moment) for tier in TIERS}
    keys = [windows[tier].key for tier in TIERS]
    rows: Sequence[Any] = await source.fetch(DUE, vertical_id, list(TIERS), keys, limit)
    return [_due(row, windows[row["tier"]]) for row in rows]


async def one(source: Connection | Database, keyword_id: UUID) -> DueKeyword:
    """One keyword, in the current window."""
    row = await source.fetchrow(ONE, keyword_id)
    if row is None:
        raise NotFoundError(f"Unknown keyword {keyword_id}.")
    return _due(row, window_of(row["tier"], await now(source)))


async def ask_for_jobs(connection: Connection, vertical_id: UUID, limit: int = 1000) -> int:
    """A job for every due keyword, once per window; returns how many are new."""
    jobs = [_job(item) for item in await due(connection, vertical_id, limit)]
    return len(await enqueue(connection, jobs))


def _job(item: DueKeyword, rounds: int = 0, delay: timedelta = NOW) -> NewJob:
    """The job that takes a keyword's page.

    `rounds` of attempts found no available engine before.
    """
    key = f"serp:{item.wanted.keyword_id}:{item.wanted.profile_id}:{item.window.key}"
    return NewJob(
        JOB,
        f"{key}:{rounds}" if rounds else key,
        "keyword",
        target_id=item.wanted.keyword_id,
        payload={"window": item.window.key, "rounds": rounds},
        priority=FIRST_PRIORITY if item.is_new else PRIORITY[item.tier],
        delay=delay,
        window_ends_at=item.window.ends_at,
    )


async def snapshot(database: Database, searcher: Searcher, wanted: WantedSerp) -> SearchOutcome:
    """Ensure that a keyword's page of a window exists and is a snapshot."""
    found = await searcher.search(wanted)
    async with database.transaction() as connection:
        return await finish(connection, found)


async def finish(connection: Connection, found: SearchOutcome) -> SearchOutcome:
    """Store the result of a search: a snapshot, or a gap; with what a page lacks."""
    if found.state == "answered":
        kept = await serps.process(connection, found.request_id)
        return replace(found, message=kept.message or "")
    if found.state == "gap":
        await serps.record_gap(connection, found.request_id)
    return found


def register(handlers: Handlers, database: Database, searcher: Searcher) -> None:
    """Register the job's handler in a process."""

    @handlers.prepares(JOB)
    async def take(job: Job) -> Effects:
        assert job.target_id is not None
        item = await one(database, job.target_id)
        found = await searcher.search(item.wanted)
        if found.state == "waiting":
            if job.attempts < job.max_attempts:
                raise UnavailableError(f"No search engine responded: {found.message}")
            if item.window.ends_at - await now(database) > NEXT_ROUND:
                return _try_later(item, job, found)
            await searcher.give_up(found.request_id, found.message)
            found = SearchOutcome("gap", found.request_id, found.message)

        async def keep(connection: Connection) -> Result:
            done = await finish(connection, found)
            return {"state": done.state, "message": done.message}

        return keep


def _try_later(item: DueKeyword, job: Job, found: SearchOutcome) -> Effects:
    """Nothing was paid and nothing came: another job may still fill the window."""
    rounds = int(job.payload.get("rounds", 0)) + 1

    async def keep(connection: Connection) -> Result:
        await enqueue(connection, [_job(item, rounds, NEXT_ROUND)])
        return {"state": "waiting", "message": found.message, "rounds": rounds}

    return keep


def _due(row: Any, window: Window) -> DueKeyword:
    profile = SearchProfile(row["gl"], row["hl"], row["device"], row["location"], row["uule"])
    wanted = WantedSerp(row["keyword_id"], row["profile_id"], row["query"], profile, window.key)
    return DueKeyword(wanted, row["tier"], window, row["is_new"])
