"""The rows a flush writes for a page result: fetch log, task update, refusal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from messor.core.masking import mask_text
from messor.crawl.page_result import PageResult
from messor.fetch.outcome import Outcome
from messor.frontier import cadence, images
from messor.frontier.images import Move
from messor.frontier.recrawl import PageChange
from messor.frontier.transitions import HELD_SQL
from messor.governance.prices import QuotedPage
from messor.politeness import limits
from messor.politeness.lease import WorkerLease
from messor.store.database import Connection, sparse

# Every request sent is logged, even if the lane has been lost; unless its host was erased since.
LOG_FETCHES = """
INSERT INTO messor.http_fetches (page_id, host_id, visit_token, fetched_at, outcome, status_code,
       size, duration_ms, waited_ms, delay_ms, rule, policy_version, robots_id, final_url,
       headers_json, error_json, fetch_provider, provider_cost, quality_gate_failed, proxy_id,
       detail, signed_by)
SELECT g.page_id, g.host_id, g.token, g.fetched_at, g.outcome, g.status_code, g.size,
       g.duration_ms, g.waited_ms, g.delay_ms, g.rule, g.policy_version, g.robots_id,
       g.final_url, g.headers_json, g.error_json, g.provider, g.cost, g.gate, g.proxy_id, g.detail,
       g.signed_by
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::text[], $6::smallint[],
              $7::int[], $8::int[], $9::int[], $10::int[], $11::text[], $12::int[], $13::bigint[],
              $14::text[], $15::jsonb[], $16::jsonb[], $17::text[], $18::numeric[], $19::text[],
              $20::int[], $21::jsonb[], $22::int[])
       AS g (page_id, host_id, token, fetched_at, outcome, status_code, size, duration_ms, waited_ms,
             delay_ms, rule, policy_version, robots_id, final_url, headers_json, error_json,
             provider, cost, gate, proxy_id, detail, signed_by)
  JOIN messor.lanes l ON l.host_id = g.host_id
"""

# New content without a response from the site itself clears the validators: its previous response
# was different content.
_STAYS = "g.raw_hash IS NULL AND g.snapshot_id IS NULL"

# A shorter way to the page was found while it was fetched: its links are judged by that depth when
# it is fetched next.
_NEARER = "p.depth < g.depth"

# Tasks paused or cancelled since they were loaded stay so. One timestamp for all columns: the
# next crawl is exactly the completion plus the frequency.
UPDATE_TASKS = f"""
WITH t0 AS MATERIALIZED (SELECT messor.clock() AS now)
UPDATE messor.crawl_tasks t
   SET status = CASE WHEN t.status IN ({HELD_SQL}) THEN t.status ELSE g.status END,
       outcome = g.outcome,
       due_at = CASE WHEN t.status NOT IN ({HELD_SQL})
                     THEN t0.now + make_interval(secs =>
                       CASE WHEN {_NEARER} THEN coalesce(g.due_in, 0) ELSE g.due_in END) END,
       held_due_at = CASE WHEN t.status = 'paused' THEN t0.now + make_interval(secs => g.due_in) END,
       history = coalesce(g.history, t.history), waits = g.waits, rounds = g.rounds,
       next_provider = g.next_provider, shell_hash = g.shell_hash,
       error_category = g.error_category,
       retry_count = g.retry_count, refusal = g.refusal, error_message = g.error_message,
       last_fetched_at = CASE WHEN g.fetched THEN t0.now ELSE t.last_fetched_at END,
       completed_at = CASE WHEN g.status = 'completed' THEN t0.now ELSE t.completed_at END,
       last_status = coalesce(g.last_status, t.last_status),
       snapshot_id = coalesce(g.snapshot_id, t.snapshot_id),
       provider = CASE WHEN g.snapshot_id IS NULL THEN t.provider ELSE g.provider END,
       raw_hash = CASE WHEN {_NEARER} THEN NULL WHEN {_STAYS} THEN t.raw_hash ELSE g.raw_hash END,
       etag = CASE WHEN {_NEARER} THEN NULL WHEN {_STAYS} THEN t.etag ELSE g.etag END,
       last_modified = CASE WHEN {_NEARER} THEN NULL WHEN {_STAYS} THEN t.last_modified ELSE g.last_modified END,
       wire_tag = CASE WHEN {_NEARER} THEN NULL WHEN {_STAYS} THEN t.wire_tag ELSE g.wire_tag END
  FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::float8[],
              $8::smallint[], $9::text[], $10::text[], $11::bool[], $12::smallint[],
              $13::bigint[], $14::bytea[], $15::text[], $16::text[], $17::text[], $18::int[],
              $19::bigint[], $20::smallint[], $21::smallint[], $22::text[], $23::bytea[],
              $24::smallint[], $25::text[])
       AS g (page_id, host_id, token, status, outcome, due_in, retry_count, refusal, error_message,
             fetched, last_status, snapshot_id, raw_hash, etag, last_modified, provider, history,
             wire_tag, depth, waits, next_provider, shell_hash, rounds, error_category)
  JOIN messor.pages p ON p.id = g.page_id
  JOIN messor.lanes l ON l.host_id = g.host_id AND l.token = g.token AND l.worker_id = $1
 CROSS JOIN t0
 WHERE t.page_id = g.page_id
