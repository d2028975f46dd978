-- Deletes rows that ended `months` ago or earlier from a log's partition for everything else: up to `most` at
-- a time.
CREATE OR REPLACE FUNCTION messor.delete_old_rows(log text, months integer, most integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  kept_from timestamptz :=
    date_trunc('month', messor.clock() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - make_interval(months => months);
  other text := format('messor.%I', log || '_other');
  deleted bigint;
  month date;
BEGIN
  FOR month IN EXECUTE format(
    'SELECT DISTINCT date_trunc(''month'', %s AT TIME ZONE ''UTC'')::date FROM %s WHERE %1$s < $1',
    messor.partition_key(log), other) USING kept_from
  LOOP
    PERFORM messor.unseal_month(log, month);
  END LOOP;
  EXECUTE format('DELETE FROM %s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %s WHERE %s < $1 LIMIT $2))',
                 other, other, messor.partition_key(log)) USING kept_from, most;
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END $$;
