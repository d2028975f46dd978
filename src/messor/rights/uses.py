"""Uses: what an approval lets a domain's content be used for, and what callers declare.

Each use is governed by the words that sites have for it: the standards know no price monitoring,
but it is text and data mining.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from uuid import UUID

from messor.errors import UsageError
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database
from messor.web.usage.statement import Use


class ApprovedUse(StrEnum):
    """What content is used for."""

    SEARCH = "search"
    AI_INPUT = "ai-input"
    AI_TRAIN = "ai-train"
    TDM = "tdm"
    ARCHIVE = "archive"
    PRICE_MONITORING = "price-monitoring"
    MARKET_RESEARCH = "market-research"
    DIRECTORY = "directory"


USE_NAMES = tuple(each.value for each in ApprovedUse)
MEANINGS: Mapping[ApprovedUse, str] = MappingProxyType(
    {
        ApprovedUse.SEARCH: "an index that leads people to the page",
        ApprovedUse.AI_INPUT: "reading by a model: retrieval, summaries, extraction",
        ApprovedUse.AI_TRAIN: "training of models",
        ApprovedUse.TDM: "text and data mining",
        ApprovedUse.ARCHIVE: "showing stored copies",
        ApprovedUse.PRICE_MONITORING: "comparing prices over time",
        ApprovedUse.MARKET_RESEARCH: "comparing offers and visibility of organisations",
        ApprovedUse.DIRECTORY: "lists of places, services and programs for people",
    }
)
# The word of the standards that decides; a use without one of its own is text and data mining.
GOVERNED_BY: Mapping[ApprovedUse, Use] = MappingProxyType(
    {
        each: Use(each.value) if each.value in {use.value for use in Use} else Use.TDM
        for each in ApprovedUse
    }
)
# What counts for a domain whose approval names no use, where a caller declares none either.
UNNAMED = (ApprovedUse.TDM,)

GET = "SELECT uses FROM messor.domain_uses WHERE domain_id = $1"
SET = """
INSERT INTO messor.domain_uses AS u (domain_id, uses, set_by) VALUES ($1, $2, $3)
ON CONFLICT (domain_id) DO UPDATE
   SET uses = excluded.uses, set_by = excluded.set_by, set_at = messor.clock()
 WHERE u.uses <> excluded.uses
RETURNING true
"""
CLEAR = "DELETE FROM messor.domain_uses WHERE domain_id = $1 RETURNING true"


def parsed(names: Iterable[str]) -> tuple[ApprovedUse, ...]:
    """Uses by name, each once, in the order of the list."""
    wanted = {name.strip().lower() for name in names if name.strip()}
    unknown = wanted - {each.value for each in ApprovedUse}
    if unknown:
        known = ", ".join(each.value for each in ApprovedUse)
        raise UsageError(f"{min(unknown)[:60]!r} is not a use. Uses are: {known}.")
    return tuple(each for each in ApprovedUse if each.value in wanted)


async def of_domain(source: Connection | Database, domain_id: UUID) -> tuple[ApprovedUse, ...]:
    """The uses that a domain's approval names; empty if it names none."""
    return parsed(await source.fetchval(GET, domain_id) or ())


async def name_uses(
    connection: Connection, domain_id: UUID, uses: Collection[ApprovedUse], *, actor: str
) -> bool:
    """Name the uses of a domain, none to clear them; returns whether anything changed."""
    names = [each.value for each in uses]
    changed = (
        await connection.fetchval(SET, domain_id, names, actor)
        if names
        else await connection.fetchval(CLEAR, domain_id)
    )
    if changed:
        event = Event("domain.uses_set", actor, domain_id, data={"uses": names})
        await record(connection, [event])
    return bool(changed)
