"""Alarms: current problems of the installation, visible from every process.

A process keeps its own on an in-memory `AlarmBoard`, which works without the database, and an
`AlarmKeeper` copies them there. An alarm lasts while its process keeps repeating it, and ends with
the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import asyncpg

from messor.core.heartbeat import Heartbeat
from messor.core.logs import room_logger
from messor.core.masking import mask_text
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

logger = room_logger(__name__)

DISK, CLOCK = "disk", "clock"  # alarm names; others are component names
KEEP_SECONDS = 5.0
# An alarm not repeated for this long is stale. Measured both ways: a wrong clock may have dated it
# in the future.
STALE = "interval '30 seconds'"

WRITE = """
WITH gone AS (
  DELETE FROM messor.alarms WHERE (place = $1 AND name <> ALL ($2::text[]))
      OR abs(extract(epoch FROM seen_at - (SELECT messor.clock()))) > 86400
)
INSERT INTO messor.alarms (place, name, message, raised_at, seen_at)
SELECT $1, g.name, g.message, g.raised_at, messor.clock()
  FROM unnest($2::text[], $3::text[], $4::timestamptz[]) AS g (name, message, raised_at)
ON CONFLICT (place, name) DO UPDATE SET message = excluded.message, raised_at = excluded.raised_at,
   seen_at = excluded.seen_at
"""
# Message of the newest alarm of a name, for use in other statements.
NEWEST = f"""
SELECT a.message FROM messor.alarms a, (SELECT messor.clock() AS now) c
 WHERE a.name = '{{name}}' AND a.seen_at BETWEEN c.now - {STALE} AND c.now + {STALE}
 ORDER BY a.raised_at DESC LIMIT 1
"""
STANDING = f"""
SELECT place, name, message, raised_at FROM messor.alarms, (SELECT messor.clock() AS now) c
 WHERE seen_at BETWEEN c.now - {STALE} AND c.now + {STALE} ORDER BY raised_at, place, name
"""


@dataclass(frozen=True, slots=True)
class Alarm:
    """One current problem."""

    place: str  # machine and process
    name: str  # subject: disk, clock, a component
    message: str  # the message, one sentence
    raised_at: datetime


def place_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


class AlarmBoard:
    """The alarms of one process; each change is logged once."""

    def __init__(self, place: str | None = None) -> None:
        self.place = place or place_name()
        self._alarms: dict[str, Alarm] = {}

    @property
    def standing(self) -> list[Alarm]:
        return list(self._alarms.values())

    def sound(self, name: str, message: str) -> None:
        """Raise an alarm, or update its message."""
        known = self._alarms.get(name)
        since = known.raised_at if known is not None else datetime.now(UTC)
        self._alarms[name] = Alarm(self.place, name, mask_text(message), since)
        if known is None:
            logger.warning("%s: %s", name, message)

    def end(self, name: str, message: str) -> None:
        """Clear an alarm."""
        if self._alarms.pop(name, None) is not None:
            logger.warning("%s: %s", name, message)


def one_of_each(found: Iterable[Alarm]) -> list[Alarm]:
    """Each fault once, by its oldest alarm.

    All processes of a machine see the same disks, and all processes the same clock; component
    alarms are separate.
    """
    kept: dict[tuple[str, str], Alarm] = {}
    for alarm in sorted(found, key=lambda alarm: alarm.raised_at):
        kept.setdefault(_fault(alarm), alarm)
    return list(kept.values())


def _fault(alarm: Alarm) -> tuple[str, str]:
    if alarm.name == CLOCK:
        return CLOCK, ""
    return alarm.name, alarm.place.rpartition(":")[0] if alarm.name == DISK else alarm.place


async def standing(database: Database, board: AlarmBoard | None = None) -> list[Alarm]:
    """Current alarms, oldest first; those of this process even without a database."""
    own = board.standing if board is not None else []
    try:
        rows = await database.fetch(STANDING)
    except (asyncpg.PostgresError, *LOST_CONNECTION):
        return own
    place = board.place if board is not None else None
    return one_of_each(own + [Alarm(**row) for row in rows if row["place"] != place])


class AlarmKeeper:
    """Copies a board to the database while it runs."""

    def __init__(self, database: Database, board: AlarmBoard) -> None:
        self._database = database
        self._board = board
        self._stop = asyncio.Event()
        self.heartbeat = Heartbeat()
        self._stored = True  # an earlier process of this name may have left alarms

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        while not self._stop.is_set():
            self.heartbeat.beat("copying")
            await self._keep(self._board.standing)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), KEEP_SECONDS)
        await self._keep([])

    async def _keep(self, alarms: list[Alarm]) -> None:
        if not alarms and not self._stored:
            return
        with contextlib.suppress(*LOST_CONNECTION, *TRY_AGAIN):
            await self._database.fetch(
                WRITE,
                self._board.place,
                [alarm.name for alarm in alarms],
                [alarm.message for alarm in alarms],
                [alarm.raised_at for alarm in alarms],
            )
            self._stored = bool(alarms)
