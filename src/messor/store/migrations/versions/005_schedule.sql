-- Migration 005: what runs by itself, who leads, and the upkeep of the logs.

-- The column by which a log is partitioned.
CREATE FUNCTION messor.partition_key(log text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT substring(pg_get_partkeydef(format('messor.%I', log)::regclass) FROM '\((.*)\)')
$$;

-- Makes the monthly partitions of a log from last month to `ahead` months from now, and one for
-- everything else, so that a clock gone wrong or a missed upkeep never loses a row. Rows of a month
-- that already lie in that one, since nobody was there to make partitions, move to where they belong.
CREATE OR REPLACE FUNCTION messor.make_partitions(log text, ahead int DEFAULT 3) RETURNS void
LANGUAGE plpgsql SET timezone = 'UTC' AS $$
DECLARE
  month timestamptz;
  part text;
  span text;
  strays boolean;
BEGIN
  IF to_regclass(format('messor.%I', log || '_other')) IS NULL THEN
    EXECUTE format('CREATE TABLE messor.%I PARTITION OF messor.%I DEFAULT', log || '_other', log);
  END IF;
  FOR month IN
    SELECT generate_series(date_trunc('month', messor.clock()) - interval '1 month',
                           date_trunc('month', messor.clock()) + make_interval(months => ahead),
                           interval '1 month')
  LOOP
    part := log || to_char(month, '_YYYY_MM');
    -- Asked first: CREATE … IF NOT EXISTS would lock the log even when there is nothing to do.
    CONTINUE WHEN to_regclass(format('messor.%I', part)) IS NOT NULL;
    span := format('FROM (%L) TO (%L)', month, month + interval '1 month');
    EXECUTE format('SELECT EXISTS (SELECT FROM messor.%I WHERE %s >= $1 AND %2$s < $2)', log || '_other',
                   messor.partition_key(log)) INTO strays USING month, month + interval '1 month';
    IF strays THEN
      EXECUTE format('LOCK TABLE messor.%I IN ACCESS EXCLUSIVE MODE', log || '_other');
      EXECUTE format('CREATE TABLE messor.%I (LIKE messor.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
                     part, log);
      EXECUTE format('WITH moved AS (DELETE FROM messor.%I WHERE %s >= $1 AND %2$s < $2 RETURNING *)
                      INSERT INTO messor.%I SELECT * FROM moved', log || '_other',
                     messor.partition_key(log), part) USING month, month + interval '1 month';
      EXECUTE format('ALTER TABLE messor.%I ATTACH PARTITION messor.%I FOR VALUES %s', log, part, span);
    ELSE
      EXECUTE format('CREATE TABLE messor.%I PARTITION OF messor.%I FOR VALUES %s', part, log, span);
    END IF;
  END LOOP;
END $$;

-- Upkeep of all logs; one process does it at a time. A new partition locks its log, and whoever
-- writes to it waits behind us: so we hardly wait ourselves. A log that somebody is at has months
-- of time.
CREATE OR REPLACE FUNCTION messor.make_all_partitions() RETURNS void
LANGUAGE plpgsql SET lock_timeout = '200ms' AS $$
DECLARE
  log text;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('messor.partitions', 0)) THEN
    RETURN;
  END IF;
  FOR log IN SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
              WHERE n.nspname = 'messor' AND c.relkind = 'p' ORDER BY c.relname
  LOOP
    BEGIN
      PERFORM messor.make_partitions(log);
    EXCEPTION WHEN lock_not_available THEN
      RAISE NOTICE '% is in use; its partitions are made later', log;
    END;
  END LOOP;
END $$;

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

-- Runs that are under way, or whose process is gone: always few.
CREATE INDEX ingestion_runs_open ON messor.ingestion_runs (started_at) WHERE completed_at IS NULL;

-- Drops one monthly partition of a log that ended `months` ago or earlier, and answers its name.
-- The log is locked for that, and whoever writes to it waits behind us: so we hardly wait
-- ourselves, and leave it to the next sweep when somebody is at it.
CREATE FUNCTION messor.drop_old_partition(log text, months integer) RETURNS text
LANGUAGE plpgsql SET lock_timeout = '200ms' AS $$
DECLARE
  kept_from date := date_trunc('month', messor.clock() AT TIME ZONE 'UTC') - make_interval(months => months);
  old text;
BEGIN
  SELECT c.relname INTO old FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = format('messor.%I', log)::regclass
     AND c.relname ~ ('^' || log || '_\d{4}_\d{2}$')
     AND to_date(right(c.relname, 7), 'YYYY_MM') < kept_from
   ORDER BY c.relname LIMIT 1;
  IF old IS NOT NULL THEN
    EXECUTE format('DROP TABLE messor.%I', old);
  END IF;
  RETURN old;
EXCEPTION WHEN lock_not_available THEN
  RETURN NULL;
END $$;

-- The same for what lies in the partition for everything else: up to `most` rows at a time.
CREATE FUNCTION messor.delete_old_rows(log text, months integer, most integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  kept_from timestamptz :=
    date_trunc('month', messor.clock() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - make_interval(months => months);
  other text := format('messor.%I', log || '_other');
  deleted bigint;
BEGIN
  EXECUTE format('DELETE FROM %s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %s WHERE %s < $1 LIMIT $2))',
                 other, other, messor.partition_key(log)) USING kept_from, most;
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END $$;
