"""Control: pause, resume, stop, retry and recrawl tasks, one or many at a time.

A domain, or everything, is paused by a flag that claims and flushes check, which is quick however
many tasks there are and covers pages found later; for single tasks and batches the tasks' status
is changed. A visit that holds such tasks is recalled by the worker's next flush. All of it is in
the database, so it survives restarts; each act records an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from messor.errors import ConflictError, NotFoundError, UsageError
from messor.frontier import transitions
from messor.frontier.transitions import BEYOND_SQL, HELD_SQL
from messor.ledger.events import Event, record
from messor.politeness import lanes
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.store.database import TRY_AGAIN, Connection, Database
from messor.web.urls import parse, url_hash

CHUNK = 1_000
TRIES = 5  # of a chunk that conflicted with a flush

EVENTS = {
    "pause": "tasks.paused",
    "resume": "tasks.resumed",
    "stop": "tasks.stopped",
    "retry": "tasks.retried",
    "recrawl": "tasks.recrawled",
}

_WHERE = {
    "url": "t.page_id = $1::bigint",
    "batch": "t.page_id IN (SELECT b.page_id FROM messor.batch_pages b WHERE b.batch_id = $1::uuid)",
    "domain": "t.page_id IN (SELECT p.id FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id"
    " WHERE h.domain_id = $1::uuid)",
    "all": "$1::text IS NULL",
}

CHOOSE = """
SELECT t.page_id, t.host_id FROM messor.crawl_tasks t
 WHERE {where} AND t.page_id > $2 AND t.kind <> 'robots' AND t.status = ANY ($3::text[]) {within}
 ORDER BY t.page_id LIMIT $4
"""

# A page beyond its domain's depth was fetched for a deeper run. A request for all pages does not
# include it, and it would be refused; a request that names it does.
WITHIN_REACH = f"AND NOT ({BEYOND_SQL})"
REACH = """
UPDATE messor.pages p SET found_by = 'manual'
  FROM messor.hosts h JOIN messor.domains d ON d.id = h.domain_id
 WHERE p.id = ANY ($1::bigint[]) AND h.id = p.host_id AND p.depth > d.max_crawl_depth
"""

# A task paused while unscheduled is unscheduled when resumed.
_SET = {
    "pause": "held_due_at = t.due_at, due_at = NULL",
    "resume": "due_at = t.held_due_at, held_due_at = NULL",
    "stop": "due_at = NULL, held_due_at = NULL",
    "retry": "due_at = messor.clock(), retry_count = 0, rounds = 0, held_due_at = NULL",
    "recrawl": "due_at = messor.clock(), retry_count = 0, rounds = 0, held_due_at = NULL",
}
# A task that waits for its first attempt needs no retry.
_ONLY = {"retry": "AND (t.status <> 'pending' OR t.retry_count > 0)"}

CHANGE = """
UPDATE messor.crawl_tasks t SET status = $3, {assign}
  FROM (SELECT k.page_id FROM messor.crawl_tasks k WHERE k.page_id = ANY ($1::bigint[])
         ORDER BY k.page_id FOR NO KEY UPDATE) c
 WHERE t.page_id = c.page_id AND t.status = ANY ($2::text[]) {only}
RETURNING t.host_id
"""

WAKE = """
UPDATE messor.lanes l
   SET due_at = n.due_at,
       claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, n.due_at)
                       ELSE l.claim_at END
  FROM (SELECT g.host_id, min(first.due_at) AS due_at
          FROM unnest($1::bigint[]) AS g (host_id)
         CROSS JOIN generate_series(0, 10) AS p (priority)
         CROSS JOIN LATERAL (
           SELECT t.due_at FROM messor.crawl_tasks t
            WHERE t.host_id = g.host_id AND t.priority = p.priority AND t.due_at IS NOT NULL
            ORDER BY t.due_at LIMIT 1) first
         GROUP BY 1) n
 WHERE l.host_id = n.host_id
"""

# The site's response must not be taken for content already held.
REFETCH = f"""
UPDATE messor.crawl_tasks t
   SET raw_hash = NULL, etag = NULL, last_modified = NULL, wire_tag = NULL, retry_count = 0,
       rounds = 0,
       status = CASE WHEN t.status IN ({HELD_SQL}) THEN t.status ELSE 'pending' END,
       due_at = CASE WHEN t.status NOT IN ({HELD_SQL}) THEN messor.clock() END,
       held_due_at = CASE WHEN t.status = 'paused' THEN messor.clock() END
  FROM (SELECT k.page_id FROM messor.crawl_tasks k WHERE k.page_id = ANY ($1::bigint[])
         ORDER BY k.page_id FOR NO KEY UPDATE) c
 WHERE t.page_id = c.page_id
