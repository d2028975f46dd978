DROP VIEW messor.contact_intelligence, messor.funding_source_candidate, messor.candidate_records;
ALTER TABLE messor.domains DROP vertical_on_block;
ALTER TABLE messor.candidates DROP CONSTRAINT candidates_note, DROP page_id, DROP submitted_at,
  DROP crawled_at, DROP crawl_note, DROP crawl_failures, DROP retry_after;
DROP INDEX messor.candidates_name;
CREATE VIEW messor.funding_source_candidate AS
SELECT c.*, c.id AS candidate_id FROM messor.candidates c;
