"""Counts uses of proxies, many per statement.

A use succeeds when a tunnel stood, whatever the site then responded. More than ten failures in a
row disable a proxy until a probe succeeds. Cost is charged for successful uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from messor.core.masking import mask_text
from messor.fetch.proxies.registry import endpoint_of, fact
from messor.ledger.events import record
from messor.store.database import Connection

ACTOR = "worker"
MAX_IN_A_ROW = 10
# Weight of the earlier average against new successes: it reflects the recent past.
MEMORY = 20

# When a proxy that failed `count` times in a row is probed: after 5 minutes, doubling to a day.
PROBE_AFTER = f"""least(interval '1 day',
    interval '5 minutes' * power(2, least(greatest(%(count)s - {MAX_IN_A_ROW + 1}, 0), 12)))"""

# The count stops at eleven when the proxy is disabled, however many uses were in progress: the
# delay before the first probe is derived from it. Uses that end later no longer change it.
ACCOUNT = f"""
WITH used AS (
  SELECT * FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::int[], $5::float8[], $6::text[])
           AS u (id, successes, failures, in_a_row, seconds, error)
), known AS (
  SELECT p.id, p.is_active, p.cost_per_request, u.successes, u.failures, u.seconds, u.error,
         CASE WHEN NOT p.is_active THEN p.failure_count
              WHEN u.successes > 0 THEN least(u.in_a_row, {MAX_IN_A_ROW + 1})
              ELSE least(p.failure_count + u.in_a_row, {MAX_IN_A_ROW + 1}) END AS failure_count
    FROM messor.proxies p JOIN used u USING (id) ORDER BY p.id FOR NO KEY UPDATE OF p
), counted AS (
  INSERT INTO messor.proxy_requests AS r (domain_id, proxy_id, window_start, requests, cost)
  SELECT d.domain_id, d.proxy_id, date_trunc('hour', messor.clock()), d.requests,
         coalesce(k.cost_per_request, 0) * d.successes
    FROM unnest($7::uuid[], $8::int[], $9::int[], $10::int[])
         AS d (domain_id, proxy_id, requests, successes)
    JOIN known k ON k.id = d.proxy_id ORDER BY 1, 2
  ON CONFLICT (domain_id, proxy_id, window_start)
    DO UPDATE SET requests = r.requests + excluded.requests, cost = r.cost + excluded.cost
)
UPDATE messor.proxies p
   SET success_count = p.success_count + k.successes,
       failures = p.failures + k.failures,
       failure_count = k.failure_count,
       is_active = p.is_active AND k.failure_count <= {MAX_IN_A_ROW},
       probe_at = CASE WHEN p.is_active AND k.failure_count > {MAX_IN_A_ROW}
                       THEN messor.clock() + {PROBE_AFTER % {"count": "k.failure_count"}}
                       ELSE p.probe_at END,
       cost = p.cost + coalesce(p.cost_per_request, 0) * k.successes,
       avg_response_time_ms = CASE WHEN k.successes = 0 THEN p.avg_response_time_ms ELSE
         round((coalesce(p.avg_response_time_ms, 0) * least(p.success_count, {MEMORY})
                + k.seconds * 1000)
               / (least(p.success_count, {MEMORY}) + k.successes)) END,
       last_used_at = messor.clock(),
       last_success_at = CASE WHEN k.successes > 0 THEN messor.clock() ELSE p.last_success_at END,
       last_failure_at = CASE WHEN k.failures > 0 THEN messor.clock() ELSE p.last_failure_at END,
       last_error = coalesce(k.error, p.last_error),
       updated_at = messor.clock()
  FROM known k WHERE p.id = k.id
RETURNING p.id, p.proxy_protocol, p.proxy_url, p.proxy_port, p.proxy_username, p.last_error,
          k.is_active AND NOT p.is_active AS now_disabled
"""


@dataclass(slots=True)
class DomainUses:
    """Requests to one domain through a proxy, and how many of them a tunnel carried."""

    requests: int = 0
    successes: int = 0


@dataclass(slots=True)
class Uses:
    """Uses of one proxy since the last write."""

    proxy_id: int
    successes: int = 0
    failures: int = 0
    in_a_row: int = 0  # failures counted since the last success among these
    seconds: float = 0.0  # total of the successes
    error: str | None = None
    domains: dict[UUID, DomainUses] = field(default_factory=dict)

    def succeeded(self, domain_id: UUID, seconds: float) -> None:
        self.successes += 1
        self.in_a_row = 0
        self.seconds += seconds
        self._count(domain_id, 1, 1)

    def failed(self, domain_id: UUID, error: str) -> None:
        """Record a failure; the pool decides whether it counts among those in a row."""
        self.failures += 1
        self.error = error
        self._count(domain_id, 1, 0)

    def follow(self, earlier: Uses) -> None:
        """Prepend earlier counts."""
        if not self.successes:
            self.in_a_row += earlier.in_a_row
        self.successes += earlier.successes
        self.failures += earlier.failures
        self.seconds += earlier.seconds
        self.error = self.error or earlier.error
        for domain_id, uses in earlier.domains.items():
            self._count(domain_id, uses.requests, uses.successes)

    def _count(self, domain_id: UUID, requests: int, successes: int) -> None:
        uses = self.domains.setdefault(domain_id, DomainUses())
        uses.requests += requests
        uses.successes += successes


async def account(connection: Connection, rows: Sequence[Uses]) -> list[int]:
    """Write the counts; returns the proxies that this disabled.

    It locks the proxies' rows, which all workers share, until the transaction ends: keep the
    transaction short.
    """
    if not rows:
        return []
    domains = [(of, row.proxy_id, uses) for row in rows for of, uses in row.domains.items()]
    found = await connection.fetch(
        ACCOUNT,
        [row.proxy_id for row in rows],
        [row.successes for row in rows],
        [row.failures for row in rows],
        [row.in_a_row for row in rows],
        [row.seconds for row in rows],
        [row.error and mask_text(row.error) for row in rows],
        [domain_id for domain_id, _, _ in domains],
        [proxy_id for _, proxy_id, _ in domains],
        [uses.requests for _, _, uses in domains],
        [uses.successes for _, _, uses in domains],
    )
    gone = [row for row in found if row["now_disabled"]]
    await record(
        connection,
        [
            fact("proxy.disabled", ACTOR, r["id"], endpoint_of(r), reason=r["last_error"])
            for r in gone
        ],
    )
    return [row["id"] for row in gone]
