"""Jobs: crawls and batches that programs start, look at and cancel.

A crawl is a crawl run with a scope, a batch is a list of requested pages. Both are in the database:
workers do them in their lanes, `keeper` notes what is done, and neither needs the program to stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from messor.access import key_policies
from messor.core.ids import new_id
from messor.crawl import crawl_runs
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.frontier import runs
from messor.frontier.runs import CrawlRun, RunLimits
from messor.politeness import traffic
from messor.registry.domains import Domain
from messor.scrape import documents, hooks, requests
from messor.scrape.caller import Caller, admit, note, require_open
from messor.scrape.documents import Shape
from messor.scrape.hooks import SealedHook
from messor.scrape.pages import TWO_DAYS, transact
from messor.scrape.refusals import ScrapeRefusedError
from messor.store.database import Connection, Database
from messor.web.urls import Url, url_hash

KEPT = timedelta(days=7)  # a job's pages can be read so long
MAX_BATCH = 10_000
MAX_PATTERNS = 50
MAX_PATTERN = 300
MOST_DEPTH = 100

COLUMNS = """id, kind, actor, key_id, url, domain_id, run_id, options::text AS options, status, code,
  error, reserved, created_at, ended_at, expires_at, hook IS NOT NULL AS has_hook"""
INSERT = """
INSERT INTO messor.scrape_jobs (id, kind, actor, key_id, url, domain_id, run_id, options, status,
                                code, error, reserved, audit, hook, expires_at, ended_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $11, $12, $13, $14,
        messor.clock() + $15::interval, CASE WHEN $9 <> 'scraping' THEN messor.clock() END)
"""
# Pages that the archive holds in a recent enough form are done at once.
INSERT_PAGES = """
INSERT INTO messor.scrape_job_pages (job_id, url, page_id, place, snapshot_id, code, error, done_at)
SELECT $1, w.url, w.page_id,
       CASE WHEN w.snapshot_id IS NOT NULL
            THEN count(w.snapshot_id) OVER (ORDER BY w.number ROWS UNBOUNDED PRECEDING) END,
       w.snapshot_id, w.code, w.error,
       CASE WHEN w.snapshot_id IS NOT NULL OR w.code IS NOT NULL THEN messor.clock() END
  FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[]) WITH ORDINALITY
       AS w (url, page_id, snapshot_id, code, error, number)
 ORDER BY w.number
"""
GET = f"SELECT {COLUMNS} FROM messor.scrape_jobs WHERE id = $1 AND kind = ANY ($2::text[])"
COUNT = """
SELECT count(*) FILTER (WHERE snapshot_id IS NOT NULL)::int AS completed,
       count(*) FILTER (WHERE code IS NOT NULL)::int AS refused, count(*)::int AS pages
  FROM messor.scrape_job_pages WHERE job_id = $1
"""
# Of a crawl, also what is known and not yet fetched.
REMAINING = """
SELECT count(*)::int FROM messor.crawl_run_tasks($1) t
 WHERE t.due_at <= messor.clock() + interval '1 second'
"""
DOCUMENTS = """
SELECT place, snapshot_id, url FROM messor.scrape_job_pages
 WHERE job_id = $1 AND place > $2 ORDER BY place LIMIT $3
"""
REFUSED = """
SELECT id, url, code, error, done_at FROM messor.scrape_job_pages
 WHERE job_id = $1 AND code IS NOT NULL ORDER BY id LIMIT $2
"""
ACTIVE = f"""
SELECT {COLUMNS} FROM messor.scrape_jobs
 WHERE actor = $1 AND kind = 'crawl' AND ended_at IS NULL ORDER BY created_at LIMIT 100
"""
LOAD = """
SELECT count(*) FILTER (WHERE j.kind <> 'scrape')::int AS jobs,
       count(*)::int AS all_jobs,
       (SELECT max(ended_at) FROM messor.scrape_jobs
         WHERE actor = $1 AND status = 'completed') AS last_success
  FROM messor.scrape_jobs j
 WHERE j.actor = $1 AND j.ended_at IS NULL AND j.expires_at > messor.clock()
"""
END = f"""
UPDATE messor.scrape_jobs SET status = $2, code = $3, error = $4, ended_at = messor.clock()
 WHERE id = $1 AND ended_at IS NULL RETURNING {COLUMNS}
