"""Changes scoring weights.

They become the next version of the vertical, which is scored at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from messor.errors import ConflictError
from messor.insight import scoring
from messor.insight.scoring import Applying
from messor.store.database import Connection
from messor.verticals import verticals
from messor.verticals.reweigh import with_weights
from messor.verticals.verticals import Applied


async def apply(
    connection: Connection,
    name: str,
    weights: Mapping[str, float],
    *,
    actor: str,
    seen: int | None = None,
) -> tuple[Applied, Applying]:
    """Score a vertical with changed weights; `seen` is the version the caller saw."""
    applied = await verticals.get(connection, name)
    now = applied.vertical.version
    if seen is not None and seen != now:
        raise ConflictError(
            f"Version {now} of {name} is applied, not {seen}: reload and try again."
        )
    usual = applied.vertical.scoring.weights
    if any(usual.get(part) != weight for part, weight in weights.items()):
        file = with_weights(applied, weights)
        applied, _ = await verticals.apply(connection, file, actor=actor)
    return applied, await scoring.apply(connection, applied, actor=actor)
