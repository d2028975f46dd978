-- Notes which documents of the search index were written or deleted, for indexes outside PostgreSQL. A key is
-- enough: what the document says is read when it is sent. Nothing is noted while there is no such index.
CREATE OR REPLACE FUNCTION messor.note_search() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM messor.search_indexes) THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'DELETE' THEN
    INSERT INTO messor.search_outbox (page, record)
    SELECT page_id, record_id FROM removed ORDER BY id;
  ELSE
    INSERT INTO messor.search_outbox (page, record)
    SELECT page_id, record_id FROM added ORDER BY id;
  END IF;
  RETURN NULL;
END $$;
