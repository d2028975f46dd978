"""Texts in the archive: where a snapshot's text is, if not in `snapshot_texts`."""

from alembic import op

from messor.store.migration_script import use_function

revision = "023_archived_texts"
down_revision = "022_backups"
branch_labels = None
depends_on = None

COLUMNS = {
    "text_segment_id": "bigint",
    "text_offset": "bigint",
    "text_length": "integer",
    "text_words": "integer",
}
# Views show what is in PostgreSQL: the text of an archived one is NULL, its words are counted.
MESSOR_CONTENT = """
CREATE OR REPLACE VIEW messor.page_content AS
SELECT DISTINCT ON (s.page_id, s.content_hash) s.id, s.page_id, s.content_hash, t.markdown,
       {words} AS word_count, s.provider, s.crawled_at AS fetched_at
  FROM messor.page_snapshots s {join} messor.snapshot_texts t ON t.snapshot_id = s.id
 ORDER BY s.page_id, s.content_hash, s.id DESC
"""
WELLNESS_CONTENT = """
CREATE OR REPLACE VIEW wellness.page_content AS
SELECT s.id, s.page_id, encode(s.content_hash, 'hex') AS content_hash, t.markdown,
       {words} AS word_count, s.provider, s.crawled_at AS fetched_at
  FROM messor.page_snapshots s LEFT JOIN messor.snapshot_texts t ON t.snapshot_id = s.id
 WHERE NOT EXISTS (SELECT FROM messor.page_snapshots n WHERE n.page_id = s.page_id
                      AND n.content_hash = s.content_hash AND n.id > s.id)
"""
CACHE = """
CREATE OR REPLACE VIEW messor.url_fetch_cache AS
SELECT encode(p.url_hash, 'hex') AS url_hash, p.url, h.host AS hostname, x.markdown AS content,
       s.status_code, jsonb_strip_nulls(jsonb_build_object('Content-Type', s.content_type,
         'ETag', t.etag, 'Last-Modified', t.last_modified)) AS headers,
       encode(s.content_hash, 'hex') AS content_hash, t.last_fetched_at AS fetched_at,
       t.last_fetched_at + interval '24 hours' AS expires_at, p.id AS page_id, s.id AS snapshot_id
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.hosts h ON h.id = t.host_id
  JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  {join} messor.snapshot_texts x ON x.snapshot_id = s.id
 WHERE t.outcome IN ('ok', 'unchanged') AND t.kind = 'page'
"""
COUNTED = "messor.count_words(t.markdown)"
# What would be lost is said instead of being lost.
REFUSE = """
DO $$ BEGIN
  IF EXISTS (SELECT FROM messor.page_snapshots WHERE text_segment_id IS NOT NULL) THEN
    RAISE EXCEPTION 'Texts are in the archive. Bring them back first: MESSOR_TEXTS=database messor archive move --texts';
  END IF;
END $$
"""


def upgrade() -> None:
    for name, kind in COLUMNS.items():
        op.execute(f"ALTER TABLE messor.page_snapshots ADD COLUMN {name} {kind}")
    use_function("forget_pages", "023")
    use_function("mended", "023")
    words = f"coalesce({COUNTED}, s.text_words)"
    op.execute(MESSOR_CONTENT.format(words=words, join="LEFT JOIN"))
    op.execute(WELLNESS_CONTENT.format(words=words))
    op.execute(CACHE.format(join="LEFT JOIN"))


def downgrade() -> None:
    op.execute(REFUSE)
    op.execute(MESSOR_CONTENT.format(words=COUNTED, join="JOIN"))
    op.execute(WELLNESS_CONTENT.format(words=COUNTED))
    op.execute(CACHE.format(join="JOIN"))
    use_function("mended", "001")
    use_function("forget_pages", "001")
    for name in reversed(COLUMNS):
        op.execute(f"ALTER TABLE messor.page_snapshots DROP COLUMN {name}")
