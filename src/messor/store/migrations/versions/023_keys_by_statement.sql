-- Migration 023: a page's host and a task's page are looked up once for a statement. As foreign keys
-- they were looked up for each row, which took a third of what PostgreSQL spends on new links. What
-- holds is the same: no page without its host, no task without its page, and both go with it.
ALTER TABLE messor.pages DROP CONSTRAINT pages_host_id_fkey;
ALTER TABLE messor.crawl_tasks DROP CONSTRAINT crawl_tasks_page_id_fkey;

-- Hosts are locked as by a foreign key: one that is being deleted is waited for, and one that has
-- got a page is deleted with it.
CREATE FUNCTION messor.pages_need_hosts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wanted bigint[] := ARRAY(SELECT DISTINCT host_id FROM added);
  held integer;
BEGIN
  PERFORM FROM messor.hosts WHERE id = ANY (wanted) ORDER BY id FOR KEY SHARE;
  GET DIAGNOSTICS held = ROW_COUNT;
  IF held < cardinality(wanted) THEN
    RAISE foreign_key_violation USING MESSAGE = 'a page needs its host', TABLE = 'pages';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER pages_host AFTER INSERT ON messor.pages
  REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION messor.pages_need_hosts();

-- Nobody else can delete a page that this transaction has made, so only others are locked.
CREATE FUNCTION messor.tasks_need_pages() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER crawl_tasks_page AFTER INSERT ON messor.crawl_tasks
  REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION messor.tasks_need_pages();

-- Given as arrays, keys are looked up in their index however many there are.
CREATE FUNCTION messor.pages_go_with_hosts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM messor.pages WHERE host_id = ANY (ARRAY(SELECT id FROM removed));
  RETURN NULL;
END $$;
CREATE TRIGGER hosts_pages AFTER DELETE ON messor.hosts
  REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION messor.pages_go_with_hosts();

CREATE FUNCTION messor.tasks_go_with_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM messor.crawl_tasks WHERE page_id = ANY (ARRAY(SELECT id FROM removed));
  RETURN NULL;
END $$;
CREATE TRIGGER pages_tasks AFTER DELETE ON messor.pages
  REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION messor.tasks_go_with_pages();

-- Keys never change: only statements that name the column ask.
CREATE FUNCTION messor.refuse_another_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE foreign_key_violation
    USING MESSAGE = format('a row of %s stays where it is', TG_TABLE_NAME), TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER pages_stay BEFORE UPDATE OF host_id ON messor.pages
  FOR EACH ROW WHEN (OLD.host_id <> NEW.host_id) EXECUTE FUNCTION messor.refuse_another_key();
CREATE TRIGGER crawl_tasks_stay BEFORE UPDATE OF page_id ON messor.crawl_tasks
  FOR EACH ROW WHEN (OLD.page_id <> NEW.page_id) EXECUTE FUNCTION messor.refuse_another_key();