RETURNING t.host_id
"""
HOSTS = "SELECT DISTINCT host_id FROM messor.crawl_tasks WHERE page_id = ANY ($1::bigint[])"

# In a transaction after the tasks' own: a worker that loaded them earlier holds its lane by now.
RECALL = """
UPDATE messor.lanes l SET recall = l.token
  FROM (SELECT host_id FROM messor.lanes
         WHERE host_id = ANY ($1::bigint[]) AND worker_id IS NOT NULL
         ORDER BY host_id FOR NO KEY UPDATE) h
 WHERE l.host_id = h.host_id
"""

LOCK_DOMAINS = """
SELECT id, paused FROM messor.domains
 WHERE $1::uuid IS NULL OR id = $1 ORDER BY id FOR NO KEY UPDATE
"""
PAUSE_DOMAIN = "UPDATE messor.domains SET paused = true, active = false WHERE id = $1"
RESUME_DOMAIN = """
UPDATE messor.domains
   SET paused = false, active = NOT EXISTS (SELECT FROM messor.standstill) WHERE id = $1
"""
STAND_STILL = """
INSERT INTO messor.standstill (actor) VALUES ($1) ON CONFLICT DO NOTHING
"""
MOVE_ON = "DELETE FROM messor.standstill"
STOP_ALL = "UPDATE messor.domains SET active = false WHERE active"
START_ALL = "UPDATE messor.domains SET active = true WHERE NOT paused AND NOT active"
# A claim that saw the pause may be clearing a lane: wait for its lock.
WAKE_ALL = """
UPDATE messor.lanes l SET claim_at = greatest(l.ready_at, l.due_at)
  FROM (SELECT o.host_id FROM messor.lanes o JOIN messor.domains d ON d.id = o.domain_id
         WHERE o.due_at IS NOT NULL AND d.active AND ($1::uuid IS NULL OR d.id = $1)
         ORDER BY o.host_id FOR NO KEY UPDATE OF o) h
 WHERE l.host_id = h.host_id AND l.worker_id IS NULL
"""

COUNT = """
SELECT count(*) FROM messor.crawl_tasks t WHERE {where} AND t.due_at IS NOT NULL AND t.kind <> 'robots'
"""

FIND_PAGE = """
SELECT p.id, h.domain_id, t.status, t.kind FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
  JOIN messor.crawl_tasks t ON t.page_id = p.id WHERE h.host = $1 AND p.url_hash = $2
