-- Migration 017: candidates are crawled, and what their pages state is beside them.

ALTER TABLE messor.candidates
  ADD page_id bigint,                          -- where it is crawled; a page may be forgotten
  ADD submitted_at timestamptz,                -- when its crawl was asked for last
  ADD crawled_at timestamptz,                  -- when its page was harvested and extracted
  ADD crawl_note text,                         -- what stood in the way of its crawl last
  ADD crawl_failures integer NOT NULL DEFAULT 0 CHECK (crawl_failures >= 0),
  ADD retry_after timestamptz,                 -- when its crawl is asked for again
  ADD CONSTRAINT candidates_note CHECK (retry_after IS NULL OR btrim(coalesce(crawl_note, '')) <> '');
CREATE INDEX candidates_crawling ON messor.candidates (submitted_at)
  WHERE status = 'PENDING_CRAWL' AND page_id IS NOT NULL;
CREATE INDEX candidates_name ON messor.candidates (domain, vertical_id);

-- What the verticals of a domain last said of blocks; a person's word differs from it and stands.
ALTER TABLE messor.domains
  ADD vertical_on_block text CHECK (vertical_on_block IN ('respect', 'failover'));

-- What a crawled candidate is reviewed by: the records of its own page, and who stands behind its
-- domain and how to reach them, wherever the domain says so.
CREATE VIEW messor.candidate_records AS
SELECT c.id AS candidate_id, r.id AS record_id, r.kind, r.confidence, r.page_id, true AS on_page, r.data
  FROM messor.candidates c JOIN messor.verticals v ON v.id = c.vertical_id
  JOIN messor.records r ON r.page_id = c.page_id AND r.state = 'current'
 WHERE c.crawled_at IS NOT NULL
   AND (r.kind IN ('organisation', 'contact') OR v.definition -> 'record_kinds' ? r.kind)
 UNION ALL
SELECT c.id, r.id, r.kind, r.confidence, r.page_id, false, r.data
  FROM messor.candidates c
  JOIN messor.records r ON r.domain_id = c.domain_id AND r.state = 'current'
   AND r.kind IN ('organisation', 'contact') AND r.page_id <> c.page_id
 WHERE c.crawled_at IS NOT NULL;

-- The specification's names.
DROP VIEW messor.funding_source_candidate;
CREATE VIEW messor.funding_source_candidate AS
SELECT c.*, c.id AS candidate_id FROM messor.candidates c;
CREATE VIEW messor.contact_intelligence AS
SELECT candidate_id, record_id, confidence, page_id, on_page, data
  FROM messor.candidate_records WHERE kind = 'contact';
