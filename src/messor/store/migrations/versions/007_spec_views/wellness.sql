-- Specification 000. A view is written flat, without functions that change, so that a query on it is
-- planned as one on the tables: what is not selected is not read.
CREATE SCHEMA wellness;

CREATE VIEW wellness.verticals AS
SELECT id, name, title, version, created_at FROM messor.verticals;

CREATE VIEW wellness.clinics AS
SELECT o.id, o.vertical_id, o.name, o.location, o.created_at, o.updated_at
  FROM messor.organisations o JOIN messor.verticals v ON v.id = o.vertical_id WHERE v.name = 'wellness';

CREATE VIEW wellness.jobs AS
SELECT id, job_type, target_kind, target_id, target_url, input_hash, prompt_version, model, dedupe_key,
       state, result_json, priority, available_at, locked_at, lock_expires_at, locked_by, attempts,
       max_attempts, created_at, started_at, finished_at
  FROM messor.jobs;
ALTER VIEW wellness.jobs ALTER COLUMN id SET DEFAULT messor.new_id();
ALTER VIEW wellness.jobs ALTER COLUMN state SET DEFAULT 'queued';
ALTER VIEW wellness.jobs ALTER COLUMN priority SET DEFAULT 5;
ALTER VIEW wellness.jobs ALTER COLUMN available_at SET DEFAULT messor.clock();
ALTER VIEW wellness.jobs ALTER COLUMN attempts SET DEFAULT 0;
ALTER VIEW wellness.jobs ALTER COLUMN max_attempts SET DEFAULT 3;
ALTER VIEW wellness.jobs ALTER COLUMN created_at SET DEFAULT messor.clock();
-- An INSERT goes to the table as it is: ON CONFLICT (dedupe_key) works.
CREATE TRIGGER jobs_change INSTEAD OF UPDATE ON wellness.jobs
  FOR EACH ROW EXECUTE FUNCTION messor.write_wellness_job();
CREATE TRIGGER jobs_keep INSTEAD OF DELETE ON wellness.jobs FOR EACH ROW
  EXECUTE FUNCTION messor.refuse_write('a job is kept for its window; set its state to cancelled');

CREATE VIEW wellness.domains AS
SELECT d.id, d.domain, d.domain_class,
       (SELECT max(h.last_request_at) FROM messor.hosts h WHERE h.domain_id = d.id) AS last_request_at,
       (SELECT max(h.cooldown_until) FROM messor.hosts h WHERE h.domain_id = d.id) AS cooldown_until,
       d.created_at, d.updated_at
  FROM messor.domains d;
ALTER VIEW wellness.domains ALTER COLUMN id SET DEFAULT messor.new_id();
ALTER VIEW wellness.domains ALTER COLUMN domain_class SET DEFAULT 'unknown';
ALTER VIEW wellness.domains ALTER COLUMN created_at SET DEFAULT messor.clock();
ALTER VIEW wellness.domains ALTER COLUMN updated_at SET DEFAULT messor.clock();
CREATE TRIGGER domains_write INSTEAD OF INSERT OR UPDATE ON wellness.domains
  FOR EACH ROW EXECUTE FUNCTION messor.write_wellness_domain();
CREATE TRIGGER domains_keep INSTEAD OF DELETE ON wellness.domains FOR EACH ROW
  EXECUTE FUNCTION messor.refuse_write('a domain is rejected or erased; see messor domains --help');

CREATE VIEW wellness.pages AS
SELECT p.id, h.domain_id, p.url, p.found_at AS created_at, p.sitemap_lastmod,
       t.last_fetched_at AS last_crawled_at, t.last_status AS last_http_status,
       encode(s.content_hash, 'hex') AS last_content_hash, e.page_type,
       coalesce(e.page_type_confidence, 0)::double precision AS type_conf
  FROM messor.pages p JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.kind = 'page'
  JOIN messor.hosts h ON h.id = p.host_id
  LEFT JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  LEFT JOIN messor.extractions e ON e.page_id = p.id;
