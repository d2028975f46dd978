"""Domain classes: what kind of site each domain is, with confidence and reasons.

A reviewer's decision is final, and is learned from: each feature of such a domain counts for the
class it was given. `insight.class_features` defines the features.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from messor.archive.text_records import Text
from messor.archive.texts import texts
from messor.errors import NotFoundError, UsageError
from messor.insight.class_features import CLASSES, Feature, features_of
from messor.ledger.events import Event, record
from messor.registry import domains as registry
from messor.registry import notes
from messor.store.database import Connection, Database

# Below this confidence a class is "unknown". Signs are counted cautiously: of the classes given at
# this figure and above, 19 of 20 are right (`python -m bench.judging`), also from result pages
# alone.
ENOUGH = 0.3
MIN_WEIGHT = 0.7  # of a sign; a weaker one says nothing, even alone
UNKNOWN_WEIGHT = 0.5  # as if "unknown" had the weight of half a sign
LESSON_WEIGHT = 1.0  # of reviewers' decisions, against the features' own weights
ACTOR = "O-Classify"

# Domains of results and of the registry without a class, or with one older than a month.
WAITING = """
SELECT n.domain FROM (
  SELECT domain FROM messor.domains
  UNION
  SELECT domain FROM messor.serp_results WHERE domain IS NOT NULL
) n LEFT JOIN messor.domain_classes c ON c.domain = n.domain
 WHERE c.domain IS NULL
    OR (c.decided_by IS NULL AND c.classified_at < (SELECT messor.clock()) - interval '30 days')
 ORDER BY c.classified_at NULLS FIRST, n.domain LIMIT $1
"""

FACTS = """
WITH asked AS (SELECT unnest($1::text[]) COLLATE "C" AS domain), named AS (
  SELECT a.domain, d.id FROM asked a LEFT JOIN messor.domains d ON d.domain = a.domain
), serp AS (
  SELECT r.domain, count(DISTINCT k.id) AS keywords, count(DISTINCT k.vertical_id) AS verticals,
         count(DISTINCT coalesce(k.service_name, k.keyword_text)) AS services,
         bool_or(r.block_type = 'local_pack') AS is_local
    FROM asked a JOIN messor.serp_results r ON r.domain = a.domain
     AND r.block_type IN ('organic', 'local_pack')
    JOIN messor.serp_snapshots s ON s.id = r.snapshot_id
    JOIN messor.keywords k ON k.id = s.keyword_id GROUP BY 1
), types AS (
  SELECT t.domain_id, sum(t.pages)::int AS pages, jsonb_object_agg(t.page_type, t.pages) AS by_type
    FROM (SELECT x.domain_id, coalesce(x.page_type, 'other') AS page_type, count(*) AS pages
            FROM named n JOIN messor.extractions x ON x.domain_id = n.id
           WHERE x.snapshot_id IS NOT NULL GROUP BY 1, 2) t GROUP BY 1
), kinds AS (
  SELECT t.domain_id, jsonb_object_agg(t.kind, t.records) AS by_kind, max(t.organisations) AS organisations,
         max(t.brands) AS brands
    FROM (SELECT r.domain_id, r.kind, count(*) AS records,
                 count(DISTINCT lower(r.data->>'name')) FILTER (WHERE r.kind = 'organisation') AS organisations,
                 count(DISTINCT lower(r.data->>'brand')) FILTER (WHERE r.kind = 'product') AS brands
            FROM named n JOIN messor.records r ON r.domain_id = n.id
           WHERE r.state = 'current' GROUP BY 1, 2) t GROUP BY 1
), home AS (
  -- The page nearest to the root; its beginning says what the site is.
  SELECT DISTINCT ON (n.domain) n.domain,
         concat_ws(E'\\n', left(s.title, 300), left(s.description, 1000), left(x.markdown, 6000)) AS text,
         CASE WHEN s.text_segment_id IS NOT NULL THEN s.id END AS archived,
         ARRAY(SELECT DISTINCT v #>> '{}' FROM jsonb_path_query(x.data, '$.**."@type"') v
                WHERE jsonb_typeof(v) = 'string' LIMIT 50) AS data_types
    FROM named n JOIN messor.hosts h ON h.domain_id = n.id JOIN messor.pages p ON p.host_id = h.id
    JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.kind = 'page'
    JOIN messor.page_snapshots s ON s.id = t.snapshot_id
    LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
   ORDER BY n.domain, p.depth, length(p.url), p.id
), looked AS (
  -- What a first look before review was told.
  SELECT DISTINCT ON (n.domain) n.domain,
         concat_ws(E'\\n', left(p.report ->> 'title', 300), left(p.report ->> 'description', 1000)) AS text
    FROM named n JOIN messor.preflights p ON p.domain_id = n.id AND p.report ->> 'title' IS NOT NULL
   ORDER BY n.domain, p.requested_at DESC
), seen AS (
  -- Of a domain that was never read, its results say something, too.
  SELECT r.domain, string_agg(DISTINCT concat_ws(E'\\n', left(r.title, 200), left(r.snippet, 500)), E'\\n') AS text
    FROM asked a JOIN LATERAL (SELECT * FROM messor.serp_results r WHERE r.domain = a.domain
                                AND r.block_type = 'organic' LIMIT 10) r ON true GROUP BY 1
)
SELECT n.domain, n.id, coalesce(s.keywords, 0) AS serp_keywords, coalesce(s.verticals, 0) AS serp_verticals,
       coalesce(s.services, 0) AS serp_services, coalesce(s.is_local, false) AS serp_local,
       coalesce(t.pages, 0) AS pages, coalesce(t.by_type, '{}')::text AS page_types,
       coalesce(k.by_kind, '{}')::text AS record_kinds, coalesce(k.organisations, 0) AS organisations,
       coalesce(k.brands, 0) AS brands, coalesce(h.text, concat_ws(E'\\n', l.text, e.text)) AS text,
       coalesce(h.data_types, '{}') AS data_types, h.archived
  FROM named n LEFT JOIN serp s ON s.domain = n.domain LEFT JOIN types t ON t.domain_id = n.id
  LEFT JOIN kinds k ON k.domain_id = n.id LEFT JOIN home h ON h.domain = n.domain
  LEFT JOIN looked l ON l.domain = n.domain LEFT JOIN seen e ON e.domain = n.domain ORDER BY n.domain
