"""O-Sweeper: reclaims what dead processes left behind, and maintains log partitions.

Most of it also happens on the crawl path; here it happens when nothing runs there. Segments of
dead workers are sealed by the next worker on their own machine.
"""

from __future__ import annotations

from collections.abc import Mapping

from messor.access import key_policies, upkeep
from messor.errors import UsageError
from messor.jobs import history, leases
from messor.ledger import errors
from messor.ledger.errors import LoggedError
from messor.ledger.events import Event, record
from messor.politeness import limits
from messor.schedule.orchestrators import (
    Orchestrator,
    RunPosition,
    Step,
    StepResult,
    in_turn,
    repeated,
)
from messor.settings import Settings
from messor.store.database import Connection

NAME = "O-Sweeper"
LANES_PER_STEP = 1000
JOBS_PER_STEP = 1000
ROWS_PER_STEP = 10_000
JOB_GRACE_SECONDS = 60.0  # a heartbeat may be on its way
INGESTION_SECONDS = 3600.0

# Logs whose old partitions are dropped.
LOGS = (
    "http_fetches",
    "visits",
    "events",
    "changes",
    "decisions",
    "error_logs",
    "friction_log",
    "schedule_runs",
    "jobs_history",
)

# API responses kept for repeated requests.
DELETE_RESPONSES = """
WITH gone AS (
  DELETE FROM messor.idempotency_keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM messor.idempotency_keys WHERE expires_at < (SELECT messor.clock())
     LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1
)
SELECT count(*)::int FROM gone
"""

# Jobs of programs that waited, with their lists of pages; the pages themselves stay.
DELETE_SCRAPE_JOBS = """
WITH gone AS (
  DELETE FROM messor.scrape_jobs WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM messor.scrape_jobs
     WHERE expires_at < (SELECT messor.clock()) - interval '1 day'
     LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1
)
SELECT count(*)::int FROM gone
"""

REAP_WORKERS = "SELECT messor.reap_workers()"

# A runner that knows the job's type claims it anyway; this is for types without a runner. Suspects
# stay as they are, so that runners recognise them.
RECLAIM_JOBS = f"""
WITH moment AS MATERIALIZED (SELECT messor.clock() AS now), stuck AS (
  SELECT j.id, j.locked_by, j.attempts, j.attempts < j.max_attempts AS may_run
    FROM messor.jobs j
   WHERE j.state = 'running' AND NOT {leases.SUSPECT}
     AND j.available_at < (SELECT now FROM moment) - make_interval(secs => $1)
   ORDER BY j.id LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE messor.jobs j
   SET state = CASE WHEN s.may_run THEN 'queued' ELSE 'dead' END, token = j.token + 1,
       finished_at = CASE WHEN s.may_run THEN NULL ELSE m.now END,
       dead_category = CASE WHEN NOT s.may_run THEN 'internal' END,
       dead_type = CASE WHEN NOT s.may_run THEN 'LeaseExpired' END,
       dead_reason = CASE WHEN NOT s.may_run THEN
         format('The lease of worker %s expired during attempt %s.', s.locked_by, s.attempts) END,
       locked_by = NULL, locked_at = NULL, lock_expires_at = NULL
  FROM stuck s CROSS JOIN moment m WHERE j.id = s.id
RETURNING j.id, s.locked_by, s.attempts, s.may_run
"""

# Locked first, so that the next statement sees every task added before.
LOCK_IDLE_LANES = """
SELECT l.host_id FROM messor.lanes l
  JOIN messor.domains d ON d.id = l.domain_id AND d.status = 'approved' AND d.active
 WHERE l.host_id > $1 AND l.worker_id IS NULL AND l.claim_at IS NULL
 ORDER BY l.host_id LIMIT $2 FOR NO KEY UPDATE OF l
"""

WAKE_IDLE_LANES = """
UPDATE messor.lanes l SET due_at = n.due_at, claim_at = greatest(l.ready_at, n.due_at)
  FROM (SELECT lane.host_id,
               (SELECT min(first.due_at) FROM generate_series(0, 10) AS p (priority)
                 CROSS JOIN LATERAL (
                   SELECT t.due_at FROM messor.crawl_tasks t
                    WHERE t.host_id = lane.host_id AND t.priority = p.priority
                      AND t.due_at IS NOT NULL ORDER BY t.due_at LIMIT 1) first) AS due_at
          FROM unnest($1::bigint[]) AS lane (host_id)) n
 WHERE l.host_id = n.host_id AND n.due_at IS NOT NULL
RETURNING l.host_id
"""

END_INGESTIONS = """
UPDATE messor.ingestion_runs SET stage = 'done', completed_at = messor.clock(), outcome = 'error'
 WHERE completed_at IS NULL
   AND started_at < (SELECT messor.clock()) - make_interval(secs => $1)
RETURNING trace_id, orbit_slug, domain_id
"""

DROP_PARTITION = "SELECT messor.drop_old_partition($1, $2)"
DELETE_ROWS = "SELECT messor.delete_old_rows($1, $2, $3)"


