-- Result pages of search engines enter the change feed; a failed one is a gap and no change.
CREATE OR REPLACE FUNCTION messor.note_serps() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.changes (kind, state, topic, subject_uuid, seen_at)
  SELECT 'serp', 'new', engine, id, captured_at FROM added WHERE outcome <> 'failed' ORDER BY id;
  RETURN NULL;
END $$;
