"""The halt: stops all requests to sites, on every machine, until it is lifted.

It is stored in the database, so it survives restarts. Claims check it in their own statement, and
workers poll it to cancel visits; search engines, models and webhooks are not sites.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from messor.errors import ConflictError, TrafficHaltedError, UsageError
from messor.ledger import events
from messor.ledger.events import Event
from messor.politeness import limits
from messor.store.database import Connection, Database

LONGEST_REASON = 500

IN_FORCE = """
SELECT halted_at, halted_by, reason FROM messor.traffic_halts WHERE lifted_at IS NULL
"""

HALT = """
INSERT INTO messor.traffic_halts (halted_by, reason) VALUES ($1, $2)
ON CONFLICT ((true)) WHERE lifted_at IS NULL DO NOTHING RETURNING halted_at, halted_by, reason
"""

LIFT = """
UPDATE messor.traffic_halts SET lifted_at = messor.clock(), lifted_by = $1
 WHERE lifted_at IS NULL RETURNING halted_at, halted_by, reason
"""


@dataclass(frozen=True, slots=True)
class Halt:
    """A current halt: since when, by whom, and why."""

    halted_at: datetime
    halted_by: str
    reason: str

    @property
    def message(self) -> str:
        since = f"{self.halted_at:%Y-%m-%d %H:%M} UTC"
        return f"All traffic to sites was halted by {self.halted_by} on {since}: {self.reason}"


async def in_force(source: Connection | Database) -> Halt | None:
    """The current halt, if any."""
    row = await source.fetchrow(IN_FORCE)
    return None if row is None else _halt(row)


async def require_running(source: Connection | Database) -> None:
    """Raise TrafficHaltedError during a halt, or while the limits on all traffic hold it up."""
    halt = await in_force(source)
    if halt is not None:
        raise TrafficHaltedError(f"{halt.message}. An admin can lift it: messor traffic resume")
    await limits.require_open(source)


async def halt(connection: Connection, *, reason: str, actor: str) -> Halt:
    """Halt all traffic to sites; an existing halt is kept as it is."""
    reason = " ".join(reason.split())
    if not reason or len(reason) > LONGEST_REASON:
        raise UsageError(f"The reason must have 1 to {LONGEST_REASON} characters.")
    row = await connection.fetchrow(HALT, actor, reason)
    if row is None:
        raise ConflictError(
            "Traffic is already halted; the existing halt and its reason are unchanged."
        )
    await events.record(connection, [Event("traffic.halted", actor, data={"reason": reason})])
    return _halt(row)


async def resume(connection: Connection, *, actor: str) -> Halt:
    """Lift the current halt and return it."""
    row = await connection.fetchrow(LIFT, actor)
    if row is None:
        raise ConflictError("Traffic is not halted; there is nothing to resume.")
    lifted = _halt(row)
    data = {"halted_by": lifted.halted_by, "reason": lifted.reason}
    await events.record(connection, [Event("traffic.resumed", actor, data=data)])
    return lifted


def _halt(row: Any) -> Halt:
    return Halt(row["halted_at"], row["halted_by"], row["reason"])