"""

# A refusal is stored when it changes; runs before the task is updated with it.
STORE_REFUSALS = """
INSERT INTO messor.decisions (page_id, verdict, rule, reason, policy_version, robots_id)
SELECT g.page_id, g.verdict, g.rule, g.reason, g.policy_version, g.robots_id
  FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[],
              $8::int[], $9::bigint[], $10::text[])
       AS g (page_id, host_id, token, verdict, rule, reason, policy_version, robots_id, refusal)
  JOIN messor.lanes l ON l.host_id = g.host_id AND l.token = g.token AND l.worker_id = $1
  JOIN messor.crawl_tasks t ON t.page_id = g.page_id AND t.refusal IS DISTINCT FROM g.refusal
"""

# Headers that explain an outcome; the archive keeps all of them with the body.
LOGGED_HEADERS = (
    "Content-Type",
    "ETag",
    "Last-Modified",
    "Cache-Control",
    "Retry-After",
    "X-Robots-Tag",
    "Server",
)

_encode = msgspec.json.Encoder().encode
_CREDENTIALS = re.compile(r"(?<=//)[^/?#@\\\s]*@")  # never stored


def settle_cadence(result: PageResult) -> None:
    """Adapt the next due time to how often the page changes, if it was known before."""
    task = result.task
    is_unchanged = result.outcome == Outcome.UNCHANGED
    if task.kind == "page" and task.snapshot_id and (is_unchanged or result.is_good):
        result.schedule = cadence.after_check(
            result.schedule, task, result.lane.policy.frequency, changed=not is_unchanged
        )
        if is_unchanged and result.paid_repeats is not None:
            result.schedule = cadence.after_paid(result.schedule, task, result.paid_repeats + 1)


def changes(results: Sequence[PageResult], snapshot_ids: Mapping[int, int]) -> list[PageChange]:
    """The pages whose good content has changed."""
    return [
        PageChange(
            h.task.page_id, h.lane.host_id, h.task.url, h.task.snapshot_id, h.snapshot.data_hash
        )
        for h in results
        if h.snapshot is not None
        and h.is_good
        and h.task.snapshot_id
        and h.task.page_id in snapshot_ids
        and h.outcome != Outcome.UNCHANGED
    ]


def clean(text: str | None) -> str | None:
    """Text that PostgreSQL accepts: headers and messages may contain NUL or invalid characters."""
    if text is None or (text.isprintable() and text.isascii()):
        return text
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _masked(error: str | None) -> str | None:
    """An error message without secrets from URLs or headers it quotes."""
    return None if error is None else clean(mask_text(error))


async def log_fetches(
    connection: Connection, lease: WorkerLease, results: Sequence[PageResult]
) -> None:
    """Log one row per attempt, failed connections included."""
    sent = [(h, f, outcome) for h in results for f, outcome in h.attempts if f.began_at]
    if not sent:
        return
    time_at = lease.database_clock.at
    fetches = [fetched for _, fetched, _ in sent]
    await connection.execute(
        LOG_FETCHES,
        [h.task.page_id for h, _, _ in sent],
        [h.lane.host_id for h, _, _ in sent],
        [h.lane.token for h, _, _ in sent],
        [time_at(f.began_at) for f in fetches],
        [outcome for _, _, outcome in sent],
        [f.status for f in fetches],
        [f.size for f in fetches],
        [int(f.duration * 1000) for f in fetches],
        [int(f.gap * 1000) for f in fetches],
        [int(f.delay * 1000) for f in fetches],
        [h.decision.rule for h, _, _ in sent],
        [h.lane.policy.version for h, _, _ in sent],
        [h.robots_id for h, _, _ in sent],
        sparse([clean(_CREDENTIALS.sub("", f.location)) if f.location else None for f in fetches]),
        [_headers(f.headers) for f in fetches],
        sparse([_error(f.error_type, f.error) for f in fetches]),
        [f.provider for f in fetches],
        sparse([f.cost for f in fetches]),
        sparse([f.gate for f in fetches]),
        sparse([f.proxy_id for f in fetches]),
        sparse([_encode(f.detail).decode() if f.detail else None for f in fetches]),
        sparse([f.signed_by for f in fetches]),
    )


def quoted_page(result: PageResult) -> QuotedPage | None:
    """The price that a page's response named, also one that was then paid."""
    for fetched, _ in result.attempts:
        if fetched.result.quote is not None:
            return QuotedPage(result.lane.host_id, result.task.page_id, fetched.result.quote)
    return None


