"""The archive on object stores: what must still be deleted there, and texts kept in segments."""

from alembic import op

from messor.store.migration_script import use_function

revision = "019_object_archive"
down_revision = "018_standing_exports"
branch_labels = None
depends_on = None

GARBAGE = """
CREATE TABLE messor.dead_segments (
  name text PRIMARY KEY,
  noted_at timestamptz NOT NULL DEFAULT messor.clock(),
  delete_after timestamptz NOT NULL
)
"""
IMAGES = """
CREATE INDEX product_images_segment ON messor.product_images (split_part(image_path, '@', 1))
 WHERE image_path IS NOT NULL
"""
SINGLE = """
CREATE INDEX segments_single ON messor.segments (id)
 WHERE state = 'sealed' AND strpos(name, '://') > 0 AND strpos(name, '#') = 0
"""
FOLLOW = """
CREATE TRIGGER follow_segment AFTER UPDATE OF name ON messor.segments FOR EACH ROW
  WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION messor.follow_segment()
"""


def upgrade() -> None:
    op.execute(GARBAGE)
    op.execute(IMAGES)
    op.execute(SINGLE)
    use_function("follow_segment", "019")
    op.execute(FOLLOW)


def downgrade() -> None:
    op.execute("DROP TRIGGER follow_segment ON messor.segments")
    op.execute("DROP FUNCTION messor.follow_segment()")
    op.execute("DROP INDEX messor.segments_single")
    op.execute("DROP INDEX messor.product_images_segment")
    op.execute("DROP TABLE messor.dead_segments")
