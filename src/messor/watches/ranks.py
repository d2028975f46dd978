"""Lost ranks: a new result page against the last good one of its keyword and profile.

A failed result page is a gap and no rank, so only good ones are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar
from uuid import UUID

from messor.feed.queries import Change
from messor.store.listing import Source
from messor.watches.watches import Watch

Made = TypeVar("Made")

LOST = """
SELECT g.watch, g.change, k.keyword_text AS keyword, b.rank AS before, a.rank AS after
  FROM unnest($1::int[], $2::int[], $3::uuid[], $4::text[], $5::text[])
         AS g (watch, change, id, domain, keyword)
  JOIN messor.serp_snapshots s ON s.id = g.id AND s.outcome <> 'failed'
  JOIN messor.keywords k ON k.id = s.keyword_id AND (g.keyword IS NULL OR k.keyword_text = g.keyword)
 CROSS JOIN LATERAL (
   SELECT o.id FROM messor.serp_snapshots o
    WHERE o.keyword_id = s.keyword_id AND o.serp_profile_id = s.serp_profile_id
      AND o.outcome <> 'failed' AND o.captured_at < s.captured_at
    ORDER BY o.captured_at DESC LIMIT 1) o
 CROSS JOIN LATERAL (
   SELECT min(rank_position) AS rank FROM messor.serp_results
    WHERE snapshot_id = o.id AND domain = g.domain AND block_type IN ('organic', 'local_pack')) b
 CROSS JOIN LATERAL (
   SELECT min(rank_position) AS rank FROM messor.serp_results
    WHERE snapshot_id = s.id AND domain = g.domain AND block_type IN ('organic', 'local_pack')) a
 WHERE b.rank IS NOT NULL AND (a.rank IS NULL OR a.rank > b.rank)
"""


async def lost_ranks(
    source: Source,
    watches: Sequence[Watch],
    changes: Sequence[Change],
    tell: Callable[[Watch, Change, str], Made],
) -> list[Made]:
    """What watches of ranks tell about new result pages, in one statement."""
    pages = [
        (number, UUID(one.subject.partition(":")[2]))
        for number, one in enumerate(changes)
        if one.kind == "serp" and one.state == "new"
    ]
    asked = [(number, one) for number, one in enumerate(watches) if one.noun == "ranks"]
    if not pages or not asked:
        return []
    pairs = [(w, watch, n, key) for w, watch in asked for n, key in pages]
    rows = await source.fetch(
        LOST,
        [w for w, *_ in pairs],
        [n for _, _, n, _ in pairs],
        [key for *_, key in pairs],
        [watch.filters["domain"] for _, watch, _, _ in pairs],
        [watch.filters.get("keyword") for _, watch, _, _ in pairs],
    )
    found = []
    for row in rows:
        watch = watches[row["watch"]]
        now = "is no longer on the page" if row["after"] is None else f"is now at {row['after']}"
        message = (
            f"{watch.filters['domain']} {now} for “{row['keyword']}”; it was at {row['before']}"
        )
        found.append(tell(watch, changes[row["change"]], message))
    return found
