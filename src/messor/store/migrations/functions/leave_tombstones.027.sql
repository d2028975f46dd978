-- Whatever is deleted, by whichever statement, leaves a tombstone in the change feed: what it was and whose,
-- never what it said. The trigger's argument is the kind. A product that was archived, or came back, is not gone.
CREATE OR REPLACE FUNCTION messor.leave_tombstones() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_ARGV[0] = 'page' THEN
    INSERT INTO messor.changes (kind, state, subject, domain_id)
    SELECT 'page', 'erased', r.id, (SELECT domain_id FROM messor.hosts WHERE id = r.host_id)
      FROM removed r ORDER BY r.id;
  ELSIF TG_ARGV[0] = 'snapshot' THEN
    INSERT INTO messor.changes (kind, state, subject, domain_id, ref_from)
    SELECT 'snapshot', 'erased', r.id,
           (SELECT h.domain_id FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id WHERE p.id = r.page_id),
           r.page_id
      FROM removed r ORDER BY r.id;
  ELSIF TG_ARGV[0] = 'record' THEN
    INSERT INTO messor.changes (kind, state, topic, subject, domain_id, ref_from)
    SELECT 'record', 'erased', kind, id, domain_id, page_id FROM removed ORDER BY id;
  ELSIF TG_ARGV[0] = 'product' THEN
    INSERT INTO messor.changes (kind, state, subject, domain_id, ref_from, ref_to)
    SELECT 'product', 'erased', r.id, r.domain_id, r.page_id, r.record_id FROM removed r
     WHERE NOT EXISTS (SELECT FROM messor.archived_products a WHERE a.id = r.id)
       AND NOT EXISTS (SELECT FROM messor.products p WHERE p.id = r.id) ORDER BY r.id;
  ELSIF TG_ARGV[0] = 'candidate' THEN
    INSERT INTO messor.changes (kind, state, subject_uuid, domain_id)
    SELECT 'candidate', 'erased', id, domain_id FROM removed ORDER BY id;
  ELSIF TG_ARGV[0] = 'serp' THEN
    INSERT INTO messor.changes (kind, state, subject_uuid)
    SELECT 'serp', 'erased', id FROM removed WHERE outcome <> 'failed' ORDER BY id;
  ELSE
    INSERT INTO messor.changes (kind, state, subject_uuid)
    SELECT TG_ARGV[0], 'erased', id FROM removed ORDER BY id;
  END IF;
  RETURN NULL;
END $$;
