-- Of a picture whose page was forgotten nothing is known any more.
CREATE OR REPLACE FUNCTION messor.forget_image() RETURNS trigger LANGUAGE plpgsql AS $$
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
