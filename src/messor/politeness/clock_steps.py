"""Steps of the database clock: stored waits keep their intended length.

All waits are stored as times on that clock. When it steps, because a wrong time is corrected or a
correct one goes wrong, those times change their meaning: after an hour ahead, lanes stand still
for an hour; set forward, a Retry-After of half an hour is over at once. Each lane stores the
clock's time when its `ready_at` was set (`paced_at`), so the intended wait is known and never cut
short. Detecting a step is up to the clock watch.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from messor.store.database import Database

BATCH = 1000  # lanes locked at a time
JOB_LEASE = timedelta(seconds=60)
LEADER_LEASE = timedelta(seconds=30)
LONGEST_LEASE = timedelta(minutes=10)  # of a job or leader
PATIENCE = "SET LOCAL idle_in_transaction_session_timeout = '300s'"

# Running waits keep their length. Waits set since the step are recognised by their timestamp and
# left alone, so a second process finds nothing to do.
FORWARD_LANES = """
UPDATE messor.lanes l
   SET ready_at = l.ready_at + $1::interval,
       claim_at = CASE WHEN l.worker_id IS NULL AND l.due_at IS NOT NULL
                       THEN greatest(l.ready_at + $1::interval, l.due_at) ELSE l.claim_at END
  FROM (SELECT host_id FROM messor.lanes
         WHERE ready_at > $2 AND coalesce(paced_at, $2) < $2::timestamptz + $1::interval / 2
         ORDER BY host_id FOR NO KEY UPDATE) w
 WHERE l.host_id = w.host_id
"""
FORWARD_HOSTS = """
UPDATE messor.hosts SET cooldown_until = cooldown_until + $1::interval, updated_at = messor.clock()
 WHERE cooldown_until > $2 AND updated_at < $2::timestamptz + $1::interval / 2
"""
FORWARD_HOLDS = """
UPDATE messor.provider_holds SET held_until = held_until + $1::interval, set_at = messor.clock()
 WHERE held_until > $2 AND coalesce(set_at, $2) < $2::timestamptz + $1::interval / 2
"""
NOTE_FORWARD = """
INSERT INTO messor.clock_watch (seen_at, ahead_from) VALUES (messor.clock(), $1)
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, ahead_from = excluded.ahead_from
"""

# Only one process repairs a step back, and locks nothing else meanwhile; if it dies, another does.
CLAIM_BACK = """
SELECT seen_at, ahead_from, messor.clock() AS now FROM messor.clock_watch
 WHERE seen_at > messor.clock() + $1::interval FOR UPDATE SKIP LOCKED
"""
DONE_BACK = "UPDATE messor.clock_watch SET seen_at = messor.clock(), ahead_from = NULL"

LOCK_LANES = """
SELECT host_id FROM messor.lanes WHERE host_id > $1 ORDER BY host_id LIMIT $2 FOR NO KEY UPDATE
"""
# Tasks do not store when they were scheduled. Those fetched or found while the clock was ahead are
# recognised by that, those made due immediately by being due within that period. A page that comes
# too early for its frequency does no harm: its lane keeps the pace.
BACK_TASKS = """
UPDATE messor.crawl_tasks t SET due_at = t.due_at - $2::interval
  FROM messor.pages p
 WHERE t.host_id = ANY ($1::bigint[]) AND p.id = t.page_id AND t.due_at > messor.clock()
   AND (t.last_fetched_at > messor.clock() OR p.found_at > messor.clock()
        OR t.due_at BETWEEN $3 AND $4)
"""
BACK_LANES = """
UPDATE messor.lanes l
   SET ready_at = n.ready_at, paced_at = least(l.paced_at, messor.clock()), due_at = n.due_at,
       claim_at = CASE WHEN n.due_at IS NOT NULL THEN greatest(n.ready_at, n.due_at) END
  FROM (SELECT o.host_id,
               CASE WHEN o.paced_at > messor.clock()
                    THEN messor.clock() + greatest(o.ready_at - o.paced_at, interval '0')
                    ELSE o.ready_at END AS ready_at,
               (SELECT min(first.due_at) FROM generate_series(0, 10) AS p (priority)
                  CROSS JOIN LATERAL (
                    SELECT t.due_at FROM messor.crawl_tasks t
                     WHERE t.host_id = o.host_id AND t.priority = p.priority
                       AND t.due_at IS NOT NULL ORDER BY t.due_at LIMIT 1) first) AS due_at
          FROM messor.lanes o WHERE o.host_id = ANY ($1::bigint[])
           AND (o.paced_at > messor.clock() OR o.claim_at > messor.clock())) n
 WHERE l.host_id = n.host_id
"""
BACK_HOSTS = """
UPDATE messor.hosts
   SET cooldown_until = messor.clock() + greatest(cooldown_until - updated_at, interval '0'),
       updated_at = messor.clock()
 WHERE cooldown_until > messor.clock() AND updated_at > messor.clock()
"""
BACK_HOLDS = """
UPDATE messor.provider_holds
   SET held_until = messor.clock() + greatest(held_until - set_at, interval '0'), set_at = messor.clock()
 WHERE set_at > messor.clock()
