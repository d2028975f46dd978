"""Track intervals: how often a level's pages are crawled, from the cadence in verticals' files.

A domain of several verticals gets the shortest of their intervals. A changed file takes effect with the
next O-Daily or O-Score.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from messor.frontier.cadence import INTERVALS
from messor.store.database import Connection

SCORES_COUNT = timedelta(days=56)  # older ones give no level either

FOLLOW = """
WITH newest AS (
  SELECT DISTINCT ON (s.subject_id, s.vertical_id) s.subject_id, i.every
    FROM messor.scores s JOIN messor.verticals v ON v.id = s.vertical_id
    JOIN unnest($1::text[], $2::interval[]) AS i (word, every)
      ON i.word = v.definition -> 'cadence' ->> s.track_level
   WHERE s.subject = 'domain' AND s.scored_at > (SELECT messor.clock()) - $3::interval
     AND ($4::uuid[] IS NULL OR s.subject_id = ANY ($4))
   ORDER BY s.subject_id, s.vertical_id, s.scored_at DESC, s.id DESC
), wanted AS (
  SELECT subject_id, min(every) AS every FROM newest GROUP BY 1
), changed AS (
  SELECT d.id, w.every FROM messor.domains d JOIN wanted w ON w.subject_id = d.id
   WHERE d.track_level IS NOT NULL AND d.track_interval IS DISTINCT FROM w.every
   ORDER BY d.id FOR UPDATE OF d
)
UPDATE messor.domains d SET track_interval = c.every, updated_at = messor.clock()
  FROM changed c WHERE d.id = c.id RETURNING d.id
"""


async def follow_verticals(connection: Connection, domains: Sequence[UUID] | None = None) -> int:
    """Set the interval of domains, or of all, by the cadence of their verticals; returns how many."""
    words, every = list(INTERVALS), list(INTERVALS.values())
    only = None if domains is None else list(domains)
    return len(await connection.fetch(FOLLOW, words, every, SCORES_COUNT, only))
