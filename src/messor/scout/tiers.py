"""Tiers: keywords rated by their measured yield, each with its figures.

The yield is what result pages showed: positions of the vertical's organisations and approved
domains, and candidates found. A keyword without a good page keeps its tier: no result is not zero.
So does one whose tier a person set, which is never pruned either.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from messor.ledger.events import Event, record
from messor.scout.keywords import Tier
from messor.store.database import Connection, Database
from messor.verticals.verticals import Applied

A_FROM, B_FROM = 0.5, 0.2
PRUNE_AFTER = 3  # good pages without any yield
PLACES = 3  # own results among the first ten for the full score
CANDIDATES = 5  # found by a keyword for the full score

MEASURE = """
WITH good AS (
  SELECT s.keyword_id, s.id, row_number() OVER (PARTITION BY s.keyword_id ORDER BY s.captured_at DESC) AS age
    FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
   WHERE k.vertical_id = $1 AND s.outcome <> 'failed'
     AND s.captured_at > (SELECT messor.clock()) - interval '180 days'
), pages AS (
  SELECT keyword_id, count(*) AS pages FROM good GROUP BY 1
), places AS (
  SELECT g.keyword_id, count(DISTINCT r.domain) AS places
    FROM good g JOIN messor.serp_results r ON r.snapshot_id = g.id
    LEFT JOIN messor.organisation_domains o ON o.vertical_id = $1 AND o.domain = r.domain
    LEFT JOIN messor.domains d ON d.id = r.domain_id
   WHERE g.age <= 3 AND r.block_type IN ('organic', 'local_pack') AND r.rank_position <= 10
     AND (o.domain IS NOT NULL OR d.status = 'approved')
   GROUP BY 1
), finds AS (
  SELECT k.id AS keyword_id, count(DISTINCT c.domain) AS finds
    FROM messor.candidates c JOIN messor.keywords k
      ON k.keyword_text = c.search_query AND k.vertical_id = c.vertical_id
   WHERE c.vertical_id = $1 AND c.status <> 'SKIPPED_LOW_CONFIDENCE' AND c.status <> 'REJECTED'
   GROUP BY 1
), measured AS (
  SELECT k.id, k.source, k.tier, k.tier_set_by, p.pages, coalesce(l.places, 0) AS places, coalesce(f.finds, 0) AS finds,
         round(0.6 * least(coalesce(l.places, 0), $2::int)::numeric / $2
               + 0.4 * least(coalesce(f.finds, 0), $3::int)::numeric / $3, 6)::float8 AS value
    FROM messor.keywords k JOIN pages p ON p.keyword_id = k.id
    LEFT JOIN places l ON l.keyword_id = k.id LEFT JOIN finds f ON f.keyword_id = k.id
   WHERE k.vertical_id = $1 AND k.active
), decided AS (
  SELECT *, CASE WHEN tier_set_by IS NOT NULL THEN tier WHEN value >= $4 THEN 'A'
                 WHEN value >= $5 THEN 'B' ELSE 'C' END AS new_tier,
         source <> 'manual' AND tier_set_by IS NULL AND value = 0 AND pages >= $6 AS prune,
         format('value %s = 0.6 for %s of %s places + 0.4 for %s of %s candidates, over %s pages',
                round(value::numeric, 2), least(places, $2), $2, least(finds, $3), $3, pages) AS why
    FROM measured
)
"""
PREVIEW = f"""{MEASURE}
SELECT k.keyword_text AS text, p.name AS profile, d.tier AS before, d.new_tier AS after, d.prune, d.value, d.why
  FROM decided d JOIN messor.keywords k ON k.id = d.id JOIN messor.serp_profiles p ON p.id = k.serp_profile_id
 WHERE d.prune OR d.new_tier <> d.tier ORDER BY d.value DESC, text, profile LIMIT $7
"""
APPLY = f"""{MEASURE}
UPDATE messor.keywords k
   SET value = d.value, tier = d.new_tier, tier_reason = CASE WHEN d.tier_set_by IS NULL THEN d.why ELSE k.tier_reason END, active = NOT d.prune,
       pruned_reason = CASE WHEN d.prune THEN d.why END
  FROM decided d WHERE k.id = d.id
RETURNING d.tier AS before, d.new_tier AS after, d.prune
"""


@dataclass(frozen=True, slots=True)
class TierChange:
    """A keyword whose tier changes, or that is pruned."""

    text: str
    profile: str
    before: Tier
    after: Tier
    prune: bool
    value: float
    why: str


@dataclass(frozen=True, slots=True)
class Retiered:
    """The result of a rating."""

    measured: int
    changed: int
    pruned: int


async def preview(
    source: Connection | Database, applied: Applied, limit: int = 200
) -> list[TierChange]:
    """The changes that `apply` would make, the most valuable keywords first."""
    rows = await source.fetch(PREVIEW, *_figures(applied), limit)
    return [TierChange(**row) for row in rows]


async def apply(connection: Connection, applied: Applied, *, actor: str) -> Retiered:
    """Set every rated keyword's tier, and rest those without yield."""
    rows = await connection.fetch(APPLY, *_figures(applied))
    done = Retiered(
        len(rows),
        sum(row["before"] != row["after"] for row in rows),
        sum(row["prune"] for row in rows),
    )
    if done.changed or done.pruned:
        data = {"vertical": applied.vertical.name, **asdict(done)}
        await record(connection, [Event("keywords.tiered", actor, data=data)])
    return done


def _figures(applied: Applied) -> tuple[object, ...]:
    return applied.id, PLACES, CANDIDATES, A_FROM, B_FROM, PRUNE_AFTER
