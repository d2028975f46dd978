-- Queues extracted pages for the search index.
CREATE OR REPLACE FUNCTION messor.want_search() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.search_due (page_id) SELECT page_id FROM extracted ORDER BY page_id;
  RETURN NULL;
END $$;
