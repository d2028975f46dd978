-- A task needs its page, as by a foreign key. Nobody else can delete a page that this transaction has made, so
-- only others are locked.
CREATE OR REPLACE FUNCTION messor.tasks_need_pages() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wanted bigint[] := ARRAY(SELECT page_id FROM added);
  own integer;
  held integer;
BEGIN
  SELECT count(*) INTO own FROM messor.pages
   WHERE id = ANY (wanted) AND xmin = pg_current_xact_id()::xid;
  IF own < cardinality(wanted) THEN
    PERFORM FROM messor.pages WHERE id = ANY (wanted) ORDER BY id FOR KEY SHARE;
    GET DIAGNOSTICS held = ROW_COUNT;
    IF held < cardinality(wanted) THEN
      RAISE foreign_key_violation USING MESSAGE = 'a task needs its page', TABLE = 'crawl_tasks';
    END IF;
  END IF;
  RETURN NULL;
END $$;