ALTER VIEW wellness.pages ALTER COLUMN type_conf SET DEFAULT 0;

CREATE VIEW wellness.sitemaps AS
SELECT m.page_id AS id, h.domain_id, p.url, m.depth, m.parent_id AS parent_sitemap_id,
       CASE WHEN l.worker_id IS NOT NULL THEN l.claimed_at END AS locked_at,
       w.expires_at AS lock_expires_at, w.name AS locked_by, m.attempts, m.error_json
  FROM messor.sitemaps m JOIN messor.pages p ON p.id = m.page_id JOIN messor.hosts h ON h.id = m.host_id
  LEFT JOIN messor.lanes l ON l.host_id = m.host_id
  LEFT JOIN messor.worker_leases w ON w.id = l.worker_id;
ALTER VIEW wellness.sitemaps ALTER COLUMN depth SET DEFAULT 0;
ALTER VIEW wellness.sitemaps ALTER COLUMN attempts SET DEFAULT 0;

CREATE VIEW wellness.http_fetches AS
SELECT f.id, f.page_id, p.url, h.domain_id, f.status_code, f.final_url, f.headers_json, f.duration_ms,
       f.fetch_provider, f.provider_cost, f.quality_gate_failed, f.error_json, f.fetched_at
  FROM messor.http_fetches f JOIN messor.pages p ON p.id = f.page_id JOIN messor.hosts h ON h.id = f.host_id;
ALTER VIEW wellness.http_fetches ALTER COLUMN fetch_provider SET DEFAULT 'http';
ALTER VIEW wellness.http_fetches ALTER COLUMN fetched_at SET DEFAULT messor.clock();

-- The newest snapshot of each page and content; another may differ in its structured data.
CREATE VIEW wellness.page_html AS
SELECT s.id, s.page_id, encode(s.content_hash, 'hex') AS content_hash, NULL::text AS raw_html,
       NULL::bytea AS html_gzip, s.crawled_at AS fetched_at, g.name AS segment, s.segment_offset,
       s.segment_length, s.size
  FROM messor.page_snapshots s LEFT JOIN messor.segments g ON g.id = s.segment_id
 WHERE NOT EXISTS (SELECT FROM messor.page_snapshots n WHERE n.page_id = s.page_id
                      AND n.content_hash = s.content_hash AND n.id > s.id);
ALTER VIEW wellness.page_html ALTER COLUMN fetched_at SET DEFAULT messor.clock();

CREATE VIEW wellness.page_content AS
SELECT s.id, s.page_id, encode(s.content_hash, 'hex') AS content_hash, x.markdown,
       messor.count_words(x.markdown) AS word_count, s.provider, s.crawled_at AS fetched_at
  FROM messor.page_snapshots s LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
 WHERE NOT EXISTS (SELECT FROM messor.page_snapshots n WHERE n.page_id = s.page_id
                      AND n.content_hash = s.content_hash AND n.id > s.id);
ALTER VIEW wellness.page_content ALTER COLUMN fetched_at SET DEFAULT messor.clock();

CREATE VIEW wellness.vertical_services AS
SELECT id, vertical_id, service_name, synonyms, intent, active FROM messor.vertical_services;
ALTER VIEW wellness.vertical_services ALTER COLUMN synonyms SET DEFAULT '{}';
ALTER VIEW wellness.vertical_services ALTER COLUMN intent SET DEFAULT 'commercial';
ALTER VIEW wellness.vertical_services ALTER COLUMN active SET DEFAULT true;

CREATE VIEW wellness.serp_profiles AS
SELECT id, vertical_id, name, gl, hl, device, location, uule FROM messor.serp_profiles;
ALTER VIEW wellness.serp_profiles ALTER COLUMN gl SET DEFAULT 'sg';
ALTER VIEW wellness.serp_profiles ALTER COLUMN hl SET DEFAULT 'en';
ALTER VIEW wellness.serp_profiles ALTER COLUMN device SET DEFAULT 'desktop';
ALTER VIEW wellness.serp_profiles ALTER COLUMN location SET DEFAULT 'Singapore';

