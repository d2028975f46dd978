"""Scoring: facts about domains and organisations, their scores, and the resulting track levels.

Scores are per vertical; a domain of several gets the highest of their levels. A simulation is the
same without writing. `insight.scores` computes a score from its components.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from messor.errors import NotFoundError
from messor.insight import track_intervals, visibility
from messor.insight.scores import DAYS, Level, Score, SubjectFacts, checked_weights, score
from messor.insight.visibility import TimeSpan
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database
from messor.verticals.verticals import Applied

LENGTH = timedelta(days=28)
ACTOR = "O-Score"
# Facts are gathered from the logs of a whole window.
PATIENCE = "SET LOCAL statement_timeout = '15min'"

# Approved domains of the vertical: set by a reviewer, owned by one of its organisations, or where
# its candidates were found.
FACTS = """
WITH wanted AS (
  SELECT domain FROM messor.organisation_domains WHERE vertical_id = $1
  UNION
  SELECT a.domain FROM messor.domains a JOIN messor.verticals v ON v.name = a.vertical
   WHERE v.id = $1
  UNION
  SELECT domain FROM messor.candidates WHERE vertical_id = $1
     AND status NOT IN ('SKIPPED_LOW_CONFIDENCE', 'REJECTED')
), named AS MATERIALIZED (
  SELECT d.id, d.domain, d.track_level, o.organisation_id FROM wanted w
    JOIN messor.domains d ON d.domain = w.domain AND d.status = 'approved'
    LEFT JOIN messor.organisation_domains o ON o.vertical_id = $1 AND o.domain = d.domain
), host AS MATERIALIZED (
  SELECT h.id, h.domain_id, h.last_request_at,
         messor.risk_at(h.risk_score, h.risk_at, $3) AS risk
    FROM named n JOIN messor.hosts h ON h.domain_id = n.id
), page AS (
  SELECT h.domain_id, count(*) AS pages, count(*) FILTER (WHERE EXISTS (
           SELECT FROM messor.page_changes c WHERE c.page_id = t.page_id AND c.state = 'changed'
              AND c.seen_at >= $2 AND c.seen_at < $3)) AS changed
    FROM host h JOIN messor.pages p ON p.host_id = h.id
    JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.kind = 'page'
   WHERE t.snapshot_id IS NOT NULL GROUP BY 1
), read AS (
  SELECT x.domain_id, count(*) AS extracted FROM named n
    JOIN messor.extractions x ON x.domain_id = n.id WHERE x.snapshot_id IS NOT NULL GROUP BY 1
), stated AS (
  SELECT r.domain_id, count(*) AS records, sum(r.confidence::float8) AS confidence,
         count(DISTINCT r.page_id) AS yielding
    FROM named n JOIN messor.records r ON r.domain_id = n.id
   WHERE r.state = 'current' AND r.kind = ANY ($4::text[]) GROUP BY 1
), spent AS (
  SELECT h.domain_id, count(*) FILTER (WHERE f.outcome IN ('ok', 'unchanged')) AS good_fetches,
         coalesce(sum(f.provider_cost), 0)::float8 AS cost
    FROM messor.http_fetches f JOIN host h ON h.id = f.host_id
   WHERE f.fetched_at >= $2 AND f.fetched_at < $3 GROUP BY 1
)
SELECT n.id, n.domain, n.track_level, n.organisation_id, o.name AS organisation,
       coalesce(p.pages, 0) AS pages, coalesce(p.changed, 0) AS changed,
       coalesce(x.extracted, 0) AS extracted, coalesce(s.yielding, 0) AS yielding,
       coalesce(s.records, 0) AS records, coalesce(s.confidence, 0) AS confidence,
       (SELECT max(risk)::float8 FROM host h WHERE h.domain_id = n.id
           AND h.last_request_at IS NOT NULL) AS risk,
       coalesce(f.good_fetches, 0) AS good_fetches, coalesce(f.cost, 0) AS cost
  FROM named n LEFT JOIN messor.organisations o ON o.id = n.organisation_id
  LEFT JOIN page p ON p.domain_id = n.id LEFT JOIN read x ON x.domain_id = n.id
  LEFT JOIN stated s ON s.domain_id = n.id LEFT JOIN spent f ON f.domain_id = n.id
 ORDER BY n.domain
"""

KEEP = """
INSERT INTO messor.scores (vertical_id, subject, subject_id, score, track_level, parts,
                           vertical_version, window_from, window_to)
