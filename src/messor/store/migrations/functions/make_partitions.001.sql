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
