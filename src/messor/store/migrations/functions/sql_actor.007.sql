-- Who writes to a view, as events name them.
CREATE OR REPLACE FUNCTION messor.sql_actor() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT 'sql:' || session_user
$$;
