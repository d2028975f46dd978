"""Standing exports: made by O-Exports when they are due, one at a time each, and delivered to a place.

An incremental one continues from the last that was delivered, so what a broken place did not take is
in the next. After an erasure its files are removed there, and it begins with a whole one again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.errors import ConflictError, MessorError, UsageError
from messor.exports import requests
from messor.exports.places import Places
from messor.exports.requests import NewExport
from messor.jobs import jobs
from messor.jobs.jobs import NewJob
from messor.ledger.events import Event, record
from messor.rights.uses import ApprovedUse, parsed
from messor.schedule import cron
from messor.schedule.orchestrators import Orchestrator, in_turn, repeated
from messor.schedule.standing_queries import StandingExport, get
from messor.store.database import Connection

MOST = 500  # standing exports
PER_STEP = 10
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")

ADD = """
INSERT INTO messor.standing_exports (id, name, noun, format, filters, options, cadence, place, is_incremental,
                                     next_run_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (name) DO NOTHING RETURNING true
"""
SWITCH = "UPDATE messor.standing_exports SET is_active = $2, next_run_at = $3 WHERE id = $1"
REMOVE = "DELETE FROM messor.standing_exports WHERE id = $1"
NOW = "SELECT messor.clock()"
# One whose last export is unfinished waits for it.
DUE = """
SELECT s.name,
       (SELECT x.id FROM messor.exports x
         WHERE x.standing_id = s.id AND x.state = 'done' AND x.delivered_as IS NOT NULL
           AND x.created_at > coalesce((SELECT max(e.created_at) FROM messor.erasures e), '-infinity')
         ORDER BY x.created_at DESC LIMIT 1) AS last
  FROM messor.standing_exports s
 WHERE s.is_active AND s.next_run_at <= (SELECT messor.clock())
   AND NOT EXISTS (SELECT FROM messor.exports x WHERE x.standing_id = s.id AND x.state IN ('queued', 'running'))
 ORDER BY s.next_run_at LIMIT $1 FOR UPDATE OF s SKIP LOCKED
"""
PLANNED = "UPDATE messor.standing_exports SET next_run_at = $2, problem = $3 WHERE id = $1"
HAS_OUTDATED = f"SELECT EXISTS ({requests.OUTDATED.replace('LIMIT 1000', '')})"


@dataclass(frozen=True, slots=True)
class NewStandingExport:
    """What is to be exported again and again; values as they were typed."""

    name: str
    noun: str
    format: str
    cadence: str
    place: str
    filters: Mapping[str, Any]
    columns: Sequence[str] = ()
    bom: bool = False
    is_incremental: bool = False
    uses: tuple[ApprovedUse, ...] = ()

    @property
    def export(self) -> NewExport:
        return NewExport(
            self.noun, self.format, self.filters, self.columns, self.bom, uses=self.uses
        )


async def add(
    connection: Connection,
    wanted: NewStandingExport,
    places: Places,
    *,
    actor: str,
    may_audit: bool = False,
) -> StandingExport:
    """Make a standing export, switched on; raises a sentence about the first fault."""
    if not _NAME.fullmatch(wanted.name):
        raise UsageError(
            "The name must consist of lower-case letters, digits, - and _, such as prices."
        )
    noun, _, filters = wanted.export.checked()
    places.of(wanted.place)
    following = cron.parse(wanted.cadence).after(await connection.fetchval(NOW))
    if await connection.fetchval("SELECT count(*) FROM messor.standing_exports") >= MOST:
        raise ConflictError(f"There are already {MOST} standing exports; remove one first.")
    if getattr(filters, "with_audit", False) and not may_audit:
        filters = filters.model_copy(update={"with_audit": False})
    is_new = await connection.fetchval(
        ADD, new_id(), wanted.name, noun.name, wanted.format,
        filters.model_dump_json(exclude_none=True), _json(wanted.export.options),
        wanted.cadence, wanted.place, wanted.is_incremental, following, actor,
    )  # fmt: skip
    if not is_new:
        raise ConflictError(f"There is already a standing export {wanted.name}.")
    made = await get(connection, wanted.name)
    await _record(connection, "export.standing_added", actor, made)
    return made


async def switch(connection: Connection, name: str, *, on: bool, actor: str) -> StandingExport:
    """Switch it on, from its next time, or off."""
    found = await get(connection, name)
    following = cron.parse(found.cadence).after(await connection.fetchval(NOW))
    await connection.execute(SWITCH, found.id, on, following)
    made = replace(found, is_active=on, next_run_at=following)
    await _record(connection, "export.standing_switched", actor, made)
    return made


async def remove(connection: Connection, name: str, *, actor: str) -> None:
    """Remove it; what it delivered stays where it is, and is still removed after an erasure."""
    found = await get(connection, name)
    await connection.execute(REMOVE, found.id)
    await _record(connection, "export.standing_removed", actor, found)


async def _record(connection: Connection, kind: str, actor: str, made: StandingExport) -> None:
    data = {
        "name": made.name, "noun": made.noun, "format": made.format, "cadence": made.cadence,
        "place": made.place, "is_active": made.is_active,
    }  # fmt: skip
    await record(connection, [Event(kind, actor, data=data)])


async def begin_due(connection: Connection, limit: int) -> int:
    """Begin the exports that are due; one that cannot be begun says why, and keeps its times."""
    now: datetime = await connection.fetchval(NOW)
    rows = await connection.fetch(DUE, limit)
    for row in rows:
        found = await get(connection, row["name"])
        problem = None
        try:
            await _begin(connection, found, row["last"])  # it fails before it writes
        except MessorError as error:  # such as a filter that a release no longer knows
            problem = str(error)
        following = cron.parse(found.cadence).after(now)
        await connection.execute(PLANNED, found.id, following, problem)
    return len(rows)


async def _begin(connection: Connection, found: StandingExport, last: UUID | None) -> None:
    since = str(last) if found.is_incremental and last is not None else None
    wanted = NewExport(
        found.noun,
        found.format,
        found.filters,
        tuple(found.options.get("columns", ())),
        bool(found.options.get("bom")),
        since,
        standing_id=found.id,
        place=found.place,
        uses=parsed(found.options.get("uses", ())),
    )
    # Whether it may hold the audit log was decided when it was made.
    await requests.begin(connection, wanted, actor=found.created_by, may_audit=True)


async def tidy(connection: Connection, _: int) -> int:
    """Ask for the removal of files that are too old, or older than an erasure."""
    if not await connection.fetchval(HAS_OUTDATED):
        return 0
    key = f"{requests.TIDY_JOB}:{await connection.fetchval(NOW):%Y-%m-%dT%H:%M}"
    return len(await jobs.enqueue(connection, [NewJob(requests.TIDY_JOB, key, "export")]))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


EXPORTS = Orchestrator(
    "O-Exports",
    "runs due standing exports; removes export files that are too old or contain erased data",
    "*/5 * * * *",
    in_turn(
        repeated("exports_begun", begin_due, PER_STEP), repeated("removals_asked_for", tidy, 2)
    ),
)
