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
