"""Parser health by domain: what parsers still find on pages that still exist.

A record that disappears while its page stays is a change of the page or a failure of its parser.
Many at once are the latter: a site was rebuilt and needs attention. The same applies to the few
essential fields of a product whose record stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from messor.store.database import Connection, Database

# Loss that raises an alarm: minimum records, and minimum share of a kind.
FEWEST = 5
SHARE = 0.2
# Essential product fields; others come and go with sales and stock.
MISSED = ("product_name", "price", "sku")

HEALTH = """
WITH lost AS (
  SELECT r.domain_id, r.parser, r.kind, count(DISTINCT r.id)::int AS lost
    FROM messor.record_changes c JOIN messor.records r ON r.id = c.record_id
   WHERE c.state = 'removed' AND c.snapshot_id IS NOT NULL AND r.state = 'removed'
     AND c.changed_at >= (SELECT messor.clock()) - make_interval(hours => $1)
     AND ($2::text[] IS NULL OR r.kind = ANY ($2))
   GROUP BY 1, 2, 3
), held AS (
  SELECT r.domain_id, r.parser, r.kind, count(*)::int AS held, avg(r.confidence)::float8 AS sure
    FROM messor.records r
   WHERE r.state = 'current' AND ($2::text[] IS NULL OR r.kind = ANY ($2)) GROUP BY 1, 2, 3
), missing AS (
  SELECT r.domain_id, r.parser, c.field, count(DISTINCT r.id)::int AS lost
    FROM messor.record_changes c JOIN messor.records r ON r.id = c.record_id
   WHERE c.state = 'changed' AND c.field = ANY ($4) AND c.after = 'null'
     AND c.changed_at >= (SELECT messor.clock()) - make_interval(hours => $1)
     AND r.kind = 'product' AND r.state = 'current' AND NOT r.data ? c.field
     AND ($2::text[] IS NULL OR r.kind = ANY ($2))
   GROUP BY 1, 2, 3
), told AS (
  SELECT domain_id, parser, kind, coalesce(h.held, 0) AS held, coalesce(l.lost, 0) AS lost, h.sure
    FROM held h FULL JOIN lost l USING (domain_id, parser, kind)
   UNION ALL
  SELECT m.domain_id, m.parser, 'product.' || m.field,
         (SELECT count(*)::int FROM messor.records r
           WHERE r.kind = 'product' AND r.domain_id = m.domain_id AND r.state = 'current'
             AND r.parser = m.parser AND r.data ? m.field), m.lost, NULL
    FROM missing m
)
SELECT d.domain, t.parser, t.kind, t.held, t.lost, t.sure
  FROM told t JOIN messor.domains d ON d.id = t.domain_id
 ORDER BY t.lost DESC, d.domain, t.parser, t.kind LIMIT $3
"""


@dataclass(frozen=True, slots=True)
class Health:
    """Health of a parser for one kind of record on one domain, or for a field: "product.price"."""

    domain: str
    parser: str
    kind: str
    held: int  # current records
    lost: int  # lost recently, on pages that still exist
    sure: float | None  # mean confidence of current records

    @property
    def noun(self) -> str:
        """What is counted, as a noun."""
        return f"{self.kind} {'values' if '.' in self.kind else 'records'}"

    @property
    def is_alarming(self) -> bool:
        return self.lost >= FEWEST and self.lost >= SHARE * (self.lost + self.held)


async def health(
    source: Connection | Database,
    *,
    hours: int = 24,
    kinds: list[str] | None = None,
    limit: int = 200,
) -> list[Health]:
    """Return health by domain, parser and kind; the greatest recent losses first."""
    return [Health(**row) for row in await source.fetch(HEALTH, hours, kinds, limit, MISSED)]
