-- Back to 004.
DROP FUNCTION messor.delete_old_rows(text, integer, integer);
DROP FUNCTION messor.drop_old_partition(text, integer);
DROP INDEX messor.ingestion_runs_open;
DROP TABLE messor.schedule_runs, messor.schedules, messor.leaders;

-- Makes the monthly partitions of a log from last month to `ahead` months from now, and one for
-- everything else, so that a clock gone wrong or a missed upkeep never loses a row.
CREATE OR REPLACE FUNCTION messor.make_partitions(log text, ahead int DEFAULT 3) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  month date;
BEGIN
  IF to_regclass(format('messor.%I', log || '_other')) IS NULL THEN
    EXECUTE format('CREATE TABLE messor.%I PARTITION OF messor.%I DEFAULT', log || '_other', log);
  END IF;
  FOR month IN
    SELECT generate_series(date_trunc('month', messor.clock()) - interval '1 month',
                           date_trunc('month', messor.clock()) + make_interval(months => ahead),
                           interval '1 month')
  LOOP
    -- Asked first: CREATE … IF NOT EXISTS would lock the log even when there is nothing to do.
    CONTINUE WHEN to_regclass(format('messor.%I', log || to_char(month, '_YYYY_MM'))) IS NOT NULL;
    EXECUTE format(
      'CREATE TABLE messor.%I PARTITION OF messor.%I FOR VALUES FROM (%L) TO (%L)',
      log || to_char(month, '_YYYY_MM'), log, month, month + interval '1 month');
  END LOOP;
END $$;

-- Upkeep of all logs; any worker does it, one at a time.
CREATE OR REPLACE FUNCTION messor.make_all_partitions() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF pg_try_advisory_xact_lock(hashtextextended('messor.partitions', 0)) THEN
    PERFORM messor.make_partitions(c.relname::text) FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'messor' AND c.relkind = 'p';
  END IF;
END $$;
DROP FUNCTION messor.partition_key(text);