CREATE VIEW wellness.geo_sets AS
SELECT id, name, modifiers, priority_order FROM messor.geo_sets;
ALTER VIEW wellness.geo_sets ALTER COLUMN priority_order SET DEFAULT 0;

CREATE VIEW wellness.keyword_templates AS
SELECT id, template, geo_set_id, language FROM messor.keyword_templates;
ALTER VIEW wellness.keyword_templates ALTER COLUMN language SET DEFAULT 'en';

DO $$
DECLARE item text;
BEGIN
  FOREACH item IN ARRAY ARRAY['vertical_services', 'serp_profiles', 'geo_sets', 'keyword_templates'] LOOP
    EXECUTE format('ALTER VIEW wellness.%I ALTER COLUMN id SET DEFAULT gen_random_uuid()', item);
    EXECUTE format('CREATE TRIGGER %I INSTEAD OF INSERT OR UPDATE OR DELETE ON wellness.%I
      FOR EACH ROW EXECUTE FUNCTION messor.refuse_write(
        ''a vertical is defined by its file; edit it and run: messor verticals apply FILE'')',
      item || '_keep', item);
  END LOOP;
END $$;

CREATE VIEW wellness.keywords AS
SELECT id, keyword_text, serp_profile_id, vertical_id, tier, source, seed_keyword_id, active,
       last_snapshot_at, created_at FROM messor.keywords;
ALTER VIEW wellness.keywords ALTER COLUMN id SET DEFAULT gen_random_uuid();
ALTER VIEW wellness.keywords ALTER COLUMN tier SET DEFAULT 'C';
ALTER VIEW wellness.keywords ALTER COLUMN source SET DEFAULT 'manual';
ALTER VIEW wellness.keywords ALTER COLUMN active SET DEFAULT true;
ALTER VIEW wellness.keywords ALTER COLUMN created_at SET DEFAULT messor.clock();
CREATE TRIGGER keywords_write INSTEAD OF INSERT ON wellness.keywords
  FOR EACH ROW EXECUTE FUNCTION messor.write_wellness_keyword();
CREATE TRIGGER keywords_keep INSTEAD OF UPDATE OR DELETE ON wellness.keywords FOR EACH ROW
  EXECUTE FUNCTION messor.refuse_write('a keyword is changed with: messor keywords');

CREATE VIEW wellness.serp_snapshots AS
SELECT s.id, s.keyword_id, s.serp_profile_id,
       CASE WHEN a.is_json THEN convert_from(a.body, 'UTF8')::json END AS raw_json,
       encode(s.raw_hash, 'hex') AS raw_hash, s.captured_at
  FROM messor.serp_snapshots s LEFT JOIN messor.search_answers a ON a.request_id = s.request_id;
ALTER VIEW wellness.serp_snapshots ALTER COLUMN id SET DEFAULT gen_random_uuid();
ALTER VIEW wellness.serp_snapshots ALTER COLUMN captured_at SET DEFAULT messor.clock();

CREATE VIEW wellness.serp_results AS
SELECT id, snapshot_id, rank_position, block_type, domain_id, url, title, snippet FROM messor.serp_results;

DO $$
DECLARE item text;
BEGIN
  FOREACH item IN ARRAY ARRAY['verticals', 'clinics', 'pages', 'sitemaps', 'http_fetches', 'page_html',
                              'page_content', 'serp_snapshots', 'serp_results'] LOOP
    EXECUTE format('CREATE TRIGGER %I INSTEAD OF INSERT OR UPDATE OR DELETE ON wellness.%I
      FOR EACH ROW EXECUTE FUNCTION messor.refuse_write(''only Messor itself writes what it observed'')',
      item || '_keep', item);
  END LOOP;
END $$;