"""
WAITING = "SELECT page_id FROM messor.scrape_job_pages WHERE job_id = $1 AND done_at IS NULL AND page_id IS NOT NULL"
RUN = f"SELECT {runs.COLUMNS} FROM messor.crawl_runs WHERE id = $1"


@dataclass(frozen=True, slots=True)
class ScrapeJob:
    """A crawl or a batch."""

    id: UUID
    kind: str
    actor: str
    key_id: UUID | None
    url: str
    domain_id: UUID | None
    run_id: UUID | None
    options: str
    status: str
    code: str | None
    error: str | None
    reserved: int
    created_at: datetime
    ended_at: datetime | None
    expires_at: datetime
    has_hook: bool  # somebody is to be told

    @property
    def shape(self) -> Shape:
        return documents.decoded(self.options)


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job is, in pages."""

    completed: int
    refused: int
    total: int


@dataclass(frozen=True, slots=True)
class RefusedPage:
    """A page of a job that is not given, and why."""

    id: int
    url: str
    code: str
    error: str
    at: datetime


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """A crawl as a program asks for it."""

    url: Url
    depth: int | None = None
    limit: int = 10_000
    delay: float | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    whole_url: bool = False  # patterns apply to the whole URL, not to path and query
    whole_domain: bool = False  # not only below the start URL
    subdomains: bool = False
    ignores_queries: bool = False
    sitemaps: bool = True
    refetch: bool = False
    shape: Shape = field(default_factory=Shape)

    @property
    def scope(self) -> str:
        """For `messor.run_takes`."""
        folder = self.url.path.rpartition("/")[0] + "/"
        given: dict[str, Any] = {
            "host": None if self.subdomains else self.url.authority,
            "folder": None if self.whole_domain or folder == "/" else folder,
            "include": self.include,
            "exclude": self.exclude,
            "whole_url": self.whole_url,
            "no_query": self.ignores_queries,
        }
        return msgspec.json.encode(given).decode()


async def start_crawl(
    database: Database, caller: Caller, order: CrawlOrder, hook: SealedHook | None = None
) -> UUID:
    """Start a crawl; one whose domain may not be visited ends at once, and says why."""
    await check_patterns(database, [*order.include, *order.exclude])

    async def begin(connection: Connection) -> UUID:
        await traffic.require_running(connection)
        domain = await admit(connection, caller, order.url)
        refusal = _refusal_of(domain)
        if refusal is not None:
            return await _insert_refused(connection, caller, order, domain, refusal, hook=hook)
        pages = await key_policies.take(connection, caller.policy, order.limit)
        depth = MOST_DEPTH if order.depth is None else order.depth
        if caller.policy is not None:
            depth = min(depth, caller.policy.max_depth)
        limits = RunLimits(
            depth, pages, order.delay, order.refetch, order.scope, sitemaps=order.sitemaps
        )
        run, _ = await crawl_runs.begin(connection, domain, order.url, limits, actor=caller.actor)
        reserved = pages if caller.policy is not None else 0
        job_id = await _insert(connection, caller, "crawl", order.url.href, order.shape,
                               domain=domain, run_id=run.id, reserved=reserved, hook=hook)  # fmt: skip
        if caller.on_behalf_of:
            await note(connection, caller, domain, order.url)
        return job_id

    return await transact(database, begin)


def _refusal_of(domain: Domain) -> ScrapeRefusedError | None:
    try:
        require_open(domain)
    except ScrapeRefusedError as refusal:
        return refusal
    return None


async def _insert_refused(
    connection: Connection,
    caller: Caller,
    order: CrawlOrder,
    domain: Domain,
    refusal: ScrapeRefusedError,
    *,
    hook: SealedHook | None,
) -> UUID:
    """A crawl of no page, with the refusal in its list: programs test their access with one."""
    job_id = await _insert(connection, caller, "crawl", order.url.href, order.shape, domain=domain,
                           status="completed", code=refusal.code, error=str(refusal), hook=hook)  # fmt: skip
    page = [order.url.href], [None], [None], [refusal.code], [str(refusal)]
    await connection.execute(INSERT_PAGES, job_id, *page)
    if hook is not None:
        await hooks.tell_end(connection, job_id, "crawl", "completed")
    return job_id


async def _insert(
    connection: Connection,
    caller: Caller,
    kind: str,
    url: str,
    shape: Shape,
    *,
    domain: Domain | None = None,
    run_id: UUID | None = None,
    reserved: int = 0,
    status: str = "scraping",
    code: str | None = None,
    error: str | None = None,
    hook: SealedHook | None = None,
) -> UUID:
    job_id = new_id() if hook is None else hook.job_id
    await connection.execute(
        INSERT, job_id, kind, caller.actor, caller.principal.key_id, url,
        domain.id if domain else None, run_id, documents.encoded(shape), status, code, error,
        reserved, caller.on_behalf_of, hook and hook.sealed, KEPT,
    )  # fmt: skip
    if hook is not None:
        await hooks.tell(connection, job_id, kind, "started")
    return job_id


