"""Storage of flags, of reviewers' decisions on them, and of the classifiers trained on those."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

import msgspec

from messor.errors import ConflictError, NotFoundError
from messor.insight.relevance.classifier import Classifier, LabelledPage, Trained, train
from messor.insight.relevance.flag import RelevanceFlag
from messor.insight.relevance.flags import ActiveClassifier, PageText
from messor.insight.relevance.lexical import lexical_score
from messor.insight.relevance.topic import Topic
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database
from messor.web.text import one_line, storable

MAX_SAMPLE = 4_000  # characters of a page that are stored with a decision
MAX_EXAMPLES = 2_000  # newest decisions used for training
KEPT_VERSIONS = 10

# A reviewer's decision overrides every judgement. A model's judgement of the same content is not
# replaced by undecided rules.
KEEP = """
WITH given AS MATERIALIZED (
  SELECT g.page_id, g.vertical, g.snapshot_id, said.relevant IS NOT NULL AS is_decided,
         coalesce(said.relevant, g.relevant) AS relevant,
         CASE WHEN said.relevant IS NULL THEN g.score ELSE said.relevant::int END AS score,
         CASE WHEN said.relevant IS NULL THEN g.reasons
              ELSE '["decided by a reviewer"]'::jsonb END AS reasons,
         CASE WHEN said.relevant IS NULL THEN g.model_version ELSE 'reviewer' END AS model_version,
         o.relevant AS before, o.page_id IS NOT NULL AS is_known
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::boolean[], $5::real[], $6::jsonb[],
                $7::text[])
      AS g (page_id, vertical, snapshot_id, relevant, score, reasons, model_version)
    LEFT JOIN messor.page_flags o ON o.page_id = g.page_id AND o.vertical = g.vertical
    LEFT JOIN LATERAL (SELECT d.relevant FROM messor.flag_decisions d
                        WHERE d.page_id = g.page_id AND d.vertical = g.vertical
                        ORDER BY d.id DESC LIMIT 1) said ON true
), kept AS (
  INSERT INTO messor.page_flags AS f (page_id, vertical, snapshot_id, relevant, score, reasons,
                                      model_version)
  SELECT page_id, vertical, snapshot_id, relevant, score, reasons, model_version FROM given
   ORDER BY page_id, vertical
  ON CONFLICT (page_id, vertical) DO UPDATE
     SET snapshot_id = excluded.snapshot_id, relevant = excluded.relevant, score = excluded.score,
         reasons = excluded.reasons, model_version = excluded.model_version,
         flagged_at = (SELECT messor.clock())
   WHERE NOT (excluded.relevant IS NULL AND f.snapshot_id = excluded.snapshot_id
              AND f.model_version LIKE 'relevance-%')
  RETURNING f.page_id, f.vertical
)
SELECT g.page_id, g.vertical, g.relevant, g.score, g.reasons::text AS reasons, g.model_version,
       k.page_id IS NOT NULL AND (NOT g.is_known OR g.before IS DISTINCT FROM g.relevant) AS changed
  FROM given g LEFT JOIN kept k ON k.page_id = g.page_id AND k.vertical = g.vertical
 ORDER BY g.page_id, g.vertical
