-- The oldest position that may still be written: all before it is complete.
CREATE OR REPLACE FUNCTION messor.commit_horizon() RETURNS xid8 LANGUAGE sql STABLE AS $$
  SELECT ((pg_snapshot_xmin(pg_current_snapshot())::text::bigint + messor.commit_shift())::text)::xid8
$$;