KEEP_RESULT = "UPDATE messor.scrape_jobs SET result = $2::jsonb WHERE id = $1"
RESULT = "SELECT result::text FROM messor.scrape_jobs WHERE id = $1"


async def keep_extraction(
    database: Database,
    caller: Caller,
    url: Url,
    result: dict[str, Any],
    hook: SealedHook | None = None,
) -> UUID:
    """Keep what was extracted, for clients that ask for it by its id."""

    async def act(connection: Connection) -> UUID:
        job_id = await _insert(
            connection, caller, "extract", url.href, Shape(), status="completed", hook=hook
        )
        await connection.execute(KEEP_RESULT, job_id, msgspec.json.encode(result).decode())
        if hook is not None:
            await hooks.tell_result(connection, job_id, [result.get("data")])
        return job_id

    return await transact(database, act)


async def extraction(database: Database, job: ScrapeJob) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(await database.fetchval(RESULT, job.id))
    return found


async def check_patterns(database: Database, patterns: Sequence[str]) -> None:
    """Raise an error for patterns that PostgreSQL cannot match, or not in bounded time."""
    if len(patterns) > MAX_PATTERNS:
        raise UsageError(f"A crawl takes at most {MAX_PATTERNS} patterns of paths.")
    for pattern in patterns:
        if len(pattern) > MAX_PATTERN or any(f"\\{n}" in pattern for n in range(1, 10)):
            raise UsageError(
                f"A pattern of paths has at most {MAX_PATTERN} characters and no back references."
            )
        try:
            await database.fetchval("SELECT '' ~ $1", pattern)
        except asyncpg.InvalidRegularExpressionError as error:
            raise UsageError(f"{pattern[:100]!r} is not a regular expression: {error}") from error


@dataclass(slots=True)
class _Line:
    """One URL of a batch, and what is known of it at the start."""

    url: str
    page_id: int | None = None
    snapshot_id: int | None = None
    refusal: ScrapeRefusedError | None = None


async def start_batch(
    database: Database,
    caller: Caller,
    urls: Sequence[Url],
    shape: Shape,
    *,
    max_age: float = TWO_DAYS,
    append_to: UUID | None = None,
    hook: SealedHook | None = None,
) -> UUID:
    """Start a batch: what the archive holds is done at once, the rest is due in its lanes."""
    if not 1 <= len(urls) <= MAX_BATCH:
        raise UsageError(f"A batch has 1 to {MAX_BATCH} URLs; {len(urls)} were given.")
    if append_to is not None:
        await owned(database, caller, append_to, "batch")

    async def begin(connection: Connection) -> UUID:
        await traffic.require_running(connection)
        lines = [_Line(url.href) for url in urls]
        await _find_fresh(connection, lines, urls, max_age)
        wanted = [at for at, line in enumerate(lines) if line.snapshot_id is None]
        if wanted:
            await _request(connection, caller, lines, urls, wanted)
        job_id = append_to or await _insert(
            connection, caller, "batch", urls[0].href, shape, hook=hook
        )
        await connection.execute(
            INSERT_PAGES,
            job_id,
            [line.url for line in lines],
            [line.page_id for line in lines],
            [line.snapshot_id for line in lines],
            [line.refusal.code if line.refusal else None for line in lines],
            [str(line.refusal) if line.refusal else None for line in lines],
        )
        return job_id

    return await transact(database, begin)


FRESH = """
SELECT w.place::int - 1 AS at, t.snapshot_id, t.page_id
  FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS w (host, url_hash, place)
  JOIN messor.hosts h ON h.host = w.host
  JOIN messor.domains d ON d.id = h.domain_id AND d.status NOT IN ('rejected', 'blacklisted')
  JOIN messor.pages p ON p.host_id = h.id AND p.url_hash = w.url_hash
  JOIN messor.crawl_tasks t ON t.page_id = p.id
  JOIN messor.page_snapshots s ON s.id = t.snapshot_id AND s.verdict IS NULL
 WHERE t.last_fetched_at > messor.clock() - make_interval(secs => $3)
   AND t.outcome IN ('ok', 'unchanged')
"""


async def _find_fresh(
    connection: Connection, lines: list[_Line], urls: Sequence[Url], max_age: float
) -> None:
    rows = await connection.fetch(
        FRESH, [url.authority for url in urls], [url_hash(url) for url in urls], max_age
    )
    for row in rows:
        lines[row["at"]].snapshot_id = row["snapshot_id"]
        lines[row["at"]].page_id = row["page_id"]


