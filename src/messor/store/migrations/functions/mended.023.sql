-- A page whose snapshot has its own bytes at last was never rightly extracted. The record that it had
-- may be of this page all the same.
CREATE OR REPLACE FUNCTION messor.mended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.extraction_due (page_id, snapshot_id)
  SELECT t.page_id, t.snapshot_id FROM messor.crawl_tasks t
   WHERE t.page_id = NEW.page_id AND t.snapshot_id = NEW.id;
  INSERT INTO messor.spare_records (page_id, segment_id, segment_offset, segment_length)
  VALUES (OLD.page_id, coalesce(OLD.revisit_segment_id, OLD.segment_id),
          coalesce(OLD.revisit_offset, OLD.segment_offset),
          coalesce(OLD.revisit_length, OLD.segment_length)) ON CONFLICT DO NOTHING;
  IF OLD.text_segment_id IS NOT NULL
     AND (OLD.text_segment_id, OLD.text_offset) IS DISTINCT FROM (NEW.text_segment_id, NEW.text_offset) THEN
    INSERT INTO messor.spare_records (page_id, segment_id, segment_offset, segment_length)
    VALUES (OLD.page_id, OLD.text_segment_id, OLD.text_offset, OLD.text_length) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
