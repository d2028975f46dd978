-- Pause a domain or resume it, as `frontier.control` does with a whole domain.
CREATE OR REPLACE FUNCTION messor.hold_domain(own_id uuid, actor text, held boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  name text;
  tasks bigint;
BEGIN
  SELECT domain INTO STRICT name FROM messor.domains WHERE id = own_id FOR NO KEY UPDATE;
  UPDATE messor.domains
     SET paused = held, active = NOT held AND NOT EXISTS (SELECT FROM messor.standstill) WHERE id = own_id;
  IF NOT held THEN
    UPDATE messor.lanes l SET claim_at = greatest(l.ready_at, l.due_at)
     WHERE l.domain_id = own_id AND l.due_at IS NOT NULL AND l.worker_id IS NULL
       AND EXISTS (SELECT FROM messor.domains d WHERE d.id = own_id AND d.active);
  END IF;
  SELECT count(*) INTO tasks FROM messor.crawl_tasks t JOIN messor.hosts h ON h.id = t.host_id
   WHERE h.domain_id = own_id AND t.due_at IS NOT NULL AND t.kind <> 'robots';
  PERFORM messor.tell(CASE WHEN held THEN 'tasks.paused' ELSE 'tasks.resumed' END, actor, own_id, NULL,
    jsonb_build_object('scope', 'domain', 'name', name, 'tasks', tasks));
END $$;
