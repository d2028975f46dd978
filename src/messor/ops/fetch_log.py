"""The fetch log for audits: every request in lane order, with the state at its time.

The database joins each row with its domain's status, its host's risk and its robots.txt, and
streams the rows through a cursor, so that memory does not grow with the log. Judging is left to the
auditor.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from messor.fetch.retry_after import MAX_SECONDS
from messor.registry.domains import EVENT_TYPES
from messor.registry.preflights import MOST_REQUESTS
from messor.store.database import Connection

ROWS_PER_FETCH = 2000

# A worker learns of a suspension with its next flush: 5 s at most, and a second to commit it.
CLOSING_GRACE = timedelta(seconds=6)
# Times in the log are stamped when a row is flushed, from an age measured just before. That
# duration is their error: a few milliseconds, more on a busy machine.
STAMP_ERROR = timedelta(milliseconds=50)
# A worker's score does not decay during a visit, the database's does: they differ by its length.
RISK_MARGIN = timedelta(minutes=1)
# A reviewer's assisted run opens a lane for this long beyond its end, or its start if it has none.
ASSISTED_MARGIN = timedelta(minutes=10)
LONGEST_RUN = timedelta(hours=1)

# Before the period only what may matter within it is read: a lane's last request, and responses
# that demanded a wait.
LOOK_BACK = timedelta(hours=1)
LONGEST_SILENCE = timedelta(seconds=MAX_SECONDS)

STATUS_EVENTS = ["domain.submitted", *EVENT_TYPES.values()]
# After these events a domain awaits review, and a pre-flight may be requested.
PENDING_EVENTS = ["domain.submitted", "domain.resubmitted", "domain.review_asked"]

# Before its own domain is approved, a host's robots.txt may be read for one that redirects to it:
# then the host still belongs to the requesting domain. A requested pre-flight may visit a domain
# that awaits review; `look` is that pre-flight, `look_place` the ordinal of this request within it,
# and `look_most` how many it was allowed after its robots.txt. A pre-flight that was interrupted by
# a halt, a stop or a lost lease is restarted by a later visit: requests are counted within one
# visit, and the report is of the last.
READ = """
DECLARE fetch_log NO SCROLL CURSOR FOR
WITH told AS (
  SELECT domain_id, type, occurred_at, lead(occurred_at) OVER history AS until,
         type = 'domain.submitted' AND row_number() OVER history = 1 AS begins
    FROM messor.events WHERE type = ANY ($3::text[])
  WINDOW history AS (PARTITION BY domain_id ORDER BY occurred_at, id)
), closed AS (
  SELECT domain_id, type, occurred_at,
         tstzrange(CASE WHEN NOT begins THEN occurred_at + $4::interval END, until) AS span
    FROM told WHERE type <> 'domain.approved'
     AND (begins OR until IS NULL OR until > occurred_at + $4::interval)
), critical AS (
  SELECT host_id, unnest(range_agg(tstzrange(since, until))) AS span
    FROM (SELECT host_id, occurred_at + $5::interval AS since,
                 messor.critical_until(score, occurred_at) - $6::interval AS until
            FROM messor.friction_log WHERE messor.risk_level(score) = 'critical') f
   WHERE until > since GROUP BY host_id
), assisted AS (
  SELECT domain_id, range_agg(tstzrange(started_at,
           coalesce(completed_at, started_at + $8::interval) + $7::interval)) AS spans
    FROM messor.ingestion_runs WHERE mode = 'user_assisted' GROUP BY domain_id
), looks AS (
  SELECT f.id, f.fetched_at, a.id AS look,
         CASE WHEN f.visit_token < max(f.visit_token) OVER (PARTITION BY f.page_id, a.id) THEN $11
              WHEN a.report ->> 'robots' = 'deny_all' THEN 1
              ELSE $11 - (a.report ->> 'robots_allows' = 'false')::int END AS most,
         row_number() OVER (PARTITION BY f.page_id, a.id, f.visit_token
                            ORDER BY f.fetched_at, f.id) AS place
    FROM messor.http_fetches f JOIN messor.hosts h ON h.id = f.host_id
    LEFT JOIN LATERAL (
      SELECT p.id, p.report FROM messor.preflights p
       WHERE p.domain_id = h.domain_id AND p.requested_at <= f.fetched_at + $5::interval
       ORDER BY p.requested_at DESC LIMIT 1) a ON true
   WHERE f.rule = 'preflight' AND ($1::uuid IS NULL OR h.domain_id = $1)
     AND ($2::timestamptz IS NULL OR f.fetched_at >= $2 - $9::interval)
)
SELECT f.host_id, coalesce(h.host, '#' || f.host_id) AS host, f.fetched_at,
       coalesce(f.fetched_at >= $2, true) AS counted, f.visit_token, f.waited_ms, f.delay_ms,
       f.duration_ms, f.status_code, f.error_json ->> 'type' AS error_type,
       CASE WHEN f.status_code IN (429, 503) THEN f.headers_json ->> 'Retry-After' END
         AS retry_after,
       p.url, t.kind, f.robots_id, r.fetched_at AS robots_at,
       r.crawl_delay * 1000.0::float8 AS crawl_delay_ms,
       c.type AS closed_by, c.occurred_at AS closed_at,
       CASE WHEN NOT coalesce(f.fetched_at <@ a.spans, false) THEN lower(k.span) END
         AS critical_since,
       f.rule = 'preflight' AS is_look, o.look IS NOT NULL AS look_asked, o.place AS look_place,
       coalesce(o.most, $11) AS look_most
  FROM messor.http_fetches f
  LEFT JOIN messor.hosts h ON h.id = f.host_id
  LEFT JOIN messor.pages p ON p.id = f.page_id
  LEFT JOIN messor.crawl_tasks t ON t.page_id = f.page_id
  LEFT JOIN messor.robots_files r ON r.id = f.robots_id
  LEFT JOIN looks o ON o.id = f.id AND o.fetched_at = f.fetched_at
  LEFT JOIN closed c ON c.domain_id = h.domain_id AND f.fetched_at <@ c.span
        AND NOT (f.rule = 'preflight' AND o.look IS NOT NULL AND c.type = ANY ($12::text[]))
        AND NOT (c.type = 'domain.submitted' AND t.kind = 'robots')
  LEFT JOIN critical k ON k.host_id = f.host_id AND f.fetched_at <@ k.span
  LEFT JOIN assisted a ON a.domain_id = h.domain_id
 WHERE ($1::uuid IS NULL OR f.host_id IN (SELECT id FROM messor.hosts WHERE domain_id = $1))
   AND ($2::timestamptz IS NULL OR f.fetched_at >= $2 - $9::interval
        OR (f.status_code IN (429, 503) AND f.fetched_at >= $2 - $10::interval))
 ORDER BY f.host_id, f.fetched_at, f.id
