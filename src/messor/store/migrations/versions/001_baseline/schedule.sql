-- Orchestrators: who leads, when each runs next, how it went.

-- Leadership is a row that runs out: it needs no session, so a pooler in transaction mode is no
-- hindrance. The token grows with each new leader; every transaction of a run must show it.
CREATE TABLE messor.leaders (
  name text COLLATE "C" PRIMARY KEY,
  holder text NOT NULL,
  token bigint NOT NULL DEFAULT 1,
  taken_at timestamptz NOT NULL DEFAULT messor.clock(),
  expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- One row per orchestrator. Its usual cadence stands in the code; here is what a person set
-- instead, when it runs next, and how it went last time.
CREATE TABLE messor.schedules (
  name text COLLATE "C" PRIMARY KEY,
  cadence text,                                -- NULL: the usual one
  enabled boolean NOT NULL DEFAULT true,
  planned_from text,                           -- the cadence next_run_at was reckoned from
  next_run_at timestamptz,
  last_run_at timestamptz,
  last_finished_at timestamptz,
  last_outcome text CHECK (last_outcome IN ('ok', 'failed', 'interrupted')),
  last_detail jsonb,
  overridden_by text,
  overridden_at timestamptz,
  CHECK (cadence IS NULL OR (overridden_by IS NOT NULL AND overridden_at IS NOT NULL))
) WITH (fillfactor = 50);

CREATE TABLE messor.schedule_runs (
  name text COLLATE "C" NOT NULL,
  due_at timestamptz,                          -- the time it answers; NULL when run by hand
  started_at timestamptz NOT NULL,
  finished_at timestamptz,                     -- NULL when its process died
  outcome text NOT NULL CHECK (outcome IN ('ok', 'failed', 'interrupted')),
  started_by text NOT NULL,
  token bigint,                                -- of the leader; NULL when run by hand
  detail jsonb NOT NULL DEFAULT '{}'
) PARTITION BY RANGE (started_at);
CREATE INDEX schedule_runs_name ON messor.schedule_runs (name, started_at DESC);
SELECT messor.make_partitions('schedule_runs');
