-- Migration 016: pages that are looked at rarely, and pictures that are downloaded.

-- Pages that led to nothing for months: until then they are not made due by a track level.
CREATE TABLE messor.barren_pages (
  page_id bigint PRIMARY KEY,
  until timestamptz NOT NULL,
  put_off_at timestamptz NOT NULL DEFAULT messor.clock()
);
CREATE INDEX barren_pages_until ON messor.barren_pages (until);

-- A picture is fetched as a page of its own, whose bytes lie in the archive.
ALTER TABLE messor.product_images
  ADD image_page_id bigint REFERENCES messor.pages ON DELETE SET NULL,
  ADD media_type text,
  ADD refusal text,                            -- why it is not downloaded
  ADD refused_at timestamptz;
CREATE INDEX product_images_fetched ON messor.product_images (image_page_id)
  WHERE image_page_id IS NOT NULL;
CREATE INDEX product_images_waiting ON messor.product_images (id) WHERE image_page_id IS NULL;

-- Of a picture whose page was forgotten nothing is known any more.
CREATE FUNCTION messor.forget_image() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.image_path := NULL;
  NEW.content_hash := NULL;
  NEW.media_type := NULL;
  NEW.width := NULL;
  NEW.height := NULL;
  NEW.file_size := NULL;
  NEW.refusal := 'Its page was forgotten.';
  NEW.refused_at := messor.clock();
  RETURN NEW;
END $$;
CREATE TRIGGER product_images_forget BEFORE UPDATE OF image_page_id ON messor.product_images
  FOR EACH ROW WHEN (OLD.image_page_id IS NOT NULL AND NEW.image_page_id IS NULL)
  EXECUTE FUNCTION messor.forget_image();

-- Pages are put to a model where they are extracted, by whoever looks for such jobs: no hint is due.
CREATE OR REPLACE FUNCTION messor.note_hints() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.job_outbox (job_id, job_type, due_at)
  SELECT id, job_type, available_at FROM asked
   WHERE state = 'queued' AND job_type <> 'extract_ai'
     AND EXISTS (SELECT FROM messor.outbox_relay
                  WHERE expires_at > (SELECT messor.clock()) - interval '1 hour');
  RETURN NULL;
END $$;
