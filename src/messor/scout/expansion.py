"""Expansion: new keywords from an engine's suggestions, kept on topic.

Related searches drift: each step is a little off the last. So every phrase is compared with the
vertical's own words rather than with the keyword it was found with, and is at most two steps from a
keyword that a person or a template made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from messor.core.plurals import counted
from messor.ledger.events import Event, record
from messor.scout.keywords import KeywordSource, normal
from messor.scout.words import Phrases, content_stems
from messor.store.database import Connection, Database
from messor.verticals.model import Vertical
from messor.verticals.verticals import Applied

MAX_DEPTH = 2
MAX_PER_SEED = 10
MAX_DRIFT = 0.5  # share of a phrase's words that are not the vertical's
WORDS = (2, 10)
MAX_LENGTH = 100
SOURCES: dict[str, KeywordSource] = {
    "related": "related",
    "people_also_ask": "people_also_ask",
    "ai_overview": "suggestion",
}

SUGGESTED = """
SELECT k.id AS seed_id, k.keyword_text AS seed, k.serp_profile_id AS profile_id, k.seed_depth,
       r.block_type, r.title
  FROM messor.keywords k
  JOIN LATERAL (SELECT s.id FROM messor.serp_snapshots s
                 WHERE s.keyword_id = k.id AND s.outcome <> 'failed'
                 ORDER BY s.captured_at DESC LIMIT 1) s ON true
  JOIN messor.serp_results r ON r.snapshot_id = s.id
 WHERE k.vertical_id = $1 AND k.active AND r.block_type IN ('related', 'people_also_ask')
   AND k.seed_depth < $2
 ORDER BY k.seed_depth, k.id, r.block_type DESC, r.rank_position LIMIT $3
"""
WRITE = """
INSERT INTO messor.keywords (keyword_text, serp_profile_id, vertical_id, source, seed_keyword_id,
                             seed_depth)
SELECT t.text, t.profile, $1, t.source, t.seed, t.depth
  FROM unnest($2::text[], $3::uuid[], $4::text[], $5::uuid[], $6::smallint[])
       AS t (text, profile, source, seed, depth)
 ORDER BY t.text COLLATE "C", t.profile
ON CONFLICT DO NOTHING
RETURNING keyword_text, serp_profile_id
"""
KNOWN = """
SELECT messor.keyword_key(k.keyword_text) AS keyword_text, k.serp_profile_id FROM messor.keywords k
 WHERE (messor.keyword_key(k.keyword_text), k.serp_profile_id)
       IN (SELECT * FROM unnest($1::text[], $2::uuid[]))
"""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A phrase that an engine showed beside a keyword, and the decision about it."""

    text: str
    seed: str
    seed_id: UUID
    profile_id: UUID
    source: KeywordSource
    depth: int
    drift: float
    taken: bool
    message: str


@dataclass(frozen=True, slots=True)
class Expansion:
    """All suggestions with the reasons, and the number of new keywords."""

    suggestions: list[Suggestion]
    new: int


class DriftControl:
    """Judges phrases by the words of a vertical."""

    def __init__(self, vertical: Vertical) -> None:
        services = [word for s in vertical.services for word in (s.name, *s.synonyms)]
        places = [place for geo in vertical.geo_sets.values() for place in geo.modifiers]
        self._core = content_stems(" ".join(services))
        known = " ".join([*services, *vertical.relevance.terms, *places])
        self._known = content_stems(known)
        self._against = Phrases(vertical.relevance.against)

    def judge(self, text: str) -> tuple[float, str | None]:
        """How far a phrase is from the topic, and why it is rejected; None if it is not."""
        words = content_stems(text)
        count = len(text.split())
        if not WORDS[0] <= count <= WORDS[1] or len(text) > MAX_LENGTH or not words:
            return 1.0, f"it has {counted(count, 'word')}; {WORDS[0]} to {WORDS[1]} are allowed"
        drift = 1 - len(words & self._known) / len(words)
        against = self._against.found_in(text)
        if against:
            return drift, f"{against[0]!r} speaks against the topic"
        if not words & self._core:
            return drift, "it names no service of the vertical"
        if drift > MAX_DRIFT:
            strange = ", ".join(sorted(words - self._known)[:3])
            return drift, f"it drifts: {strange} are none of the vertical's words"
        return drift, None


async def suggest(
    source: Connection | Database, applied: Applied, limit: int = 50_000
) -> list[Suggestion]:
    """Suggestions of the latest result pages, each judged; nothing is written."""
    control = DriftControl(applied.vertical)
    rows = await source.fetch(SUGGESTED, applied.id, MAX_DEPTH, limit)
    seen: set[tuple[str, UUID]] = set()
    taken: Counter[UUID] = Counter()
    found: list[Suggestion] = []
    for row in rows:
        text = normal(row["title"] or "").rstrip("?").strip()
        if (text, row["profile_id"]) in seen:
            continue
        seen.add((text, row["profile_id"]))
        drift, refusal = control.judge(text)
        if refusal is None and taken[row["seed_id"]] >= MAX_PER_SEED:
            refusal = f"its seed already yielded {MAX_PER_SEED} keywords"
        taken[row["seed_id"]] += refusal is None
        found.append(
            Suggestion(
                text,
                row["seed"],
                row["seed_id"],
                row["profile_id"],
                SOURCES[row["block_type"]],
                row["seed_depth"] + 1,
                round(drift, 3),
                refusal is None,
                refusal or "its words are the vertical's",
            )
        )
    return await _without_known(source, found)


async def expand(
    connection: Connection, applied: Applied, *, actor: str, most: int | None = None
) -> Expansion:
    """Store accepted suggestions, those nearest to the topic first, at most so many."""
    found = await suggest(connection, applied)
    taken = sorted((one for one in found if one.taken), key=lambda one: (one.depth, one.drift))
    taken = taken[:most]
    rows = await connection.fetch(
        WRITE,
        applied.id,
        [suggestion.text for suggestion in taken],
        [suggestion.profile_id for suggestion in taken],
        [suggestion.source for suggestion in taken],
        [suggestion.seed_id for suggestion in taken],
        [suggestion.depth for suggestion in taken],
    )
    if rows or most is None:  # a person's request is recorded even if it found nothing
        data = {"vertical": applied.vertical.name, "new": len(rows), "seen": len(found)}
        await record(connection, [Event("keywords.expanded", actor, data=data)])
    return Expansion(found, len(rows))


async def _without_known(
    source: Connection | Database, found: Sequence[Suggestion]
) -> list[Suggestion]:
    rows = await source.fetch(KNOWN, [one.text for one in found], [one.profile_id for one in found])
    known = {(row["keyword_text"], row["serp_profile_id"]) for row in rows}
    return [one for one in found if (one.text, one.profile_id) not in known]
