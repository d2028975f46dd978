-- Specification 002.
CREATE SCHEMA approval;

CREATE VIEW approval.members AS
SELECT id, name, role, created_at FROM messor.members;

-- A blacklisted domain is one that was rejected for good. Of those who asked and decided only members have a
-- key here; others are named in messor.domains.
CREATE VIEW approval.domains AS
SELECT d.id, d.domain AS domain_url, coalesce(d.scrape_frequency_hours, 24) AS scrape_frequency_hours,
       (SELECT max(h.last_good_at) FROM messor.hosts h WHERE h.domain_id = d.id) AS last_scraped_at,
       d.active, CASE WHEN d.status = 'blacklisted' THEN 'rejected' ELSE d.status END AS status,
       substring(d.submitted_by FROM '^member:([0-9a-f-]{36})$')::uuid AS submitted_by, d.submitter_type,
       d.submission_context,
       substring(d.reviewed_by FROM '^member:([0-9a-f-]{36})$')::uuid AS reviewed_by, d.reviewed_at,
       d.rejection_reason, d.max_crawl_depth, ceil(d.crawl_delay_seconds)::integer AS crawl_rate_limit_seconds,
       d.is_trusted_domain, d.created_at, d.updated_at
  FROM messor.domains d;
ALTER VIEW approval.domains ALTER COLUMN scrape_frequency_hours SET DEFAULT 24;
ALTER VIEW approval.domains ALTER COLUMN active SET DEFAULT true;
ALTER VIEW approval.domains ALTER COLUMN max_crawl_depth SET DEFAULT 3;
ALTER VIEW approval.domains ALTER COLUMN crawl_rate_limit_seconds SET DEFAULT 2;
ALTER VIEW approval.domains ALTER COLUMN is_trusted_domain SET DEFAULT false;
ALTER VIEW approval.domains ALTER COLUMN created_at SET DEFAULT messor.clock();
ALTER VIEW approval.domains ALTER COLUMN updated_at SET DEFAULT messor.clock();
CREATE TRIGGER domains_write INSTEAD OF INSERT OR UPDATE ON approval.domains
  FOR EACH ROW EXECUTE FUNCTION messor.write_approval_domain();
CREATE TRIGGER domains_keep INSTEAD OF DELETE ON approval.domains FOR EACH ROW
  EXECUTE FUNCTION messor.refuse_write('a domain is rejected or erased; see messor domains --help');

-- The newest of each page and content, so that (url, content_hash) is unique.
CREATE VIEW approval.page_snapshots AS
SELECT s.id, p.url, encode(s.content_hash, 'hex') AS content_hash, x.markdown, s.crawled_at
  FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id
  LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
 WHERE NOT EXISTS (SELECT FROM messor.page_snapshots n WHERE n.page_id = s.page_id
                      AND n.content_hash = s.content_hash AND n.id > s.id);

-- What was read from a page, by the snapshot that `page_snapshots` shows of its content.
CREATE VIEW approval.extractions AS
SELECT r.id, (SELECT max(n.id) FROM messor.page_snapshots n
               WHERE n.page_id = s.page_id AND n.content_hash = s.content_hash) AS page_snapshot_id,
       r.kind, r.data, r.confidence, r.first_seen AS created_at
  FROM messor.records r JOIN messor.page_snapshots s ON s.id = r.snapshot_id;

DO $$
DECLARE item text;
BEGIN
  FOREACH item IN ARRAY ARRAY['members', 'page_snapshots', 'extractions'] LOOP
    EXECUTE format('CREATE TRIGGER %I INSTEAD OF INSERT OR UPDATE OR DELETE ON approval.%I
      FOR EACH ROW EXECUTE FUNCTION messor.refuse_write(''only Messor itself writes it'')',
      item || '_keep', item);
  END LOOP;
END $$;
