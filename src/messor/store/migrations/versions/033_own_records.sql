-- The bytes of a snapshot may lie in another page's record; then it has a revisit record of its own.
ALTER TABLE messor.page_snapshots
  ADD revisit_segment_id bigint, ADD revisit_offset bigint, ADD revisit_length integer,
  -- When it was found that the bytes are not those of this snapshot. Met again, they take their place.
  ADD misfiled_at timestamptz;

-- Records of a page that no snapshot points at: it was seen again with the same content in other bytes,
-- or could not be kept. They replay like others, and must go when the page is forgotten.
CREATE TABLE messor.spare_records (
  page_id bigint NOT NULL,
  segment_id bigint NOT NULL,
  segment_offset bigint NOT NULL,
  segment_length integer NOT NULL,
  PRIMARY KEY (page_id, segment_id, segment_offset)
);

-- A page whose snapshot has its own bytes at last was never rightly extracted. The record that it had
-- may be of this page all the same.
CREATE FUNCTION messor.mended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.extraction_due (page_id, snapshot_id)
  SELECT t.page_id, t.snapshot_id FROM messor.crawl_tasks t
   WHERE t.page_id = NEW.page_id AND t.snapshot_id = NEW.id;
  INSERT INTO messor.spare_records (page_id, segment_id, segment_offset, segment_length)
  VALUES (OLD.page_id, coalesce(OLD.revisit_segment_id, OLD.segment_id),
          coalesce(OLD.revisit_offset, OLD.segment_offset),
          coalesce(OLD.revisit_length, OLD.segment_length)) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER mended AFTER UPDATE ON messor.page_snapshots FOR EACH ROW
  WHEN (OLD.misfiled_at IS NOT NULL AND NEW.misfiled_at IS NULL) EXECUTE FUNCTION messor.mended();

-- As before, with the revisit and spare records of what is forgotten. Forgets pages in every table
-- that names them or their snapshots, tables of later migrations included; in the logs only when asked to. Answers how many rows went.
CREATE OR REPLACE FUNCTION messor.forget_pages(ids bigint[], logs boolean) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  place record;
  snapshots bigint[];
  gone bigint := 0;
  rows bigint;
BEGIN
  SELECT coalesce(array_agg(id), '{}') INTO snapshots FROM messor.page_snapshots WHERE page_id = ANY (ids);
  INSERT INTO messor.blanks (segment_id, segment_offset, segment_length)
  SELECT segment_id, segment_offset, segment_length FROM messor.page_snapshots WHERE id = ANY (snapshots)
   UNION
  SELECT revisit_segment_id, revisit_offset, revisit_length FROM messor.page_snapshots
   WHERE id = ANY (snapshots) AND revisit_segment_id IS NOT NULL
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
