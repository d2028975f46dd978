"""Vital signs: whether this process can serve, and the overall state at a glance."""

from __future__ import annotations

from dataclasses import dataclass

from messor.errors import UnavailableError
from messor.fetch.proxies import registry
from messor.frontier import control
from messor.insight.search_server import indexes
from messor.insight.search_server.indexes import IndexStatus
from messor.jobs import jobs, queries
from messor.ledger import alarms
from messor.ledger.alarms import Alarm, AlarmBoard
from messor.registry import review
from messor.store.database import LOST_CONNECTION, Database

WORKERS = """
SELECT count(*) FROM messor.worker_leases
 WHERE ended_at IS NULL AND expires_at > (SELECT messor.clock())
"""


@dataclass(frozen=True, slots=True)
class VitalCheck:
    """A condition for serving."""

    name: str
    ok: bool
    message: str


@dataclass(frozen=True, slots=True)
class Vitals:
    """The overall state."""

    revision: str | None
    workers: int
    domains_waiting: int
    is_standing_still: bool
    jobs: dict[str, dict[str, int]]
    alarms: list[Alarm]
    proxies_active: int
    proxies_failing: int  # last use failed, disabled or not
    search_indexes: list[IndexStatus]  # at a search server; none: PostgreSQL answers searches


async def readiness(database: Database) -> list[VitalCheck]:
    """Whether the database responds and its schema is the one of this release."""
    try:
        await database.require_schema()
    except UnavailableError:
        message = "is not the one this release needs"
        return [
            VitalCheck("database", ok=True, message="responds"),
            VitalCheck("schema", ok=False, message=message),
        ]
    except LOST_CONNECTION:
        return [VitalCheck("database", ok=False, message="does not respond")]
    return [
        VitalCheck("database", ok=True, message="responds"),
        VitalCheck("schema", ok=True, message="is current"),
    ]


async def vitals(database: Database, board: AlarmBoard | None = None) -> Vitals:
    """A few counts and current problems; `board` holds the alarms of this process."""
    proxies = await registry.standing(database)
    return Vitals(
        await database.revision(),
        await database.fetchval(WORKERS),
        await review.count(database),
        await control.is_standing_still(database),
        await jobs.counts(database),
        await alarms.standing(database, board),
        proxies.active,
        proxies.failing,
        await indexes.statuses(database),
    )


def are_many(found: Vitals) -> bool:
    """Whether there are too many jobs to count quickly."""
    return sum(sum(states.values()) for states in found.jobs.values()) > queries.MANY
