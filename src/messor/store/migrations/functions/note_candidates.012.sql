-- Candidates that were found, or whose status changed, enter the change feed.
CREATE OR REPLACE FUNCTION messor.note_candidates() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO messor.changes (kind, state, topic, subject_uuid, domain_id)
    SELECT 'candidate', 'new', status, id, domain_id FROM added ORDER BY id;
  ELSE
    INSERT INTO messor.changes (kind, state, topic, was, subject_uuid, domain_id)
    SELECT 'candidate', 'changed', a.status, b.status, a.id, a.domain_id
      FROM added a JOIN removed b ON b.id = a.id AND b.status <> a.status ORDER BY a.id;
  END IF;
  RETURN NULL;
END $$;
