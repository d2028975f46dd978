-- Record an event in this transaction.
CREATE OR REPLACE FUNCTION messor.tell(kind text, actor text, of_domain uuid, of_page bigint, facts jsonb)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO messor.events (type, actor, domain_id, page_id, data) VALUES (kind, actor, of_domain, of_page, facts)
$$;
