"""Proposes parser repairs from archived pages on which a parser lost records.

Nothing is fetched or changed.
"""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import msgspec

from messor.archive.snapshot_content import read_body
from messor.archive.storage import ArchiveSource
from messor.content.view import PageView
from messor.errors import MessorError
from messor.parsers.page_text import text_of
from messor.parsers.repairs import LostPage, Proposal, propose
from messor.store.database import Database
from messor.web.html import TooComplexError

MOST_PAGES = 20

# The last values of a product that its still existing page no longer yields, or of fields lost
# while the product stayed.
LOST = """
SELECT l.data, p.url, s.content_type, g.name AS segment, s.segment_offset, s.segment_length
  FROM (SELECT r.page_id, r.data, r.removed_at AS lost_at FROM messor.records r
          JOIN messor.extractions x ON x.page_id = r.page_id
         WHERE r.domain_id = $1 AND r.kind = 'product' AND r.state = 'removed'
           AND x.snapshot_id <> r.snapshot_id
         UNION ALL
        SELECT r.page_id, jsonb_object_agg(c.field, c.before ORDER BY c.id), max(c.changed_at)
          FROM messor.records r JOIN messor.record_changes c ON c.record_id = r.id
         WHERE r.domain_id = $1 AND r.kind = 'product' AND r.state = 'current'
           AND c.state = 'changed' AND c.after = 'null' AND NOT r.data ? c.field
         GROUP BY r.id) l
  JOIN messor.extractions x ON x.page_id = l.page_id
  JOIN messor.pages p ON p.id = l.page_id JOIN messor.page_snapshots s ON s.id = x.snapshot_id
  JOIN messor.segments g ON g.id = s.segment_id
 ORDER BY l.lost_at DESC LIMIT $2
"""


async def propose_repairs(
    database: Database, archive: ArchiveSource, domain_id: UUID
) -> list[Proposal]:
    """Return where the products of a domain, lost on existing pages, may be found now."""
    rows = await database.fetch(LOST, domain_id, MOST_PAGES)
    return await asyncio.to_thread(_propose, archive, [dict(row) for row in rows])


def _propose(archive: ArchiveSource, rows: list[dict[str, Any]]) -> list[Proposal]:
    lost: list[LostPage] = []
    for row in rows:
        try:
            body = read_body(archive, row["segment"], row["segment_offset"], row["segment_length"])
            page = PageView.of(text_of(body, row["content_type"]), row["url"])
        except (MessorError, TooComplexError):
            continue
        lost.append(LostPage(page, msgspec.json.decode(row["data"])))
    return propose(lost)