async def _request(
    connection: Connection,
    caller: Caller,
    lines: list[_Line],
    urls: Sequence[Url],
    wanted: list[int],
) -> None:
    """Request the pages that are not in the archive; what is refused says so on its line."""
    allowed = await key_policies.take(connection, caller.policy, len(wanted))
    opened: dict[str, Domain | ScrapeRefusedError] = {}
    asked: list[int] = []
    for at in wanted:
        try:
            domain = await _opened(connection, caller, urls[at], opened)
            _require(len(asked) < allowed)
            lines[at].page_id = await requests.add(connection, domain, urls[at])
        except ScrapeRefusedError as refusal:
            lines[at].refusal = refusal
        else:
            asked.append(at)
    if asked:
        page_ids = [lines[at].page_id or 0 for at in asked]
        await requests.make_due(connection, [urls[at] for at in asked], page_ids)
    if caller.policy is not None and len(asked) < allowed:
        await key_policies.give_back(connection, caller.policy.key_id, allowed - len(asked))


def _require(has_pages_left: bool) -> None:
    if not has_pages_left:
        raise ScrapeRefusedError("The pages that this key may have fetched today are used up.")


async def _opened(
    connection: Connection, caller: Caller, url: Url, opened: dict[str, Domain | ScrapeRefusedError]
) -> Domain:
    """The domain of a URL, admitted once per host and batch."""
    found = opened.get(url.authority)
    if found is None:
        try:
            found = await admit(connection, caller, url)
            require_open(found)
        except ScrapeRefusedError as refusal:
            found = refusal
        except NotFoundError as error:
            found = ScrapeRefusedError(str(error))
        opened[url.authority] = found
    if isinstance(found, ScrapeRefusedError):
        raise found
    return found


async def owned(database: Database, caller: Caller, job_id: UUID, *kinds: str) -> ScrapeJob:
    """A job of the caller; those of others are reported as missing, except to reviewers."""
    row = await database.fetchrow(GET, job_id, list(kinds or ("crawl", "batch")))
    if row is None:
        raise NotFoundError("There is no such job, or its pages are no longer kept.")
    job = ScrapeJob(**row)
    principal = caller.principal
    mine = {principal.actor, f"member:{principal.member_id}"}
    if job.actor not in mine and principal.key_id is not None and job.key_id != principal.key_id:
        raise NotFoundError("There is no such job, or its pages are no longer kept.")
    return job


async def progress(database: Database, job: ScrapeJob) -> JobProgress:
    row = await database.fetchrow(COUNT, job.id)
    assert row is not None
    total: int = row["pages"]
    if job.run_id is not None and job.ended_at is None:
        total += await database.fetchval(REMAINING, job.run_id)
    return JobProgress(row["completed"], row["refused"], total)


async def active(database: Database, caller: Caller) -> list[ScrapeJob]:
    """The caller's crawls that are not done."""
    return [ScrapeJob(**row) for row in await database.fetch(ACTIVE, caller.actor)]


async def refused(database: Database, job: ScrapeJob, limit: int = 1_000) -> list[RefusedPage]:
    rows = await database.fetch(REFUSED, job.id, limit)
    return [RefusedPage(*row) for row in rows]


async def cancel(database: Database, job: ScrapeJob) -> ScrapeJob:
    """Stop a job; what was fetched is kept."""

    async def act(connection: Connection) -> ScrapeJob:
        return await end(connection, job, "cancelled")

    return await transact(database, act)


async def end(
    connection: Connection,
    job: ScrapeJob,
    status: str,
    code: str | None = None,
    error: str | None = None,
) -> ScrapeJob:
    """End a job; raises ConflictError if it has ended."""
    row = await connection.fetchrow(END, job.id, status, code, error)
    if row is None:
        raise ConflictError("This job has ended.")
    if job.run_id is not None:
        run = await connection.fetchrow(RUN, job.run_id)
        if run is not None and run["ended_at"] is None:
            await runs.end(
                connection, CrawlRun(**run), "done" if status == "completed" else "interrupted"
            )
        if job.reserved and job.key_id is not None:
            done = await connection.fetchval(runs.FETCHED, job.run_id)
            await key_policies.give_back(connection, job.key_id, max(job.reserved - done, 0))
    waiting = [row["page_id"] for row in await connection.fetch(WAITING, job.id)]
    if waiting and status == "cancelled":
        await requests.withdraw(connection, waiting)
    if job.has_hook:
        event = "completed" if status == "completed" else "failed"
        await hooks.tell_end(connection, job.id, job.kind, event, error or _WHY.get(status))
    return ScrapeJob(**row)


_WHY = {"cancelled": "The job was cancelled."}