SELECT $1, g.subject, g.subject_id, g.score, g.level, g.parts, $2, $3, $4
  FROM unnest($5::text[], $6::uuid[], $7::float8[], $8::text[], $9::jsonb[])
    AS g (subject, subject_id, score, level, parts)
"""

# The newest score of each vertical counts unless it is older than two windows.
LEVELS = """
WITH newest AS (
  SELECT DISTINCT ON (s.subject_id, s.vertical_id) s.subject_id, s.track_level, s.score
    FROM messor.scores s WHERE s.subject = 'domain' AND s.subject_id = ANY ($1::uuid[])
     AND s.scored_at > (SELECT messor.clock()) - $2::interval
   ORDER BY s.subject_id, s.vertical_id, s.scored_at DESC, s.id DESC
), best AS (
  SELECT DISTINCT ON (subject_id) subject_id, track_level, score FROM newest
   ORDER BY subject_id, track_level, score DESC
), before AS (
  SELECT d.id, d.track_level FROM messor.domains d JOIN best b ON b.subject_id = d.id
   WHERE d.track_level IS DISTINCT FROM b.track_level ORDER BY d.id FOR UPDATE OF d
)
UPDATE messor.domains d SET track_level = b.track_level, updated_at = messor.clock()
  FROM best b, before o WHERE d.id = b.subject_id AND o.id = d.id
RETURNING d.id, d.domain, o.track_level AS before, d.track_level AS after, b.score
"""

SHOW = """
SELECT DISTINCT ON (s.vertical_id) v.name AS vertical, s.subject, s.score, s.track_level, s.parts,
       s.vertical_version, s.window_from, s.window_to, s.scored_at
  FROM messor.scores s JOIN messor.verticals v ON v.id = s.vertical_id
 WHERE s.subject_id = $1 ORDER BY s.vertical_id, s.scored_at DESC, s.id DESC
"""
SUBJECT = """
SELECT id, 1 AS place FROM messor.domains WHERE domain = $1
UNION ALL SELECT id, 2 FROM messor.organisations WHERE name_key = $2 ORDER BY place LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Scored:
    """A domain or an organisation with its score; None if nothing with weight is known."""

    subject: str
    id: UUID
    name: str
    facts: SubjectFacts
    score: Score | None
    level_before: Level | None = None  # of a domain


@dataclass(frozen=True, slots=True)
class Simulated:
    """The effect of other weights on one domain."""

    domain: str
    pages: int
    level_before: Level | None
    level_now: Level | None  # by the current weights
    level_then: Level | None  # by the new weights
    score_now: float | None
    score_then: float | None


@dataclass(frozen=True, slots=True)
class Simulation:
    """All effects, and the resulting load."""

    rows: list[Simulated]
    looks_per_day_now: float
    looks_per_day_then: float

    @property
    def changed(self) -> list[Simulated]:
        return [row for row in self.rows if row.level_now != row.level_then]


@dataclass(frozen=True, slots=True)
class Applying:
    """The result of a scoring."""

    domains: int
    organisations: int
    unknown: int  # domains without any facts
    levels_changed: int


async def scored(
    connection: Connection,
    applied: Applied,
    *,
    weights: Mapping[str, float] | None = None,
    window: TimeSpan | None = None,
) -> list[Scored]:
    """Every domain and organisation of a vertical with its score; nothing is written."""
    used = checked_weights(weights or {}, applied.vertical.scoring.weights)
    window = window or await visibility.last_window(connection, LENGTH)
    return [
        replace(one, score=score(one.facts, used))
        for one in await _known(connection, applied, window)
    ]


async def simulate(
    connection: Connection, applied: Applied, weights: Mapping[str, float]
) -> Simulation:
    """What other weights would change, before they are applied."""
    usual = applied.vertical.scoring.weights
    then = checked_weights(weights, usual)
    window = await visibility.last_window(connection, LENGTH)
    known = [one for one in await _known(connection, applied, window) if one.subject == "domain"]
    rows = [_simulated(one, score(one.facts, usual), score(one.facts, then)) for one in known]
    return Simulation(
        rows,
        _load(applied, [(row.pages, row.level_now) for row in rows]),
        _load(applied, [(row.pages, row.level_then) for row in rows]),
    )


