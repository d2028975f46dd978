"""Sitemaps in the database: the result of reading each, and their hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec

from messor.store.database import Connection, Database

STORE = """
UPDATE messor.sitemaps s
   SET kind = coalesce(g.kind, s.kind), urls = coalesce(g.urls, s.urls),
       sitemaps = coalesce(g.sitemaps, s.sitemaps), warnings = g.warnings,
       error_json = g.error, read_at = messor.clock(),
       attempts = CASE WHEN g.error IS NULL THEN 0 ELSE s.attempts + 1 END
  FROM unnest($1::bigint[], $2::text[], $3::int[], $4::int[], $5::jsonb[], $6::jsonb[])
       AS g (page_id, kind, urls, sitemaps, warnings, error)
 WHERE s.page_id = g.page_id
"""

OF_DOMAIN = """
SELECT p.url, s.depth, o.url AS parent, s.kind, s.urls, s.sitemaps, s.attempts, s.error_json,
       s.warnings, s.read_at, p.sitemap_lastmod AS lastmod
  FROM messor.sitemaps s JOIN messor.pages p ON p.id = s.page_id
  JOIN messor.hosts h ON h.id = s.host_id
  LEFT JOIN messor.pages o ON o.id = s.parent_id
 WHERE h.domain_id = $1 ORDER BY s.depth, s.page_id LIMIT $2
"""

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class SitemapReading:
    """The result of reading a sitemap; `error` if it could not be read."""

    page_id: int
    kind: str | None = None
    urls: int | None = None
    sitemaps: int | None = None
    warnings: list[str] = field(default_factory=list)
    error: dict[str, Any] | None = None


async def store(connection: Connection, readings: Sequence[SitemapReading]) -> None:
    await connection.execute(
        STORE,
        [reading.page_id for reading in readings],
        [reading.kind for reading in readings],
        [reading.urls for reading in readings],
        [reading.sitemaps for reading in readings],
        [_encode(reading.warnings).decode() if reading.warnings else None for reading in readings],
        [_encode(reading.error).decode() if reading.error else None for reading in readings],
    )


async def of_domain(database: Database, domain_id: UUID, limit: int = 1000) -> list[dict[str, Any]]:
    """A domain's sitemaps, top level first."""
    return [dict(row) for row in await database.fetch(OF_DOMAIN, domain_id, limit)]