"""
FIND = "SELECT * FROM messor.page_flags WHERE page_id = $1 AND vertical = $2"
DECIDE = """
INSERT INTO messor.flag_decisions (page_id, vertical, domain, relevant, flagged, overturned,
       model_version, reason, lexical, title, sample, decided_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING id
"""
EXAMPLES = """
SELECT domain, title, sample, lexical, relevant FROM (
  SELECT DISTINCT ON (page_id) * FROM messor.flag_decisions WHERE vertical = $1
   ORDER BY page_id, id DESC) d
 ORDER BY id DESC LIMIT $2
"""
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('messor.relevance.' || $1, 0))"
TURN_OFF = """
UPDATE messor.relevance_models SET state = 'off', reason = $2 WHERE vertical = $1 AND state = 'on'
"""
ADD = """
INSERT INTO messor.relevance_models (vertical, version, state, reason, decisions, measured, weights,
                                     trained_by)
SELECT $1, coalesce(max(version), 0) + 1, $2, $3, $4, $5::jsonb, $6::jsonb, $7
  FROM messor.relevance_models WHERE vertical = $1
RETURNING version
"""
IN_FORCE = """
SELECT version, weights FROM messor.relevance_models WHERE vertical = $1 AND state = 'on'
"""
TURN_ON = """
UPDATE messor.relevance_models SET state = 'on', reason = $3
 WHERE vertical = $1 AND version = $2 RETURNING version
"""
VERSIONS = """
SELECT version, state, reason, decisions, measured, trained_by, trained_at
  FROM messor.relevance_models WHERE vertical = $1 ORDER BY version DESC LIMIT $2
"""


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """A reviewer's decision on a page."""

    page_id: int
    domain: str
    relevant: bool
    decided_by: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JudgedPage:
    """The judgement of a page for one vertical."""

    page_id: int
    snapshot_id: int | None
    vertical: str
    flag: RelevanceFlag
    domain_id: UUID | None = None


async def keep_flags(connection: Connection, judged: Sequence[JudgedPage]) -> list[RelevanceFlag]:
    """Store judgements of pages; a reviewer's decision overrides them. Returns what is in force.

    A page that became relevant is an event.
    """
    if not judged:
        return []
    ordered = sorted(judged, key=lambda each: (each.page_id, each.vertical))
    rows = await connection.fetch(
        KEEP,
        [each.page_id for each in ordered],
        [each.vertical for each in ordered],
        [each.snapshot_id for each in ordered],
        [each.flag.relevant for each in ordered],
        [each.flag.score for each in ordered],
        [_json([storable(reason) for reason in each.flag.reasons]) for each in ordered],
        [each.flag.model_version for each in ordered],
    )
    events = [
        _flagged(each, row)
        for each, row in zip(ordered, rows, strict=True)
        if row["changed"] and row["relevant"]
    ]
    if events:
        await record(connection, events)
    kept = {(row["page_id"], row["vertical"]): _flag(row) for row in rows}
    return [kept[each.page_id, each.vertical] for each in judged]


def _flagged(judged: JudgedPage, row: Any) -> Event:
    data = {
        "vertical": judged.vertical,
        "score": round(row["score"], 4),
        "model_version": row["model_version"],
        "snapshot_id": judged.snapshot_id,
    }
    return Event("page.flagged", "system", judged.domain_id, judged.page_id, data)


def _flag(row: Any) -> RelevanceFlag:
    reasons = tuple(msgspec.json.decode(row["reasons"]))
    return RelevanceFlag(row["relevant"], round(row["score"], 4), reasons, row["model_version"])


async def keep_flag(
    connection: Connection,
    topic: Topic,
    page_id: int,
    snapshot_id: int | None,
    flag: RelevanceFlag,
    *,
    domain_id: UUID | None = None,
) -> RelevanceFlag:
    """The same for one page and one topic."""
    judged = JudgedPage(page_id, snapshot_id, topic.name, flag, domain_id)
    (kept,) = await keep_flags(connection, [judged])
    return kept


async def decide(
    connection: Connection,
    topic: Topic,
    decision: ReviewDecision,
    page: PageText,
    *,
    domain_id: UUID | None = None,
) -> bool:
    """Store a reviewer's decision; returns whether it overturned the flag."""
    flag = await connection.fetchrow(FIND, decision.page_id, topic.name)
    if flag is None:
        raise NotFoundError(f"Page {decision.page_id} is not flagged for {topic.name}.")
    flagged: bool | None = flag["relevant"]
    overturned = flagged is not None and flagged != decision.relevant
    lexical = lexical_score(topic, page.title, page.text).value
    await connection.execute(
        DECIDE, decision.page_id, topic.name, decision.domain, decision.relevant, flagged, overturned,
        flag["model_version"], one_line(decision.reason, 500), lexical, one_line(page.title, 300),
        storable(page.text[:MAX_SAMPLE]), decision.decided_by,
    )  # fmt: skip
    decided = RelevanceFlag(None, float(decision.relevant), (), "reviewer")
    await keep_flag(
        connection, topic, decision.page_id, flag["snapshot_id"], decided, domain_id=domain_id
    )
    data = {"vertical": topic.name, "relevant": decision.relevant, "overturned": overturned}
    told = Event("flag.decided", decision.decided_by, domain_id, decision.page_id, data)
    await record(connection, [told])
    return overturned


async def learn(database: Database, topic: Topic, *, actor: str) -> tuple[int, Trained]:
    """Train on all decisions, store the version, and activate it if it is good enough."""
    rows = await database.fetch(EXAMPLES, topic.name, MAX_EXAMPLES)
    examples = [
        LabelledPage(row["domain"], row["title"], row["sample"], row["lexical"], row["relevant"])
        for row in rows
    ]
    threshold = (topic.relevant_from + topic.irrelevant_to) / 2
    trained = await asyncio.to_thread(train, examples, threshold)
    async with database.transaction() as connection:
        await connection.execute(LOCK, topic.name)
        if trained.may_judge:
            await connection.execute(TURN_OFF, topic.name, "A newer version is active.")
        version: int = await connection.fetchval(
            ADD, topic.name, "on" if trained.may_judge else "refused", trained.reason,
            trained.decisions, _json(_measured(trained)), _json(trained.classifier.as_json()), actor,
        )  # fmt: skip
        data = {"vertical": topic.name, "version": version, "on": trained.may_judge}
        await record(connection, [Event("relevance.trained", actor, data=data)])
    return version, trained


def _measured(trained: Trained) -> dict[str, Any]:
    return {
        "learnt": asdict(trained.learnt) if trained.learnt else None,
        "rules": asdict(trained.rules) if trained.rules else None,
        "strongest": trained.classifier.strongest(),
    }


async def in_force(source: Connection | Database, topic: Topic) -> ActiveClassifier | None:
    """The active classifier, None if the rules judge."""
    row = await source.fetchrow(IN_FORCE, topic.name)
    if row is None:
        return None
    return ActiveClassifier(msgspec.json.decode(row["weights"], type=Classifier), row["version"])


async def switch(database: Database, topic: Topic, version: int | None, *, actor: str) -> None:
    """Activate another version, or with None the rules. A person's act."""
    async with database.transaction() as connection:
        await connection.execute(LOCK, topic.name)
        if version is not None:
            await _require(connection, topic, version)
        await connection.execute(TURN_OFF, topic.name, "Deactivated by a person.")
        if version is not None:
            await connection.fetchval(TURN_ON, topic.name, version, "Activated by a person.")
        data = {"vertical": topic.name, "version": version}
        await record(connection, [Event("relevance.switched", actor, data=data)])


async def _require(connection: Connection, topic: Topic, version: int) -> None:
    rows = await connection.fetch(VERSIONS, topic.name, 1_000)
    row = next((each for each in rows if each["version"] == version), None)
    if row is None:
        raise NotFoundError(f"Unknown version {version} of the classifier of {topic.name}.")
    if row["state"] == "refused":
        raise ConflictError(f"Version {version} cannot be activated. {row['reason']}")


async def versions(source: Connection | Database, topic: Topic) -> Sequence[dict[str, Any]]:
    """Trained versions, newest first."""
    rows = await source.fetch(VERSIONS, topic.name, KEPT_VERSIONS)
    return [{**row, "measured": msgspec.json.decode(row["measured"])} for row in rows]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
