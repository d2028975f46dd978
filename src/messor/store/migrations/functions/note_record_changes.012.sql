-- Changes of records enter the change feed: all fields of a record that changed together are one entry,
-- which points at their rows.
CREATE OR REPLACE FUNCTION messor.note_record_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.changes (kind, state, topic, subject, domain_id, seen_at, ref_from, ref_to)
  SELECT 'record', a.state, r.kind, a.record_id, r.domain_id, a.changed_at, a.first, a.last
    FROM (SELECT record_id, state, max(changed_at) AS changed_at, min(id) AS first, max(id) AS last
            FROM added GROUP BY record_id, state) a
   CROSS JOIN LATERAL (SELECT kind, domain_id FROM messor.records WHERE id = a.record_id LIMIT 1) r
   ORDER BY a.first;
  RETURN NULL;
END $$;
