"""Queries of retention: rules and holds, for every interface, and what would go."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from messor.store.database import Database
from messor.store.listing import DomainText, Filters, Listing, both_ways, where

Outcome = Literal["any", "good", "bad"]
WINDOW = 10_000  # snapshots looked at per statement

RULE_COLUMNS = (
    "r.id, r.name, r.domain, r.vertical, r.outcome, r.days, r.versions, r.created_by, r.created_at"
)
HOLD_COLUMNS = "k.id, k.domain, k.url, k.reason, k.held_by, k.held_at"

# The most specific rule of a snapshot decides alone. What is current, what records were read from and
# what waits to be read stays.
DUE = """
SELECT s.id, r.name, (coalesce(s.revisit_length, s.segment_length) + coalesce(s.text_length, 0))::bigint AS bytes,
       EXISTS (SELECT FROM messor.retention_holds k
                WHERE k.domain = d.domain AND (k.url IS NULL OR k.url = p.url)) AS is_held
  FROM {chosen} s
  JOIN messor.pages p ON p.id = s.page_id JOIN messor.hosts h ON h.id = p.host_id
  JOIN messor.domains d ON d.id = h.domain_id
 CROSS JOIN LATERAL (
   SELECT r.name, r.days, r.versions FROM messor.retention_rules r
    WHERE (r.domain IS NULL OR r.domain = d.domain) AND (r.vertical IS NULL OR r.vertical = d.vertical)
      AND r.outcome IN ('any', CASE WHEN s.verdict IS NULL THEN 'good' ELSE 'bad' END)
    ORDER BY r.domain IS NOT NULL DESC, r.vertical IS NOT NULL DESC, r.outcome <> 'any' DESC LIMIT 1) r
 WHERE (r.days IS NULL OR s.crawled_at < (SELECT messor.clock()) - make_interval(days => r.days))
   AND (r.versions IS NULL OR r.versions <= (
         SELECT count(*) FROM messor.page_snapshots n
          WHERE n.page_id = s.page_id AND n.id > s.id AND (n.verdict IS NULL) = (s.verdict IS NULL)))
   AND NOT EXISTS (SELECT FROM messor.crawl_tasks t WHERE t.page_id = s.page_id AND t.snapshot_id = s.id)
   AND NOT EXISTS (SELECT FROM messor.records e WHERE e.page_id = s.page_id AND e.snapshot_id = s.id)
   AND NOT EXISTS (SELECT FROM messor.extractions x WHERE x.page_id = s.page_id AND x.snapshot_id = s.id)
   AND NOT EXISTS (SELECT FROM messor.extraction_due q WHERE q.page_id = s.page_id AND q.snapshot_id = s.id)
"""
IN_WINDOW = DUE.format(
    chosen="(SELECT * FROM messor.page_snapshots WHERE id > $1 ORDER BY id LIMIT $2)"
)
OF_IDS = DUE.format(chosen="(SELECT * FROM messor.page_snapshots WHERE id = ANY ($1::bigint[]))")
EDGE = """
SELECT max(id) FROM (SELECT id FROM messor.page_snapshots WHERE id > $1 ORDER BY id LIMIT $2) w
"""
PREVIEW = f"""
SELECT name, is_held, count(*) AS snapshots, sum(bytes)::bigint AS bytes FROM ({IN_WINDOW}) due
 GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """How long snapshots stay; without domain and vertical it applies to all."""

    id: UUID
    name: str
    domain: str | None
    vertical: str | None
    outcome: Outcome
    days: int | None  # at least as old
    versions: int | None  # besides the newest ones of the page
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RetentionHold:
    """What no rule may remove until the hold is lifted."""

    id: UUID
    domain: str
    url: str | None  # None: the whole domain
    reason: str
    held_by: str
    held_at: datetime


@dataclass(slots=True)
class WouldGo:
    """What a rule would remove now."""

    rule: str
    snapshots: int = 0
    bytes: int = 0
    held: int = 0  # snapshots that stay because of a hold


class RuleFilter(Filters):
    """Filters of retention rules."""

    domain: DomainText | None = where("r.domain = {}", "Domain")
    vertical: str | None = where("r.vertical = {}", "Vertical", max_length=100)


class HoldFilter(Filters):
    """Filters of holds."""

    domain: DomainText | None = where("k.domain = {}", "Domain")


RULES = Listing(
    name="retention rules",
    item=RetentionRule,
    filters=RuleFilter,
    table="messor.retention_rules",
    alias="r",
    columns=RULE_COLUMNS,
    key_type="uuid",
    orders=both_ways("-created_at", "r.created_at", "timestamptz", "Newest first", "Oldest first"),
)
HOLDS = Listing(
    name="retention holds",
    item=RetentionHold,
    filters=HoldFilter,
    table="messor.retention_holds",
    alias="k",
    columns=HOLD_COLUMNS,
    key_type="uuid",
    orders=both_ways("-held_at", "k.held_at", "timestamptz", "Newest first", "Oldest first"),
)


async def preview(database: Database) -> list[WouldGo]:
    """What would go if the rules were applied now; changes nothing. Reads all snapshots."""
    found: dict[str, WouldGo] = {}
    after: int | None = 0
    while (edge := await database.fetchval(EDGE, after, WINDOW)) is not None:
        for row in await database.fetch(PREVIEW, after, WINDOW):
            rule = found.setdefault(row["name"], WouldGo(row["name"]))
            if row["is_held"]:
                rule.held += row["snapshots"]
            else:
                rule.snapshots += row["snapshots"]
                rule.bytes += row["bytes"]
        after = edge
    return sorted(found.values(), key=lambda rule: rule.rule)