def received(results: Sequence[PageResult]) -> dict[UUID, int]:
    """Bytes received by domain with a cap, and of all domains if they have one together."""
    found: Counter[UUID] = Counter()
    for result in results:
        policy = result.lane.policy
        if policy.is_metered or policy.all_metered:
            size = sum(fetched.received or fetched.size for fetched, _ in result.attempts)
            found[policy.domain_id] += size if policy.is_metered else 0
            found[limits.ALL] += size if policy.all_metered else 0
    return {scope: size for scope, size in found.items() if size}


async def store_moved_images(
    connection: Connection, worker_id: int, results: Sequence[PageResult]
) -> None:
    """Store the redirect targets of images; O-Images follows them."""
    moved = [
        Move(h.task.page_id, h.lane.host_id, h.lane.token, h.moved_to)
        for h in results
        if h.moved_to is not None
    ]
    if moved:
        await images.note_moves(connection, worker_id, moved)


async def update_tasks(
    connection: Connection,
    worker_id: int,
    results: Sequence[PageResult],
    snapshot_ids: Mapping[int, int],
) -> None:
    """Update the task of each result."""
    await connection.execute(
        UPDATE_TASKS,
        worker_id,
        [h.task.page_id for h in results],
        [h.lane.host_id for h in results],
        [h.lane.token for h in results],
        [h.schedule.status for h in results],
        [h.outcome for h in results],
        [h.schedule.due_in for h in results],
        [h.schedule.retry_count for h in results],
        sparse([clean(h.refusal) for h in results]),
        sparse([_masked(h.fetched.error) if h.fetched else None for h in results]),
        [h.fetched is not None for h in results],
        [h.fetched.status if h.fetched else None for h in results],
        sparse([snapshot_ids.get(h.task.page_id) if h.is_good else None for h in results]),
        sparse([h.raw_hash for h in results]),
        sparse([_validator(h, "ETag") for h in results]),
        sparse([_validator(h, "Last-Modified") for h in results]),
        sparse([h.other_provider for h in results]),
        sparse([h.schedule.history for h in results]),
        sparse(
            [h.site_response.wire_tag if h.raw_hash and h.site_response else None for h in results]
        ),
        [h.task.depth if h.lane.policy.harvest == "site" else 0 for h in results],
        [h.schedule.waits for h in results],
        sparse([h.next_provider for h in results]),
        sparse([h.shell_hash for h in results]),
        [h.schedule.rounds for h in results],
        sparse([h.error_category for h in results]),
    )


def _validator(result: PageResult, name: str) -> str | None:
    """A validator for the next request; None, without a body, keeps the stored one."""
    return clean(result.headers.get(name)) if result.raw_hash else None


async def store_refusals(
    connection: Connection, worker_id: int, results: Sequence[PageResult]
) -> None:
    refused = [h for h in results if not h.decision.allowed]
    if not refused:
        return
    await connection.execute(
        STORE_REFUSALS,
        worker_id,
        [h.task.page_id for h in refused],
        [h.lane.host_id for h in refused],
        [h.lane.token for h in refused],
        [h.decision.verdict.value for h in refused],
        [h.decision.rule for h in refused],
        [clean(h.decision.reason) for h in refused],
        [h.lane.policy.version for h in refused],
        [h.robots_id for h in refused],
        [clean(h.refusal) for h in refused],
    )


def _headers(headers: Mapping[str, str]) -> str:
    kept = {}
    for name in LOGGED_HEADERS:
        value = headers.get(name)
        if value is not None:
            kept[name] = clean(value)
    return _encode(kept).decode()


def _error(error_type: str | None, error: str | None) -> str | None:
    if error is None:
        return None
    return _encode({"type": error_type, "message": _masked(error)}).decode()