async def apply(connection: Connection, applied: Applied, *, actor: str = ACTOR) -> Applying:
    """Score a vertical, store the scores, and set its domains' track levels."""
    await connection.execute(PATIENCE)
    window = await visibility.last_window(connection, LENGTH)
    found = await scored(connection, applied, window=window)
    kept = [(one, one.score) for one in found if one.score is not None]
    await connection.execute(
        KEEP,
        applied.id,
        applied.vertical.version,
        window.since,
        window.until,
        [one.subject for one, _ in kept],
        [one.id for one, _ in kept],
        [given.value for _, given in kept],
        [given.level for _, given in kept],
        [msgspec.json.encode(given.as_json()).decode() for _, given in kept],
    )
    domains = [one.id for one, _ in kept if one.subject == "domain"]
    changed = await connection.fetch(LEVELS, domains, 2 * LENGTH)
    await track_intervals.follow_verticals(connection, domains)
    await record(connection, [_event(row, applied, actor) for row in changed])
    unknown = sum(one.score is None for one in found if one.subject == "domain")
    return Applying(len(domains), len(kept) - len(domains), unknown, len(changed))


async def show(source: Connection | Database, name: str) -> list[dict[str, Any]]:
    """The newest scores of a domain or an organisation, one per vertical, with components."""
    row = await source.fetchrow(SUBJECT, name, " ".join(name.split()).casefold())
    if row is None:
        raise NotFoundError(f"{name} is neither a known domain nor a known organisation.")
    rows = await source.fetch(SHOW, row["id"])
    if not rows:
        raise NotFoundError(f"{name} has no score yet: scores are computed once a week.")
    return [{**one, "parts": msgspec.json.decode(one["parts"])} for one in rows]


async def _known(connection: Connection, applied: Applied, window: TimeSpan) -> list[Scored]:
    kinds = list(applied.vertical.record_kinds)
    rows = await connection.fetch(FACTS, applied.id, window.since, window.until, kinds)
    measured = await visibility.keywords_measured(connection, applied, window) > 0
    seen = await visibility.of_domains(connection, applied, window) if measured else []
    by_name = {one.name: one.visibility for one in seen}
    leader = max(by_name.values(), default=0.0)
    domains = [
        Scored(
            "domain",
            row["id"],
            row["domain"],
            _seen(_facts(row), by_name.get(row["domain"], 0.0) if measured else None, leader),
            None,
            row["track_level"],
        )
        for row in rows
    ]
    return domains + await _organisations(connection, applied, window, rows, measured=measured)


async def _organisations(
    connection: Connection,
    applied: Applied,
    window: TimeSpan,
    rows: Sequence[Any],
    *,
    measured: bool,
) -> list[Scored]:
    """Organisations by the facts of all their domains, and by their own visibility."""
    together: dict[UUID, SubjectFacts] = {}
    names: dict[UUID, str] = {}
    for row in rows:
        key = row["organisation_id"]
        if key is not None:
            together[key] = together.get(key, SubjectFacts()) + _facts(row)
            names[key] = row["organisation"]
    seen = await visibility.of_organisations(connection, applied, window) if measured else []
    by_key = {one.organisation_id: one.visibility for one in seen}
    leader = max(by_key.values(), default=0.0)
    return [
        Scored(
            "organisation",
            key,
            names[key],
            _seen(facts, by_key.get(key, 0.0) if measured else None, leader),
            None,
        )
        for key, facts in together.items()
    ]


def _facts(row: Any) -> SubjectFacts:
    return SubjectFacts(
        row["pages"],
        row["changed"],
        row["extracted"],
        row["yielding"],
        row["records"],
        row["confidence"],
        row["risk"],
        row["good_fetches"],
        row["cost"],
    )


def _seen(facts: SubjectFacts, value: float | None, leader: float) -> SubjectFacts:
    return replace(facts, visibility=value, leader=leader)


def _simulated(one: Scored, now: Score | None, then: Score | None) -> Simulated:
    return Simulated(
        one.name,
        one.facts.pages,
        one.level_before,
        now.level if now else one.level_before,
        then.level if then else one.level_before,
        now.value if now else None,
        then.value if then else None,
    )


def _load(applied: Applied, pages: Sequence[tuple[int, str | None]]) -> float:
    """Crawls per day by the levels' cadence; daily without a level."""
    days = {str(level): DAYS[every] for level, every in applied.vertical.cadence.items()}
    return sum(count / (days[level] if level is not None else 1.0) for count, level in pages)


def _event(row: Any, applied: Applied, actor: str) -> Event:
    data = {
        "vertical": applied.vertical.name,
        "before": row["before"],
        "after": row["after"],
        "score": round(row["score"], 4),
    }
    return Event("domain.track_level_changed", actor, row["id"], data=data)
