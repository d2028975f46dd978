-- Where the running transaction stands in the order of commits. Like the server's own number, but it goes on
-- when the database moves to another cluster, where the server's numbers begin anew.
CREATE OR REPLACE FUNCTION messor.commit_position() RETURNS xid8 LANGUAGE sql STABLE AS $$
  SELECT ((pg_current_xact_id()::text::bigint + messor.commit_shift())::text)::xid8
$$;
