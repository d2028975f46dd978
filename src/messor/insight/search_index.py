"""Makes search documents of extracted pages and records.

Extraction queues the pages it wrote; they are indexed in batches, off every hot path. A page's
document and those of its records are created and removed together.
"""

from __future__ import annotations

from collections.abc import Sequence

from messor.archive.texts import texts
from messor.store.database import Connection

# One at a time: a slower one must not replace a newer text by an older one.
ALONE = "SELECT pg_try_advisory_xact_lock(hashtextextended('messor.search', 0))"

TAKE = """
DELETE FROM messor.search_due WHERE id = ANY (ARRAY(
  SELECT id FROM messor.search_due ORDER BY id LIMIT $1))
RETURNING page_id
"""

# Pages with good content: their newest good snapshot, unless the page is gone.
_STANDING = """
SELECT p.id AS page_id, s.id AS snapshot_id, h.domain_id, s.title, s.description, s.language
  FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
  JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.kind = 'page'
  JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  LEFT JOIN LATERAL (SELECT c.state FROM messor.page_changes c WHERE c.page_id = p.id
                      ORDER BY c.seen_at DESC LIMIT 1) c ON true
 WHERE p.id = ANY ($1::bigint[]) AND s.verdict IS NULL AND c.state IS DISTINCT FROM 'removed'
"""

PAGES = f"""
WITH standing AS ({_STANDING}), gone AS (
  DELETE FROM messor.search_documents d
   WHERE d.page_id = ANY ($1::bigint[]) AND d.record_id IS NULL
     AND NOT EXISTS (SELECT FROM standing g WHERE g.page_id = d.page_id)
), made AS (
  INSERT INTO messor.search_documents AS d (page_id, snapshot_id, domain_id, kind, title, config, words)
  SELECT g.page_id, g.snapshot_id, g.domain_id, 'page', left(g.title, 1000), c.config,
         messor.search_words(c.config, g.title, g.description, coalesce(x.markdown, a.markdown, ''))
    FROM standing g LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = g.snapshot_id
    LEFT JOIN unnest($2::bigint[], $3::text[]) AS a (id, markdown) ON a.id = g.snapshot_id
   CROSS JOIN LATERAL (SELECT messor.text_config(g.language) AS config) c
   ORDER BY g.page_id
  ON CONFLICT (page_id) WHERE record_id IS NULL DO UPDATE
     SET snapshot_id = excluded.snapshot_id, title = excluded.title, config = excluded.config,
         words = excluded.words, indexed_at = messor.clock()
  RETURNING 1
)
SELECT count(*) FROM made
"""

# All texts of a record are indexed. Figures come from its own fields; what is not a number is
# omitted.
RECORDS = f"""
WITH standing AS (
  SELECT r.id, r.page_id, r.snapshot_id, r.domain_id, r.kind, r.data, s.language
    FROM messor.records r JOIN ({_STANDING}) s ON s.page_id = r.page_id WHERE r.state = 'current'
), gone AS (
  DELETE FROM messor.search_documents d
   WHERE d.page_id = ANY ($1::bigint[]) AND d.record_id IS NOT NULL
     AND NOT EXISTS (SELECT FROM standing g WHERE g.id = d.record_id)
), made AS (
  INSERT INTO messor.search_documents AS d (page_id, snapshot_id, record_id, domain_id, kind, title,
         config, brand, category, price, currency, rating, availability, words)
  SELECT g.page_id, g.snapshot_id, g.id, g.domain_id, g.kind, left(f.title, 1000), f.config,
         left(f.brand, 200), left(f.category, 200), f.price, left(g.data->>'currency', 10), f.rating,
         left(g.data->>'availability', 50),
         messor.search_words(f.config, f.title, concat_ws(' ', f.brand, f.category), f.body)
    FROM standing g CROSS JOIN LATERAL (
      SELECT messor.text_config(g.language) AS config,
             coalesce(g.data->>'product_name', g.data->>'name', g.data->>'title',
                      g.data->>'question', g.data->>'text', g.data->>'label') AS title,
             g.data->>'brand' AS brand,
             CASE jsonb_typeof(g.data->'category') WHEN 'array' THEN g.data->'category'->>-1
                  ELSE g.data->>'category' END AS category,
             messor.figure(g.data->>'price') AS price, messor.figure(g.data->>'rating') AS rating,
             (SELECT string_agg(v #>> '{{}}', E'\\n') FROM jsonb_path_query(g.data, '$.**') v
               WHERE jsonb_typeof(v) = 'string') AS body
    ) f
   ORDER BY g.id
  ON CONFLICT (record_id) WHERE record_id IS NOT NULL DO UPDATE
     SET snapshot_id = excluded.snapshot_id, title = excluded.title, config = excluded.config,
         brand = excluded.brand, category = excluded.category, price = excluded.price,
         currency = excluded.currency, rating = excluded.rating,
         availability = excluded.availability, words = excluded.words, indexed_at = messor.clock()
  RETURNING 1
)
SELECT count(*) FROM made
"""

# Pages whose newest good snapshot has no document: older ones, or never extracted.
CATCH_UP = """
INSERT INTO messor.search_due (page_id)
SELECT t.page_id FROM messor.crawl_tasks t
  LEFT JOIN messor.search_documents d ON d.page_id = t.page_id AND d.record_id IS NULL
 WHERE t.kind = 'page' AND t.snapshot_id IS NOT NULL AND d.snapshot_id IS DISTINCT FROM t.snapshot_id
   AND NOT EXISTS (SELECT FROM messor.search_due q WHERE q.page_id = t.page_id)
 ORDER BY t.page_id LIMIT $1
"""


MOST_INDEXED = 100_000  # characters, as `messor.search_words` takes them
ARCHIVED = """
SELECT s.id FROM messor.crawl_tasks t JOIN messor.page_snapshots s ON s.id = t.snapshot_id
 WHERE t.page_id = ANY ($1::bigint[]) AND s.text_segment_id IS NOT NULL
"""


async def index_waiting(connection: Connection, limit: int = 200) -> int:
    """Index up to `limit` waiting pages in the caller's transaction; returns how many were taken.

    It returns 0 if nothing waits, or while another process indexes.
    """
    if not await connection.fetchval(ALONE):
        return 0
    taken = await connection.fetch(TAKE, limit)
    pages = sorted({row["page_id"] for row in taken})
    if pages:
        archived = await _archived(connection, pages)
        await connection.fetchval(PAGES, pages, list(archived), list(archived.values()))
        await connection.fetchval(RECORDS, pages)
    return len(taken)


async def _archived(connection: Connection, pages: Sequence[int]) -> dict[int, str]:
    """Texts of these pages that are not in PostgreSQL."""
    rows = await connection.fetch(ARCHIVED, pages)
    found = await texts(connection, [row["id"] for row in rows])
    return {number: text.markdown[:MOST_INDEXED] for number, text in found.items()}


async def catch_up(connection: Connection, limit: int = 100_000) -> int:
    """Queue pages whose newest content is not indexed; returns how many. Scans all tasks."""
    status = await connection.execute(CATCH_UP, limit)
    return int(status.rpartition(" ")[2])
