"""Page terms: what sites say about the use of pages, and what their domains are approved for.

Headers and markup count as they came with the newest snapshot, robots.txt as it is in force now. One
statement reads the pages of a batch; pages of which nothing is said and whose domain names no uses
are left out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec

from messor.rights.uses import ApprovedUse
from messor.store.database import Connection, Database
from messor.web.usage.robots_txt import RobotsUsage, UsageLine
from messor.web.usage.statement import Answer, Statement, Use

ROBOTS = "robots.txt"  # where places of statements in robots.txt begin

OF_PAGES = """
SELECT p.id, p.url, h.domain_id, u.uses, s.signals::text AS signals, r.id AS robots_id,
       r.usage_lines::text AS lines,
       ARRAY(SELECT q.use FROM messor.use_permissions q
              WHERE q.domain_id = h.domain_id AND q.revoked_at IS NULL
                AND (q.expires_on IS NULL OR q.expires_on >= messor.clock()::date)) AS permitted
  FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
  LEFT JOIN messor.domain_uses u ON u.domain_id = h.domain_id
  LEFT JOIN messor.robots_files r ON r.id =
       CASE split_part(p.url, ':', 1) WHEN h.scheme THEN h.robots_id ELSE h.other_robots_id END
  LEFT JOIN messor.crawl_tasks t ON t.page_id = p.id
  LEFT JOIN messor.page_snapshots s ON s.id = t.snapshot_id
 WHERE p.id = ANY ($1::bigint[])
   AND (s.signals IS NOT NULL OR u.uses IS NOT NULL OR jsonb_array_length(r.usage_lines) > 0)
"""

_decode_lines = msgspec.json.Decoder(list[UsageLine]).decode


@dataclass(frozen=True, slots=True)
class PageTerms:
    """What decides the use of one page."""

    page_id: int
    domain_id: UUID | None
    uses: tuple[ApprovedUse, ...]  # empty: the approval names none
    permitted: frozenset[str]  # by a permission on file
    statements: tuple[Statement, ...]


@dataclass(slots=True)
class _Parsed:
    """What was parsed for one batch: a robots.txt and a page's statements often stand for many."""

    robots: dict[int, RobotsUsage] = field(default_factory=dict)
    signals: dict[str, list[Statement]] = field(default_factory=dict)

    def of(self, row: Any) -> tuple[Statement, ...]:
        text = row["signals"]
        if text is not None and text not in self.signals:
            self.signals[text] = stored_statements(text)
        own = self.signals[text] if text is not None else []
        if row["lines"] is None:  # the robots.txt that the page came with still tells
            return tuple(own)
        if row["robots_id"] not in self.robots:
            self.robots[row["robots_id"]] = RobotsUsage(_decode_lines(row["lines"]))
        told = self.robots[row["robots_id"]].statements_of(row["url"])
        return (*(one for one in own if not one.place.startswith(ROBOTS)), *told)


async def of_pages(
    source: Connection | Database, page_ids: Collection[int]
) -> dict[int, PageTerms]:
    """The terms of pages that have any."""
    if not page_ids:
        return {}
    parsed = _Parsed()
    return {
        row["id"]: PageTerms(
            row["id"],
            row["domain_id"],
            tuple(ApprovedUse(name) for name in row["uses"] or ()),
            frozenset(row["permitted"]),
            parsed.of(row),
        )
        for row in await source.fetch(OF_PAGES, list(page_ids))
    }


def stored_statements(signals: str) -> list[Statement]:
    """Statements of a snapshot; earlier versions stored another form, which says nothing here."""
    found: Any = msgspec.json.decode(signals)
    if not isinstance(found, list):
        return []
    return [
        Statement(
            Use(one["use"]), Answer(one["answer"]), one["standard"], one["place"], one["text"]
        )
        for one in found
    ]
