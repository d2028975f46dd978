-- Organisations that were added or changed enter the change feed.
CREATE OR REPLACE FUNCTION messor.note_organisations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO messor.changes (kind, state, subject_uuid)
    SELECT 'organisation', 'new', id FROM added ORDER BY id;
  ELSE
    INSERT INTO messor.changes (kind, state, subject_uuid)
    SELECT 'organisation', 'changed', a.id FROM added a JOIN removed b ON b.id = a.id
     WHERE (a.name, a.location, a.external_id) IS DISTINCT FROM (b.name, b.location, b.external_id)
     ORDER BY a.id;
  END IF;
  RETURN NULL;
END $$;
