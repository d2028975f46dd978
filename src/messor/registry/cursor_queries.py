"""Cursor pages of domains, for programs that read them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from messor.registry.domains import COLUMNS, Domain
from messor.store.database import Connection, Database

BROWSE = f"""
SELECT {COLUMNS} FROM messor.domains
 WHERE ($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR processing = $2)
   AND ($3::text IS NULL OR strpos(domain, $3) > 0) AND ($4::boolean IS NULL OR is_trusted_domain = $4)
   AND ($5::timestamptz IS NULL OR (created_at, id) < ($5, $6::uuid))
 ORDER BY created_at DESC, id DESC LIMIT $7
"""


@dataclass(frozen=True, slots=True)
class DomainSelection:
    """Filters of domains; None matches any."""

    status: str | None = None
    processing: str | None = None
    containing: str | None = None
    trusted: bool | None = None


async def browse(
    source: Connection | Database,
    selection: DomainSelection,
    *,
    after: tuple[datetime, UUID] | None = None,
    limit: int = 50,
) -> Sequence[Domain]:
    """Domains, newest first; `after` is (created_at, id) of the last row seen."""
    before, last = after if after is not None else (None, None)
    rows = await source.fetch(
        BROWSE,
        selection.status,
        selection.processing,
        selection.containing,
        selection.trusted,
        before,
        last,
        limit,
    )
    return [Domain(**row) for row in rows]