"""

HOMEPAGE_CHARACTERS = 6_000
MOST_TYPES = 50
LESSONS = (
    "SELECT feature, class, domains FROM messor.class_lessons WHERE feature = ANY ($1::text[])"
)

KEEP = """
INSERT INTO messor.domain_classes AS c (domain, class, confidence, reasons, features)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (domain) DO UPDATE
   SET class = excluded.class, confidence = excluded.confidence, reasons = excluded.reasons,
       features = excluded.features, classified_at = messor.clock()
 WHERE c.decided_by IS NULL
RETURNING class
"""
DECIDE = """
INSERT INTO messor.domain_classes AS c (domain, class, confidence, reasons, features, decided_by,
                                        decided_reason, reckoned)
VALUES ($1, $2, 1, $3, $4, $5, $6, $7)
ON CONFLICT (domain) DO UPDATE
   SET class = excluded.class, confidence = 1, reasons = excluded.reasons, features = excluded.features,
       decided_by = excluded.decided_by, decided_reason = excluded.decided_reason,
       reckoned = excluded.reckoned, classified_at = messor.clock()
"""
BEFORE = """
SELECT class, features, decided_by FROM messor.domain_classes WHERE domain = $1 FOR UPDATE
"""
LEARN = """
INSERT INTO messor.class_lessons AS l (feature, class, domains)
SELECT f, $2, greatest($3, 0) FROM unnest($1::text[]) f ORDER BY 1
ON CONFLICT (feature, class) DO UPDATE SET domains = greatest(l.domains + $3, 0)
"""
# Who set the class last: a person's decision there is final as well.
IN_REGISTRY = """
SELECT (SELECT e.actor FROM messor.events e WHERE e.domain_id = d.id AND e.type = 'domain.classified'
         ORDER BY e.occurred_at DESC, e.id DESC LIMIT 1) AS said_by
  FROM messor.domains d WHERE d.domain = $1
"""
SHOW = """
SELECT domain, class, confidence, reasons, decided_by, decided_reason, reckoned, classified_at
  FROM messor.domain_classes WHERE domain = $1
"""


@dataclass(frozen=True, slots=True)
class Classified:
    """A domain's class, and the reasons."""

    domain: str
    name: str
    confidence: float
    reasons: tuple[str, ...]
    features: tuple[str, ...]


Lessons = Mapping[str, Mapping[str, int]]


def judge(domain: str, features: Sequence[Feature], lessons: Lessons) -> Classified:
    """The class with the most weight; "unknown" if none has enough."""
    weights: dict[str, float] = {}
    reasons: dict[str, list[str]] = {}
    for feature in features:
        for name, weight in _weights_of(feature, lessons.get(feature.name, {})).items():
            weights[name] = weights.get(name, 0.0) + weight
            if weight > 0:
                reasons.setdefault(name, []).append(feature.sentence)
    names = tuple(feature.name for feature in features)
    best = max(weights, key=lambda name: (weights[name], name), default="unknown")
    total = sum(map(math.exp, weights.values())) + math.exp(UNKNOWN_WEIGHT)
    confidence = math.exp(weights.get(best, UNKNOWN_WEIGHT)) / total
    if best == "unknown" or confidence < ENOUGH or weights[best] < MIN_WEIGHT:
        leaning = f"no class is clear; most likely {best}" if weights else "nothing is known of it"
        return Classified(domain, "unknown", 1 - confidence, (leaning,), names)
    return Classified(domain, best, confidence, tuple(reasons.get(best, ())), names)


