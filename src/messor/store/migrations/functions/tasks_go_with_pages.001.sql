-- A deleted page takes its task along.
CREATE OR REPLACE FUNCTION messor.tasks_go_with_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM messor.crawl_tasks WHERE page_id = ANY (ARRAY(SELECT id FROM removed));
  RETURN NULL;
END $$;