"""
FIND_BATCH = "SELECT id FROM messor.task_batches WHERE id = $1"


@dataclass(frozen=True, slots=True)
class Scope:
    """What an act applies to: one page, a batch, a domain or everything."""

    kind: str
    name: str
    key: int | UUID | None = None
    domain_id: UUID | None = None
    status: str | None = None  # of a single task

    @classmethod
    def everything(cls) -> Self:
        return cls("all", "everything")

    @classmethod
    async def url(cls, database: Database, text: str) -> Self:
        url = parse(text if "://" in text else f"https://{text}")
        if url is None:
            raise UsageError(f"{text[:200]!r} is not a web URL.")
        row = await database.fetchrow(FIND_PAGE, url.authority, url_hash(url))
        if row is None:
            raise NotFoundError(f"{url.href} is unknown. Submit it: messor tasks submit -")
        if row["kind"] == "robots":
            raise ConflictError("A robots.txt task cannot be paused; pause its domain instead.")
        return cls("url", url.href, row["id"], row["domain_id"], row["status"])

    @classmethod
    async def batch(cls, database: Database, text: str) -> Self:
        try:
            key = UUID(text)
        except ValueError as error:
            raise UsageError(
                f"{text[:50]!r} is not a batch id; list batches with: messor tasks batches"
            ) from error
        if await database.fetchrow(FIND_BATCH, key) is None:
            raise NotFoundError(f"There is no batch {key}; list batches with: messor tasks batches")
        return cls("batch", str(key), key)

    @classmethod
    async def domain(cls, database: Database, text: str) -> Self:
        found = await registry.get(database, Submission.understand(text).domain)
        return cls("domain", found.domain, found.id, found.id)

    @property
    def is_whole(self) -> bool:
        """Whether it is held by a flag that also covers pages found later."""
        return self.kind in ("domain", "all")


@dataclass(frozen=True, slots=True)
class ControlResult:
    """The result of an act."""

    act: str
    scope: str
    name: str
    tasks: int


async def act(database: Database, name: str, scope: Scope, *, actor: str) -> ControlResult:
    """Pause, resume, stop, retry or recrawl; return how many tasks changed."""
    if scope.status is not None:
        transitions.require(name, scope.status)
    if scope.is_whole and name in ("pause", "resume"):
        changed = await _flag(database, name, scope, actor)
    else:
        if scope.is_whole and name == "stop":
            # Pages that running visits still find must not continue the run.
            await _flag(database, "pause", scope, actor)
        changed = await _change(database, name, scope)
    done = ControlResult(name, scope.kind, scope.name, changed)
    page_id = scope.key if scope.kind == "url" else None
    data: dict[str, Any] = {"scope": scope.kind, "name": scope.name, "tasks": changed}
    async with database.transaction() as connection:
        assert page_id is None or isinstance(page_id, int)
        await record(connection, [Event(EVENTS[name], actor, scope.domain_id, page_id, data)])
    return done


async def _flag(database: Database, name: str, scope: Scope, actor: str) -> int:
    """Pause or resume a domain or everything; visits end with the flush that sees it."""
    async with database.transaction() as connection:
        await connection.execute(LOCK_DOMAINS, scope.key)
        if scope.kind == "all":
            await _flag_all(connection, name, actor)
        elif name == "pause":
            await connection.execute(PAUSE_DOMAIN, scope.key)
        else:
            await connection.execute(RESUME_DOMAIN, scope.key)
        if name == "resume":
            await connection.execute(WAKE_ALL, scope.key)
        held: int = await connection.fetchval(COUNT.format(where=_WHERE[scope.kind]), scope.key)
        return held


async def _flag_all(connection: Connection, name: str, actor: str) -> None:
    if name == "pause":
        await connection.execute(STAND_STILL, actor)
        await connection.execute(STOP_ALL)
    else:
        await connection.execute(MOVE_ON)
        await connection.execute(START_ALL)


async def _change(database: Database, name: str, scope: Scope) -> int:
    """Change tasks chunk by chunk, one transaction each."""
    changed, after = 0, 0
    hosts: set[int] = set()
    while True:
        chosen = await _chunk(database, name, scope, after)
        if chosen is None:
            break
        after, touched = chosen
        changed += len(touched)
        hosts.update(touched)
    if name in ("pause", "stop") and hosts:
        async with database.transaction() as connection:
            await connection.execute(RECALL, sorted(hosts))
    return changed


async def _chunk(
    database: Database, name: str, scope: Scope, after: int
) -> tuple[int, list[int]] | None:
    """The last page processed, and the hosts of changed tasks; None at the end."""
    for attempt in range(TRIES):
        try:
            async with database.transaction() as connection:
                return await _change_chunk(connection, name, scope, after)
        except TRY_AGAIN:
            if attempt == TRIES - 1:
                raise
    return None


async def _change_chunk(
    connection: Connection, name: str, scope: Scope, after: int
) -> tuple[int, list[int]] | None:
    sources = transitions.sources(name)
    is_request = name in ("retry", "recrawl")
    within = WITHIN_REACH if is_request and scope.is_whole else ""
    choose = CHOOSE.format(where=_WHERE[scope.kind], within=within)
    rows = await connection.fetch(choose, scope.key, after, sources, CHUNK)
    if not rows:
        return None
    await lanes.lock(connection, {row["host_id"] for row in rows})
    change = CHANGE.format(assign=_SET[name], only=_ONLY.get(name, ""))
    page_ids = [row["page_id"] for row in rows]
    if is_request and not scope.is_whole:
        await connection.execute(REACH, page_ids)
    changed = await connection.fetch(change, page_ids, sources, transitions.ACTS[name])
    hosts = [row["host_id"] for row in changed]
    if name in ("resume", "retry", "recrawl"):
        await connection.execute(WAKE, sorted(set(hosts)))
    return page_ids[-1], hosts


async def refetch(database: Database, page_ids: Sequence[int]) -> int:
    """Fetch pages again as soon as permitted, whatever is stored of them; return how many.

    Paused or stopped ones stay so, and are fetched again when resumed.
    """
    async with database.transaction() as connection:
        rows = await connection.fetch(HOSTS, page_ids)
        await lanes.lock(connection, {row["host_id"] for row in rows})
        await connection.execute(REACH, page_ids)
        touched = [row["host_id"] for row in await connection.fetch(REFETCH, page_ids)]
        await connection.execute(WAKE, sorted(set(touched)))
    if touched:
        async with database.transaction() as connection:
            await connection.execute(RECALL, sorted(set(touched)))
    return len(touched)


async def is_standing_still(database: Database) -> bool:
    """Whether everything is paused."""
    still: bool = await database.fetchval("SELECT EXISTS (SELECT FROM messor.standstill)")
    return still
