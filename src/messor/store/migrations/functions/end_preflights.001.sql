-- What was decided needs no first look: a pre-flight under way ends with the decision.
CREATE OR REPLACE FUNCTION messor.end_preflights() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE messor.lanes SET preflight = false WHERE domain_id = NEW.id AND preflight;
  UPDATE messor.crawl_tasks t SET due_at = NULL, status = 'cancelled' FROM messor.preflights p
   WHERE p.domain_id = NEW.id AND p.finished_at IS NULL AND t.page_id = p.page_id;
  DELETE FROM messor.preflights WHERE domain_id = NEW.id AND finished_at IS NULL;
  RETURN NULL;
END $$;
