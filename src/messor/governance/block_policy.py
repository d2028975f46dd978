"""Block policy of domains: set by their verticals unless a person set it.

A domain belongs to a vertical by submission or approval, through an organisation that owns it, or
through candidates found there. Where several verticals set a policy, one `respect` is enough.
"""

from __future__ import annotations

from messor.registry import domains
from messor.store.database import Connection

ACTOR = "system"

# Only where the policy is still what the verticals set: anything else was set by a person.
DIFFERENT = """
WITH said AS (
  SELECT domain, max(on_block) AS on_block FROM (
    SELECT o.domain, v.on_block FROM messor.organisation_domains o
      JOIN messor.verticals v ON v.id = o.vertical_id
     UNION ALL
    SELECT a.domain, v.on_block FROM messor.domains a JOIN messor.verticals v ON v.name = a.vertical
     UNION ALL
    SELECT c.domain, v.on_block FROM messor.candidates c JOIN messor.verticals v ON v.id = c.vertical_id
     WHERE c.status NOT IN ('SKIPPED_LOW_CONFIDENCE', 'REJECTED')) w
   GROUP BY domain
)
SELECT d.domain, coalesce(s.on_block, 'respect') AS on_block
  FROM messor.domains d LEFT JOIN said s ON s.domain = d.domain
 WHERE d.status = 'approved' AND (s.domain IS NOT NULL OR d.vertical_on_block IS NOT NULL)
   AND d.on_block <> coalesce(s.on_block, 'respect')
   AND d.on_block = coalesce(d.vertical_on_block, 'respect')
   AND NOT EXISTS (SELECT FROM messor.events e WHERE e.domain_id = d.id
                    AND e.type = 'domain.configured' AND e.actor <> $2 AND e.data ? 'on_block')
 ORDER BY d.domain LIMIT $1
"""
REMEMBER = "UPDATE messor.domains SET vertical_on_block = $2 WHERE id = $1"


async def follow_verticals(connection: Connection, limit: int = 200) -> int:
    """Apply the block policy of their verticals to domains; returns how many changed."""
    rows = await connection.fetch(DIFFERENT, limit, ACTOR)
    for row in rows:
        domain = await domains.lock(connection, row["domain"])
        await domains.configure(connection, domain, actor=ACTOR, on_block=row["on_block"])
        await connection.execute(REMEMBER, domain.id, row["on_block"])
    return len(rows)
