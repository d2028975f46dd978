-- Events about domains enter the change feed; an entry finds its event by transaction and id.
CREATE OR REPLACE FUNCTION messor.note_domain_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.changes (kind, state, topic, subject_uuid, domain_id, seen_at, ref_from)
  SELECT 'domain',
         CASE WHEN type = 'domain.submitted' THEN 'new' WHEN type = 'domain.erased' THEN 'erased' ELSE 'changed' END,
         type, domain_id, domain_id, occurred_at, id
    FROM added WHERE type LIKE 'domain.%' AND domain_id IS NOT NULL ORDER BY id;
  RETURN NULL;
END $$;