async def reap_workers(connection: Connection, _: RunPosition) -> StepResult:
    return StepResult({"lanes_freed": await connection.fetchval(REAP_WORKERS)})


async def reclaim_jobs(connection: Connection, place: RunPosition) -> StepResult:
    rows = await connection.fetch(RECLAIM_JOBS, JOB_GRACE_SECONDS, JOBS_PER_STEP)
    faults = [
        LoggedError(
            "internal",
            "LeaseExpired",
            f"The lease of worker {row['locked_by']} expired during attempt {row['attempts']}.",
            None,
            job_id=row["id"],
        )
        for row in rows
    ]
    if faults:
        await errors.log(connection, faults)
    queued = sum(row["may_run"] for row in rows)
    counts = {"jobs_reclaimed": queued, "jobs_dead": len(rows) - queued}
    return StepResult(counts, place if len(rows) == JOBS_PER_STEP else None)


async def retire_jobs(connection: Connection, place: RunPosition) -> StepResult:
    """Move jobs whose dedupe key has expired to the history."""
    retired = await history.retire(connection, JOBS_PER_STEP)
    return StepResult({"jobs_retired": retired}, place if retired == JOBS_PER_STEP else None)


async def wake_lanes(connection: Connection, place: RunPosition) -> StepResult:
    """Wake lanes that have tasks but no wake-up time, as it was lost."""
    rows = await connection.fetch(LOCK_IDLE_LANES, place.host_id, LANES_PER_STEP)
    idle = [row["host_id"] for row in rows]
    woken = await connection.fetch(WAKE_IDLE_LANES, idle) if idle else []
    following = RunPosition(place.chore, idle[-1]) if len(idle) == LANES_PER_STEP else None
    return StepResult({"lanes_woken": len(woken)}, following)


async def end_ingestions(connection: Connection, _: RunPosition) -> StepResult:
    rows = await connection.fetch(END_INGESTIONS, INGESTION_SECONDS)
    data = {"reason": "its process was lost"}
    await record(
        connection,
        [
            Event(
                "ingestion.lost",
                NAME,
                row["domain_id"],
                data={"trace_id": row["trace_id"], "orbit": row["orbit_slug"], **data},
            )
            for row in rows
        ],
    )
    return StepResult({"ingestions_ended": len(rows)})


async def forget_visitors(connection: Connection, place: RunPosition) -> StepResult:
    """Delete expired sessions, links and limits."""
    swept = await upkeep.sweep(connection, ROWS_PER_STEP)
    swept["idempotency_keys"] = await connection.fetchval(DELETE_RESPONSES, ROWS_PER_STEP)
    swept["scrape_jobs"] = await connection.fetchval(DELETE_SCRAPE_JOBS, ROWS_PER_STEP)
    await key_policies.sweep(connection)
    more = any(count == ROWS_PER_STEP for count in swept.values())
    return StepResult({"access_rows_deleted": sum(swept.values())}, place if more else None)


async def make_partitions(connection: Connection, _: RunPosition) -> StepResult:
    await connection.execute("SELECT messor.make_all_partitions()")
    return StepResult({})


def retention(log: str, months: int) -> Step:
    """Drop a log's outdated partitions, one per step, then stray rows of that age."""

    async def chore(connection: Connection, place: RunPosition) -> StepResult:
        name = await connection.fetchval(DROP_PARTITION, log, months)
        if name is not None:
            data = {"log": log, "partition": name, "keep_months": months}
            await record(connection, [Event("retention.applied", NAME, data=data)])
            return StepResult({"partitions_dropped": 1}, place)
        rows = await connection.fetchval(DELETE_ROWS, log, months, ROWS_PER_STEP)
        counts = {"partitions_dropped": 0, "old_rows_deleted": rows}
        return StepResult(counts, place if rows == ROWS_PER_STEP else None)

    return chore


def retention_months(settings: Settings) -> dict[str, int]:
    """How many months each log is kept; 0 keeps it forever."""
    rules = settings.retention_by_log
    if unknown := sorted(rules.keys() - set(LOGS)):
        raise UsageError(
            f"MESSOR_RETENTION_BY_LOG names {unknown[0]!r}; the logs are {', '.join(LOGS)}."
        )
    if any(months < 0 for months in rules.values()):
        raise UsageError(
            "MESSOR_RETENTION_BY_LOG must be a number of months; 0 keeps a log forever."
        )
    return {log: rules.get(log, settings.retention_months) for log in LOGS}


def sweeper(keep_months: Mapping[str, int]) -> Orchestrator:
    """The sweeper of an installation with these retention periods."""
    kept = [retention(log, months) for log, months in keep_months.items() if months]
    step = in_turn(
        reap_workers,
        reclaim_jobs,
        retire_jobs,
        wake_lanes,
        end_ingestions,
        forget_visitors,
        repeated("traffic_sums_deleted", limits.forget, ROWS_PER_STEP),
        *kept,
        make_partitions,
    )
    return Orchestrator(
        NAME,
        "reclaims what dead processes held, and maintains log partitions",
        "*/5 * * * *",
        step,
    )