def _weights_of(feature: Feature, lesson: Mapping[str, int]) -> dict[str, float]:
    """The classes a feature indicates, adjusted by reviewers' decisions on domains that have it."""
    weights = dict(feature.speaks)
    total = sum(lesson.values())
    for name, count in lesson.items():
        # Add-one smoothing over all classes.
        evidence = math.log((count + 1) * len(CLASSES) / (total + len(CLASSES)))
        weights[name] = weights.get(name, 0.0) + LESSON_WEIGHT * evidence
    return weights


async def compute_classes(connection: Connection, domains: Sequence[str]) -> list[Classified]:
    """Compute the classes of these domains; nothing is written."""
    rows = await connection.fetch(FACTS, sorted(set(domains)))
    stored = await texts(connection, [row["archived"] for row in rows])
    facts = [_plain(row, stored.get(row["archived"])) for row in rows]
    found = {fact["domain"]: features_of(fact) for fact in facts}
    names = sorted({feature.name for features in found.values() for feature in features})
    lessons: dict[str, dict[str, int]] = {}
    for row in await connection.fetch(LESSONS, names):
        lessons.setdefault(row["feature"], {})[row["class"]] = row["domains"]
    return [judge(domain, features, lessons) for domain, features in found.items()]


async def classify(connection: Connection, domains: Sequence[str]) -> list[Classified]:
    """Store the classes of these domains, in the registry too; a reviewer's decision is final."""
    found = await compute_classes(connection, domains)
    for one in found:
        reasons = msgspec.json.encode(one.reasons).decode()
        kept = await connection.fetchval(
            KEEP, one.domain, one.name, one.confidence, reasons, list(one.features)
        )
        if kept is not None and one.name != "unknown":
            await _update_registry(connection, one.domain, one.name, ACTOR)
    return found


async def classify_waiting(connection: Connection, limit: int = 200) -> int:
    """Classify domains without a class or with an old one; returns how many."""
    waiting = [row["domain"] for row in await connection.fetch(WAITING, limit)]
    return len(await classify(connection, waiting)) if waiting else 0


async def override(
    connection: Connection, domain: str, name: str, *, actor: str, reason: str = ""
) -> Classified:
    """Store a reviewer's class; it is final, and its features are learned from."""
    if name not in CLASSES:
        raise UsageError(f"Unknown class {name!r}; available are {', '.join(CLASSES)}.")
    (now,) = await compute_classes(connection, [domain])
    before = await connection.fetchrow(BEFORE, domain)
    if before is not None and before["decided_by"] is not None:
        await connection.execute(LEARN, list(before["features"]), before["class"], -1)
    await connection.execute(LEARN, list(now.features), name, 1)
    message = f"decided by {actor}" + (f": {reason}" if reason else "")
    decided = Classified(domain, name, 1.0, (message,), now.features)
    await connection.execute(
        DECIDE,
        domain,
        name,
        msgspec.json.encode(decided.reasons).decode(),
        list(now.features),
        actor,
        reason or None,
        now.name,
    )
    await _update_registry(connection, domain, name, actor)
    data = {"domain": domain, "class": name, "reckoned": now.name}
    await record(connection, [Event("domain.class_decided", actor, data=data)])
    return decided


async def show(source: Connection | Database, domain: str) -> dict[str, Any]:
    """The stored class of a domain, with its reasons."""
    row = await source.fetchrow(SHOW, domain)
    if row is None:
        raise NotFoundError(f"{domain} has no class yet.")
    return {**row, "reasons": msgspec.json.decode(row["reasons"])}


async def _update_registry(connection: Connection, domain: str, name: str, actor: str) -> None:
    row = await connection.fetchrow(IN_REGISTRY, domain)
    if row is None or (actor == ACTOR and row["said_by"] not in {None, ACTOR, "system"}):
        return
    await notes.classify(connection, await registry.get(connection, domain), name, actor=actor)


def _plain(row: Any, homepage: Text | None) -> dict[str, Any]:
    fact = dict(row)
    if homepage is not None:
        parts = (fact["text"], homepage.markdown[:HOMEPAGE_CHARACTERS])
        fact["text"] = "\n".join(part for part in parts if part)
        fact["data_types"] = _types(homepage.data)
    for name in ("page_types", "record_kinds"):
        fact[name] = msgspec.json.decode(fact[name])
    return fact


def _types(data: str | None) -> list[str]:
    """The types that structured data states, wherever in it."""
    found: dict[str, None] = {}
    waiting: list[Any] = [msgspec.json.decode(data)] if data else []
    while waiting and len(found) < MOST_TYPES:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(own := value.get("@type"), str):
                found[own] = None
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return list(found)[:MOST_TYPES]
