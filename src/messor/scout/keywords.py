"""Keywords: templates by services by synonyms by places, previewed, then written in batches.

A keyword is unique by text, whatever its case and spaces, and profile. `scout.expansion` adds more, `scout.tiers` rates them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal
from uuid import UUID

from messor.errors import NotFoundError, UsageError
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database
from messor.verticals.model import Template, Vertical
from messor.verticals.verticals import Applied

Tier = Literal["A", "B", "C"]
KeywordSource = Literal["manual", "template", "related", "people_also_ask", "suggestion"]

MAX_LENGTH = 200
MAX_KEYWORDS = 2_000_000  # texts per generation
BATCH = 5_000  # texts per statement, each for every profile
SAMPLE = 20
_SPACES = re.compile(r"\s+")

# In key order, so that two concurrent generations do not deadlock.
WRITE = """
INSERT INTO messor.keywords (keyword_text, serp_profile_id, vertical_id, source, service_name)
SELECT k.text, p.id, $1, 'template', k.service
  FROM unnest($2::text[], $3::text[]) AS k (text, service) CROSS JOIN unnest($4::uuid[]) AS p (id)
 ORDER BY k.text COLLATE "C", p.id
ON CONFLICT DO NOTHING
"""
KNOWN = """
SELECT count(*) FROM messor.keywords
 WHERE messor.keyword_key(keyword_text) = ANY ($1::text[]) AND serp_profile_id = ANY ($2::uuid[])
"""
ADD = """
INSERT INTO messor.keywords (keyword_text, serp_profile_id, vertical_id, source, tier, tier_set_by)
SELECT $2, p.id, $1, 'manual', coalesce($3, 'C'), CASE WHEN $3 IS NOT NULL THEN $5 END
  FROM unnest($4::uuid[]) AS p (id) ORDER BY p.id
ON CONFLICT DO NOTHING
"""
# A tier set by hand ends a rest; NULL returns the keyword to automatic tiers.
SET_TIER = """
UPDATE messor.keywords
   SET tier = coalesce($2, tier), tier_set_by = CASE WHEN $2 IS NOT NULL THEN $3 END,
       tier_reason = CASE WHEN $2 IS NOT NULL THEN 'set by hand' ELSE tier_reason END,
       active = active OR $2 IS NOT NULL,
       pruned_reason = CASE WHEN $2 IS NULL THEN pruned_reason END
 WHERE id = ANY ($1::uuid[]) RETURNING id
"""
OF_TEXT = """
SELECT id FROM messor.keywords
 WHERE messor.keyword_key(keyword_text) = $1 AND serp_profile_id = ANY ($2::uuid[])
"""
PROFILES = """
SELECT id, name, gl, hl, device, location, uule FROM messor.serp_profiles
 WHERE vertical_id = $1 AND active ORDER BY name
"""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text to search for, and its service."""

    text: str
    service: str


