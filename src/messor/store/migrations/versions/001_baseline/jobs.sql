-- Jobs, their history, and hints for a broker.

CREATE TABLE messor.jobs (
  id uuid PRIMARY KEY,
  job_type text NOT NULL,
  target_kind text NOT NULL,
  target_id uuid,
  target_url text,
  input_hash text,
  prompt_version text,
  model text,
  dedupe_key text COLLATE "C" NOT NULL UNIQUE,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'dead', 'cancelled')),
  payload jsonb NOT NULL DEFAULT '{}',
  result_json jsonb,
  priority smallint NOT NULL DEFAULT 5 CHECK (priority BETWEEN 1 AND 10),
  available_at timestamptz NOT NULL DEFAULT messor.clock(),
  locked_at timestamptz,
  lock_expires_at timestamptz,
  locked_by text,
  token bigint NOT NULL DEFAULT 0,
  attempts smallint NOT NULL DEFAULT 0,
  max_attempts smallint NOT NULL DEFAULT 3,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  started_at timestamptz,
  finished_at timestamptz,
  -- Until its window ends, a finished job's key keeps the same work from being asked for again.
  window_ends_at timestamptz NOT NULL DEFAULT messor.clock() + interval '31 days',
  dead_category text,
  dead_type text,
  dead_reason text
)
-- Each claim and completion leaves a dead row version, whatever the table's size.
WITH (fillfactor = 70, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor
        = 0.05, autovacuum_analyze_threshold = 5000, autovacuum_analyze_scale_factor = 0.05,
        autovacuum_vacuum_cost_delay = 0);
-- Waiting and abandoned jobs alike: while a job runs, available_at is when its lease ends.
CREATE INDEX idx_jobs_claim ON messor.jobs (job_type, priority, available_at)
  WHERE state IN ('queued', 'running');
CREATE INDEX jobs_retiring ON messor.jobs (window_ends_at) WHERE state IN ('done', 'cancelled');
CREATE INDEX jobs_dead ON messor.jobs (job_type, finished_at) WHERE state = 'dead';
CREATE INDEX jobs_deliveries ON messor.jobs (target_id, created_at DESC) WHERE job_type = 'webhook';
-- Dead letters, the newest first.
CREATE INDEX jobs_died ON messor.jobs (finished_at DESC, id DESC) WHERE state = 'dead';
-- Disabled until a broker is first used: without one, asking for a job costs what it did.
CREATE TRIGGER jobs_hint AFTER INSERT ON messor.jobs
  REFERENCING NEW TABLE AS asked FOR EACH STATEMENT EXECUTE FUNCTION messor.note_hints();
ALTER TABLE messor.jobs DISABLE TRIGGER jobs_hint;

-- Jobs whose key no longer counts, as they ended.
CREATE TABLE messor.jobs_history (
  LIKE messor.jobs,
  retired_at timestamptz NOT NULL DEFAULT messor.clock()
) PARTITION BY RANGE (finished_at);
CREATE INDEX jobs_history_id ON messor.jobs_history (id);
SELECT messor.make_partitions('jobs_history');

-- One row per job asked for, written in its transaction; gone once the broker confirmed the hint.
CREATE TABLE messor.job_outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id uuid NOT NULL,
  job_type text NOT NULL,
  due_at timestamptz NOT NULL
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX job_outbox_due ON messor.job_outbox (due_at, id);

-- One process at a time carries the hints. The row runs out, so a pooler is no hindrance.
CREATE TABLE messor.outbox_relay (
  is_the_one boolean PRIMARY KEY DEFAULT true CHECK (is_the_one),
  holder text NOT NULL DEFAULT '',
  expires_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
INSERT INTO messor.outbox_relay DEFAULT VALUES;
