-- Pages that were new, changed or removed enter the change feed: once per statement, however many.
CREATE OR REPLACE FUNCTION messor.note_page_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.changes (kind, state, subject, domain_id, seen_at, ref_from)
  SELECT 'page', a.state, a.page_id,
         (SELECT h.domain_id FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
           WHERE p.id = a.page_id),
         a.seen_at, a.snapshot_id
    FROM added a ORDER BY a.page_id, a.seen_at;
  RETURN NULL;
END $$;
