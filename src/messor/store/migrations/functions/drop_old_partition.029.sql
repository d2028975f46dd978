-- Drops one monthly partition of a log that ended `months` ago or earlier, and answers its name.
-- The log is locked for that, and whoever writes to it waits behind us: so we hardly wait
-- ourselves, and leave it to the next sweep when somebody is at it.
CREATE OR REPLACE FUNCTION messor.drop_old_partition(log text, months integer) RETURNS text
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
    PERFORM messor.unseal_month(log, to_date(right(old, 7), 'YYYY_MM'));
    EXECUTE format('DROP TABLE messor.%I', old);
  END IF;
  RETURN old;
EXCEPTION WHEN lock_not_available THEN
  RETURN NULL;
END $$;
