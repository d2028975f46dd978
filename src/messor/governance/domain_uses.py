"""What a domain is approved for: named by its reviewer, suggested by its vertical."""

from __future__ import annotations

from collections.abc import Sequence

from messor.registry.domains import Domain
from messor.rights import uses as registry
from messor.rights.uses import ApprovedUse
from messor.store.database import Connection, Database

SUGGESTED = """
SELECT ARRAY(SELECT jsonb_array_elements_text(coalesce(v.definition -> 'uses', '[]')))
  FROM messor.verticals v WHERE v.name = $1
"""


async def settle(
    connection: Connection, domain: Domain, names: Sequence[str] | None, *, actor: str
) -> None:
    """Name the uses of an approval: those given, or what the vertical suggests if none are named."""
    if names is not None:
        await registry.name_uses(connection, domain.id, registry.parsed(names), actor=actor)
    elif not await registry.of_domain(connection, domain.id):
        suggested = await suggested_for(connection, domain.vertical)
        await registry.name_uses(connection, domain.id, suggested, actor=actor)


async def suggested_for(
    source: Connection | Database, vertical: str | None
) -> tuple[ApprovedUse, ...]:
    """The uses that a vertical suggests; none without a vertical."""
    if vertical is None:
        return ()
    return registry.parsed(await source.fetchval(SUGGESTED, vertical) or ())