@dataclass(frozen=True, slots=True)
class ProfileRow:
    id: UUID
    name: str
    gl: str
    hl: str
    device: str
    location: str
    uule: str | None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a generation would write; nothing was written."""

    combinations: int  # before duplicates were merged
    texts: int
    profiles: int
    too_long: int
    known: int  # keywords, counted for each profile, that already exist
    by_template: dict[str, int] = field(default_factory=dict)
    sample: tuple[str, ...] = ()

    @property
    def new(self) -> int:
        return self.texts * self.profiles - self.known


def normal(text: str) -> str:
    """The normal form of a keyword: composed, lower case, single spaces, no control characters."""
    folded = unicodedata.normalize("NFC", text).casefold()
    kept = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in folded)
    return _SPACES.sub(" ", kept).strip()


def combinations(vertical: Vertical) -> Iterator[tuple[Template, Phrase]]:
    """Every template filled with every service, synonym and place; with duplicates."""
    for template in vertical.templates:
        places = vertical.geo_sets[template.geo_set].modifiers if template.geo_set else ("",)
        for service in vertical.services:
            for word in (service.name, *service.synonyms):
                filled = template.template.replace("{service}", word)
                for place in places:
                    yield template, Phrase(normal(filled.replace("{geo}", place)), service.name)


@dataclass(slots=True)
class Generation:
    """The distinct phrases of a vertical, and their origin."""

    phrases: list[Phrase]
    combinations: int
    too_long: int
    by_template: Counter[str]


def generate(vertical: Vertical) -> Generation:
    """The phrases of a vertical, each text once, in the order of the file."""
    seen: dict[str, Phrase] = {}
    made = Generation([], 0, 0, Counter())
    for template, phrase in islice(combinations(vertical), MAX_KEYWORDS + 1):
        made.combinations += 1
        if len(phrase.text) > MAX_LENGTH or not phrase.text:
            made.too_long += 1
        elif phrase.text not in seen:
            seen[phrase.text] = phrase
            made.by_template[template.template] += 1
    if made.combinations > MAX_KEYWORDS:
        raise UsageError(
            f"{vertical.name} generates more than {MAX_KEYWORDS} keywords: "
            "name fewer services, synonyms or places."
        )
    made.phrases = list(seen.values())
    return made


def _batches(phrases: Sequence[Phrase]) -> Iterator[Sequence[Phrase]]:
    for start in range(0, len(phrases), BATCH):
        yield phrases[start : start + BATCH]


async def profiles_of(
    source: Connection | Database, applied: Applied, names: Sequence[str] = ()
) -> list[ProfileRow]:
    """The active profiles of a vertical, or those of some names."""
    found = [ProfileRow(**row) for row in await source.fetch(PROFILES, applied.id)]
    unknown = set(names) - {profile.name for profile in found}
    if unknown:
        there = ", ".join(profile.name for profile in found)
        raise UsageError(f"Unknown profile {min(unknown)!r}; available are {there}.")
    return [profile for profile in found if not names or profile.name in names]


async def preview(database: Database, applied: Applied, names: Sequence[str] = ()) -> Preview:
    """What `write` would do, without doing it."""
    made = generate(applied.vertical)
    profiles = await profiles_of(database, applied, names)
    keys = [profile.id for profile in profiles]
    known = 0
    for part in _batches(made.phrases):
        known += await database.fetchval(KNOWN, [phrase.text for phrase in part], keys)
    return Preview(
        made.combinations,
        len(made.phrases),
        len(profiles),
        made.too_long,
        known,
        dict(made.by_template),
        tuple(phrase.text for phrase in made.phrases[:SAMPLE]),
    )


async def write(
    database: Database, applied: Applied, names: Sequence[str] = (), *, actor: str
) -> int:
    """Write the keywords that do not exist yet, a statement per batch; returns how many were new.

    Each batch is a transaction: an interrupted generation is finished by running it again.
    """
    made = generate(applied.vertical)
    profiles = [profile.id for profile in await profiles_of(database, applied, names)]
    new = 0
    for part in _batches(made.phrases):
        async with database.transaction() as connection:
            status = await connection.execute(
                WRITE,
                applied.id,
                [phrase.text for phrase in part],
                [phrase.service for phrase in part],
                profiles,
            )
            new += int(status.rpartition(" ")[2])
    async with database.transaction() as connection:
        data = {"vertical": applied.vertical.name, "new": new, "texts": len(made.phrases)}
        await record(connection, [Event("keywords.generated", actor, data=data)])
    return new


async def add(
    connection: Connection,
    applied: Applied,
    text: str,
    *,
    tier: Tier | None = None,
    names: Sequence[str] = (),
    actor: str,
) -> int:
    """Add a keyword manually to the profiles; returns how many were new.

    A tier given here is set by hand; without one it starts as C and is rated later.
    """
    clean = normal(text)
    if not clean or len(clean) > MAX_LENGTH:
        raise UsageError(f"A keyword must have 1 to {MAX_LENGTH} characters.")
    profiles = await profiles_of(connection, applied, names)
    status = await connection.execute(
        ADD, applied.id, clean, tier, [profile.id for profile in profiles], actor
    )
    return int(status.rpartition(" ")[2])


async def set_tier(
    connection: Connection, keyword_ids: Sequence[UUID], tier: Tier | None, *, actor: str
) -> int:
    """Set the tier of keywords by hand, or return them to automatic tiers; returns how many."""
    changed = await connection.fetch(SET_TIER, list(keyword_ids), tier, actor)
    if len(changed) != len(keyword_ids):
        raise NotFoundError("Unknown keyword.")
    data = {"keywords": len(changed), "tier": tier or "automatic"}
    await record(connection, [Event("keywords.tier_set", actor, data=data)])
    return len(changed)


async def of_text(
    connection: Connection, applied: Applied, text: str, names: Sequence[str] = ()
) -> list[UUID]:
    """The keywords of a text on the profiles, whatever its case and spaces; at least one."""
    profiles = [profile.id for profile in await profiles_of(connection, applied, names)]
    rows = await connection.fetch(OF_TEXT, normal(text), profiles)
    if not rows:
        raise NotFoundError(f"{applied.vertical.name} has no keyword {text!r}.")
    return [row["id"] for row in rows]