"""


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A row of the log, and the state when it was sent."""

    host_id: int
    host: str
    at: datetime
    counted: bool  # within the period; the others only provide context
    visit: int
    waited_ms: int  # since the visit's previous request; 0 for its first
    delay_ms: int | None  # None in rows older than the column
    duration_ms: int
    status: int | None
    error_type: str | None
    retry_after: str | None
    url: str | None  # None if the page is gone
    kind: str | None
    robots_id: int | None
    robots_at: datetime | None  # None if that version is gone
    crawl_delay_ms: float | None
    closed_by: str | None  # the event after which the domain was not approved
    closed_at: datetime | None
    critical_since: datetime | None
    is_look: bool  # made by a pre-flight
    look_asked: bool  # it was requested
    look_place: int | None  # ordinal of the request
    look_most: int  # requests allowed after its robots.txt

    @property
    def was_sent(self) -> bool:
        """Whether it was certainly sent: without a response it may have failed while connecting."""
        return self.waited_ms > 0 or self.status is not None or self.error_type in SENT_ERRORS


# Errors that occur only after a request was written.
SENT_ERRORS = frozenset({"truncated", "too_large", "bad_encoding"})


async def read(
    connection: Connection, domain_id: UUID | None, since: datetime | None
) -> AsyncIterator[list[LoggedRequest]]:
    """The requests of a period, lane by lane, in order of time; in the caller's transaction."""
    await connection.execute("SET LOCAL statement_timeout = 0")  # sorting a long log is slow
    await connection.execute(
        READ,
        domain_id,
        since,
        STATUS_EVENTS,
        CLOSING_GRACE,
        STAMP_ERROR,
        RISK_MARGIN,
        ASSISTED_MARGIN,
        LONGEST_RUN,
        LOOK_BACK,
        LONGEST_SILENCE,
        MOST_REQUESTS,
        PENDING_EVENTS,
    )
    while rows := await connection.fetch(f"FETCH {ROWS_PER_FETCH} FROM fetch_log"):
        yield [LoggedRequest(*row) for row in rows]
