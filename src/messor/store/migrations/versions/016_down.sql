-- Back to 015.
DROP TRIGGER product_images_forget ON messor.product_images;
DROP FUNCTION messor.forget_image();
ALTER TABLE messor.product_images DROP image_page_id, DROP media_type, DROP refusal, DROP refused_at;
DROP TABLE messor.barren_pages;
CREATE OR REPLACE FUNCTION messor.note_hints() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messor.job_outbox (job_id, job_type, due_at)
  SELECT id, job_type, available_at FROM asked
   WHERE state = 'queued'
     AND EXISTS (SELECT FROM messor.outbox_relay
                  WHERE expires_at > (SELECT messor.clock()) - interval '1 hour');
  RETURN NULL;
END $$;
