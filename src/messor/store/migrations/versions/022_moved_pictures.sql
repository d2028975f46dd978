-- Where a picture is now, after so many redirects; and redirects that were met and not yet followed.
ALTER TABLE messor.product_images ADD COLUMN moved_to text;
ALTER TABLE messor.product_images ADD COLUMN moves smallint NOT NULL DEFAULT 0;
CREATE TABLE messor.moved_pictures (
  page_id bigint PRIMARY KEY REFERENCES messor.pages (id) ON DELETE CASCADE,
  url text NOT NULL
);
-- One whose page was forgotten is not asked for again at once; one that has moved is.
DROP TRIGGER product_images_forget ON messor.product_images;
CREATE TRIGGER product_images_forget BEFORE UPDATE OF image_page_id ON messor.product_images
  FOR EACH ROW
  WHEN (OLD.image_page_id IS NOT NULL AND NEW.image_page_id IS NULL AND NEW.moves = OLD.moves)
  EXECUTE FUNCTION messor.forget_image();
