"""O-Refresh: makes unproductive pages rarely due, and tidies the model's ledger.

It runs before O-Daily, which leaves deferred pages alone.
"""

from __future__ import annotations

from messor.ai import ledger
from messor.insight.relevance import unproductive
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult, in_turn, repeated
from messor.store.database import Connection

HOSTS_PER_STEP = 100
PAGES_PER_STEP = 2_000

# Facts of many pages are collected.
PATIENCE = "SET LOCAL statement_timeout = '15min'"
HOSTS = """
SELECT h.id FROM messor.hosts h JOIN messor.domains d ON d.id = h.domain_id
 WHERE h.id >= $1 AND d.status = 'approved' AND d.active ORDER BY h.id LIMIT $2
"""


async def _put_off(connection: Connection, place: RunPosition) -> StepResult:
    await connection.execute(PATIENCE)
    rows = await connection.fetch(HOSTS, place.host_id, HOSTS_PER_STEP)
    hosts = [row["id"] for row in rows]
    count = await unproductive.put_off(connection, host_ids=hosts, most=PAGES_PER_STEP)
    following = None
    if count == PAGES_PER_STEP:
        following = place
    elif len(hosts) == HOSTS_PER_STEP:
        following = RunPosition(place.chore, hosts[-1] + 1)
    return StepResult({"pages_put_off": count}, following)


async def _tidy(connection: Connection, _: RunPosition) -> StepResult:
    return StepResult({"ledger_rows_deleted": await ledger.tidy(connection)})


step = in_turn(
    repeated("pages_brought_back", unproductive.bring_back, PAGES_PER_STEP), _put_off, _tidy
)

REFRESH = Orchestrator(
    "O-Refresh",
    "crawls pages rarely that were unproductive for 90 days, and tidies the model's ledger",
    "45 1 * * *",
    step,
)
