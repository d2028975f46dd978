-- What is added to a transaction's number in this cluster. `follow_cluster` replaces this function: as a
-- constant it is inlined, which costs a twelfth of reading it from a table for each row.
CREATE OR REPLACE FUNCTION messor.commit_shift() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT 0::bigint
$$;