"""
# When a run's command was last seen: with a future time, a dead one would count as alive.
BACK_RUNS = "UPDATE messor.crawl_runs SET seen_at = messor.clock() WHERE seen_at > messor.clock()"
# No lease is longer than its holder requests: a later expiry was granted by the wrong time.
BACK_WORKERS = """
UPDATE messor.worker_leases SET expires_at = messor.clock() + $1::interval
 WHERE ended_at IS NULL AND expires_at > messor.clock() + 2 * $1::interval
"""
BACK_LEADERS = """
UPDATE messor.leaders SET expires_at = messor.clock() + $1::interval
 WHERE expires_at > messor.clock() + $2::interval
"""
BACK_RUNNING = """
UPDATE messor.jobs SET available_at = messor.clock() + $1::interval,
       lock_expires_at = messor.clock() + $1::interval
 WHERE state = 'running' AND available_at > messor.clock() + $2::interval
"""
BACK_QUEUED = """
UPDATE messor.jobs SET available_at = available_at - $1::interval
 WHERE state = 'queued' AND available_at > messor.clock()
   AND (created_at > messor.clock() OR started_at > messor.clock()
        OR available_at BETWEEN $2 AND $3)
"""
BACK_SCHEDULES = """
UPDATE messor.schedules SET next_run_at = NULL, last_run_at = messor.clock(),
       last_finished_at = least(last_finished_at, messor.clock())
 WHERE last_run_at > messor.clock()
"""
# Other, mostly short waits. Times after the first wrong one were set by it, or now come a little
# early, which is harmless.
OTHER_WAITS = (
    ("login_throttles", "open_at"),
    ("rate_limits", "spent_until"),
    ("job_outbox", "due_at"),
    ("outbox_relay", "expires_at"),
    ("proxies", "probe_at"),
    ("search_requests", "held_until"),
)
BACK_OTHERS = """
UPDATE messor.{table} SET {column} = {column} - $1::interval
 WHERE {column} >= $2 AND {column} > messor.clock()
"""
# A page being read is locked for long, and will be finished.
BACK_READING = """
UPDATE messor.extraction_due d SET due_at = d.due_at - $1::interval
  FROM (SELECT id FROM messor.extraction_due
         WHERE due_at >= $2 AND due_at > messor.clock() FOR UPDATE SKIP LOCKED) w
 WHERE d.id = w.id
"""


async def move_forward(database: Database, step: timedelta, before: datetime) -> None:
    """Extend running waits after the clock, which read `before`, has stepped forward."""
    async with database.transaction() as connection:
        await connection.execute(FORWARD_LANES, step, before)
        await connection.execute(FORWARD_HOSTS, step, before)
        await connection.execute(FORWARD_HOLDS, step, before)
        await connection.execute(NOTE_FORWARD, before + step / 2)


async def move_back(
    database: Database, step: timedelta | None, min_step: timedelta, worker_lease: timedelta
) -> timedelta | None:
    """Repair times written while the clock was ahead; return by how much, None if not needed.

    `step` is what a clock watch measured; without one, the last time seen is used.
    """
    async with database.transaction() as holding:
        await holding.execute(PATIENCE)
        row = await holding.fetchrow(CLAIM_BACK, min_step)
        if row is None:
            return None
        seen, back = row["seen_at"], step or row["seen_at"] - row["now"]
        started_at = row["ahead_from"] or seen - timedelta(minutes=1)
        await _repair_leases(database, back, (started_at, seen + min_step), worker_lease)
        await _repair_lanes(database, back, (started_at, seen + min_step))
        await holding.execute(DONE_BACK)
    return back


async def _repair_leases(
    database: Database,
    back: timedelta,
    wrong: tuple[datetime, datetime],
    worker_lease: timedelta,
) -> None:
    """Repair leases and other waits, one transaction each, so flushes and renewals never wait long."""
    for table, column in OTHER_WAITS:
        await database.fetch(BACK_OTHERS.format(table=table, column=column), back, wrong[0])
    for sql, *values in (
        (BACK_READING, back, wrong[0]),
        (BACK_HOSTS,),
        (BACK_HOLDS,),
        (BACK_RUNS,),
        (BACK_WORKERS, worker_lease),
        (BACK_LEADERS, LEADER_LEASE, LONGEST_LEASE),
        (BACK_RUNNING, JOB_LEASE, LONGEST_LEASE),
        (BACK_QUEUED, back, *wrong),
        (BACK_SCHEDULES,),
    ):
        await database.fetch(sql, *values)


async def _repair_lanes(
    database: Database, back: timedelta, wrong: tuple[datetime, datetime]
) -> None:
    """Repair lanes in batches, each lane locked before its tasks, as in a flush."""
    last = 0
    while True:
        async with database.transaction() as connection:
            rows = await connection.fetch(LOCK_LANES, last, BATCH)
            if not rows:
                return
            ids = [row["host_id"] for row in rows]
            await connection.execute(BACK_TASKS, ids, back, *wrong)
            await connection.execute(BACK_LANES, ids)
        last = ids[-1]
