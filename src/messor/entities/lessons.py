"""What people's decisions say about the rules: one that errs only proposes, one that is right joins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from messor.entities.match import JOINED, Match
from messor.store.database import Connection

ENOUGH_TO_DOUBT = 5  # decisions about a rule
ENOUGH_TO_TRUST = 20
DOUBTED = 0.9  # right less often than this
TRUSTED = 0.97  # right at least as often as this
_STEP = 0.01

# A decision can settle many pairs at once, as a statement taken out of an entity does: it counts once.
COUNTS = """
SELECT kind, rule, count(DISTINCT (decided_by, decided_at)) FILTER (WHERE verdict = 'same')::int AS same,
       count(DISTINCT (decided_by, decided_at))::int AS decided
  FROM messor.entity_pairs WHERE verdict IS NOT NULL GROUP BY kind, rule
"""


@dataclass(frozen=True, slots=True)
class Lessons:
    """Of each kind and rule, how often people said that it is one thing, and how often they decided."""

    counts: Mapping[tuple[str, str], tuple[int, int]]

    def score(self, kind: str, match: Match) -> float:
        """The score of a match, moved over or under the limit where people decided otherwise."""
        same, decided = self.counts.get((kind, match.rule), (0, 0))
        if match.score >= JOINED and decided >= ENOUGH_TO_DOUBT and same < DOUBTED * decided:
            return JOINED - _STEP
        if 0 < match.score < JOINED and decided >= ENOUGH_TO_TRUST and same >= TRUSTED * decided:
            return JOINED
        return match.score


async def lessons(connection: Connection) -> Lessons:
    rows = await connection.fetch(COUNTS)
    return Lessons({(row["kind"], row["rule"]): (row["same"], row["decided"]) for row in rows})
