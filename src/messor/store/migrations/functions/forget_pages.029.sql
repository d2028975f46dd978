-- Purges pages from every table that names them or their snapshots, tables of later migrations included; from
-- the logs only when asked to. Revisit, text and spare records are blanked too. Returns how many rows went.
CREATE OR REPLACE FUNCTION messor.forget_pages(ids bigint[], logs boolean) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  place record;
  snapshots bigint[];
  gone bigint := 0;
  rows bigint;
BEGIN
  PERFORM set_config('messor.removal', 'erasure', true);
  SELECT coalesce(array_agg(id), '{}') INTO snapshots FROM messor.page_snapshots WHERE page_id = ANY (ids);
  INSERT INTO messor.blanks (segment_id, segment_offset, segment_length)
  SELECT segment_id, segment_offset, segment_length FROM messor.page_snapshots WHERE id = ANY (snapshots)
   UNION
  SELECT revisit_segment_id, revisit_offset, revisit_length FROM messor.page_snapshots
   WHERE id = ANY (snapshots) AND revisit_segment_id IS NOT NULL
   UNION
  SELECT text_segment_id, text_offset, text_length FROM messor.page_snapshots
   WHERE id = ANY (snapshots) AND text_segment_id IS NOT NULL
   UNION
  SELECT segment_id, segment_offset, segment_length FROM messor.spare_records WHERE page_id = ANY (ids)
   ORDER BY 1, 2 ON CONFLICT DO NOTHING;
  INSERT INTO messor.forgotten_pages (page_id, logs) SELECT DISTINCT i, logs FROM unnest(ids) i ORDER BY 1
  ON CONFLICT (page_id) DO UPDATE SET logs = messor.forgotten_pages.logs OR excluded.logs;
  FOR place IN
    SELECT c.relname, a.attname FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'messor'
      JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
       AND a.attname IN ('snapshot_id', 'page_snapshot_id', 'page_id') AND a.atttypid = 'bigint'::regtype
     WHERE NOT c.relispartition AND (c.relkind = 'r' OR (c.relkind = 'p' AND logs))
       AND c.relname NOT IN ('forgotten_pages', 'crawl_tasks')
     -- What hangs on a snapshot before the snapshots themselves.
     ORDER BY c.relname = 'page_snapshots', a.attname DESC, c.relname
  LOOP
    EXECUTE format('DELETE FROM messor.%I WHERE %I = ANY ($1)', place.relname, place.attname)
      USING CASE WHEN place.attname = 'page_id' THEN ids ELSE snapshots END;
    GET DIAGNOSTICS rows = ROW_COUNT;
    gone := gone + rows;
  END LOOP;
  WITH left_by AS (
    DELETE FROM messor.pages WHERE id = ANY (ids) RETURNING host_id  -- its task goes with it
  )
  UPDATE messor.domains d SET pages_known = greatest(d.pages_known - l.pages, 0)
    FROM (SELECT h.domain_id, count(*) AS pages FROM left_by JOIN messor.hosts h ON h.id = left_by.host_id
           GROUP BY 1) l
   WHERE d.id = l.domain_id;
  RETURN gone;
END $$;
