-- The paths of images name their segment: when it moves, they follow.
CREATE OR REPLACE FUNCTION messor.follow_segment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE messor.product_images
     SET image_path = NEW.name || substring(image_path FROM length(OLD.name) + 1)
   WHERE split_part(image_path, '@', 1) = OLD.name;
  RETURN NULL;
END $$;
