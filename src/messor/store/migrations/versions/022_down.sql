DROP TRIGGER product_images_forget ON messor.product_images;
CREATE TRIGGER product_images_forget BEFORE UPDATE OF image_page_id ON messor.product_images
  FOR EACH ROW WHEN (OLD.image_page_id IS NOT NULL AND NEW.image_page_id IS NULL)
  EXECUTE FUNCTION messor.forget_image();
DROP TABLE messor.moved_pictures;
ALTER TABLE messor.product_images DROP COLUMN moves;
ALTER TABLE messor.product_images DROP COLUMN moved_to;
