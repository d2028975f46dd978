-- The column by which a log is partitioned.
CREATE OR REPLACE FUNCTION messor.partition_key(log text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT substring(pg_get_partkeydef(format('messor.%I', log)::regclass) FROM '\((.*)\)')
$$;
