-- A figure as records state it; NULL for what is none.
CREATE OR REPLACE FUNCTION messor.figure(given text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN given ~ '^\s*-?[0-9]{1,15}(\.[0-9]{1,10})?\s*$' THEN given::numeric END
$$;
