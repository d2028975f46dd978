-- Specification 001. Keys are integers there: a domain has a number, a task is known by its page.
CREATE SCHEMA forager;

-- `SHA256('…')` as that specification uses it: 64 characters for a text. For a literal PostgreSQL prefers
-- this one to its own, which takes and returns bytes.
CREATE FUNCTION forager.sha256(given text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT encode(pg_catalog.sha256(convert_to(given, 'UTF8')), 'hex')
$$;

CREATE VIEW forager.domains AS
SELECT d.number AS id, d.domain AS domain_name, d.base_url,
       coalesce(ceil(d.crawl_delay_seconds), 1)::integer AS crawl_delay_seconds, d.max_concurrent_requests,
       d.active AND d.status = 'approved' AS is_active, d.created_at, d.updated_at
  FROM messor.domains d;
ALTER VIEW forager.domains ALTER COLUMN crawl_delay_seconds SET DEFAULT 1;
ALTER VIEW forager.domains ALTER COLUMN max_concurrent_requests SET DEFAULT 5;
ALTER VIEW forager.domains ALTER COLUMN is_active SET DEFAULT true;
ALTER VIEW forager.domains ALTER COLUMN created_at SET DEFAULT messor.clock();
ALTER VIEW forager.domains ALTER COLUMN updated_at SET DEFAULT messor.clock();
CREATE TRIGGER domains_write INSTEAD OF INSERT OR UPDATE ON forager.domains
  FOR EACH ROW EXECUTE FUNCTION messor.write_forager_domain();
CREATE TRIGGER domains_keep INSTEAD OF DELETE ON forager.domains FOR EACH ROW
  EXECUTE FUNCTION messor.refuse_write('a domain is rejected or erased; see messor domains --help');

-- A task that is due is pending until a visit holds its lane.
CREATE VIEW forager.crawl_tasks AS
SELECT t.page_id AS id, d.number AS domain_id, p.url, encode(p.url_hash, 'hex') AS url_hash,
       CASE WHEN t.status IN ('paused', 'cancelled') THEN t.status
            WHEN t.due_at IS NOT NULL AND NOT (d.active AND d.status = 'approved') THEN 'paused'
            WHEN t.due_at <= n.now AND l.worker_id IS NOT NULL THEN 'crawling'
            WHEN t.due_at <= n.now THEN 'pending'
            ELSE t.status END AS status,
       t.priority, t.due_at AS scheduled_at,
       CASE WHEN t.due_at <= n.now AND l.worker_id IS NOT NULL THEN l.claimed_at
            ELSE t.last_fetched_at END AS started_at,
       t.completed_at, t.retry_count, t.max_retries, t.error_message,
       messor.base_frequency(coalesce(t.crawl_frequency, CASE WHEN d.track_level IS NOT NULL THEN d.track_interval END),
                             d.track_level, d.scrape_frequency_hours) AS crawl_frequency,
       t.due_at AS next_crawl_at, g.name || '@' || s.segment_offset AS html_path,
       p.found_at AS created_at, greatest(p.found_at, t.last_fetched_at, t.completed_at) AS updated_at
  -- The host of the page is that of the task: said here, the tasks of a domain are found by its pages.
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id AND p.host_id = t.host_id
  JOIN messor.lanes l ON l.host_id = t.host_id JOIN messor.hosts h ON h.id = t.host_id
  JOIN messor.domains d ON d.id = h.domain_id
  LEFT JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  LEFT JOIN messor.segments g ON g.id = s.segment_id
 CROSS JOIN (SELECT messor.clock() AS now) n
 WHERE t.kind = 'page';
ALTER VIEW forager.crawl_tasks ALTER COLUMN priority SET DEFAULT 5;
ALTER VIEW forager.crawl_tasks ALTER COLUMN retry_count SET DEFAULT 0;
ALTER VIEW forager.crawl_tasks ALTER COLUMN max_retries SET DEFAULT 3;
ALTER VIEW forager.crawl_tasks ALTER COLUMN crawl_frequency SET DEFAULT interval '1 day';
ALTER VIEW forager.crawl_tasks ALTER COLUMN created_at SET DEFAULT messor.clock();
ALTER VIEW forager.crawl_tasks ALTER COLUMN updated_at SET DEFAULT messor.clock();
CREATE TRIGGER crawl_tasks_write INSTEAD OF INSERT OR UPDATE ON forager.crawl_tasks
  FOR EACH ROW EXECUTE FUNCTION messor.write_forager_task();
CREATE TRIGGER crawl_tasks_keep INSTEAD OF DELETE ON forager.crawl_tasks FOR EACH ROW
  EXECUTE FUNCTION messor.refuse_write('a task is kept as the record of its page; set its status to cancelled');

CREATE VIEW forager.products AS
SELECT p.id, d.number AS domain_id, p.page_id AS crawl_task_id, p.url,
       encode(p.url_hash, 'hex') AS url_hash, p.product_name, p.description, p.price, p.currency,
       p.availability, p.rating, p.review_count, p.brand, p.category, p.sku,
       encode(p.content_hash, 'hex') AS content_hash, p.metadata, p.created_at, p.updated_at
  FROM messor.products p JOIN messor.domains d ON d.id = p.domain_id
 WHERE p.state = 'current' AND p.product_name IS NOT NULL;
ALTER VIEW forager.products ALTER COLUMN created_at SET DEFAULT messor.clock();
ALTER VIEW forager.products ALTER COLUMN updated_at SET DEFAULT messor.clock();

CREATE VIEW forager.images AS
SELECT id, product_id, image_url, image_path, alt_text, image_type, position, width, height, file_size,
       created_at FROM messor.product_images;
ALTER VIEW forager.images ALTER COLUMN image_type SET DEFAULT 'primary';
ALTER VIEW forager.images ALTER COLUMN position SET DEFAULT 0;
ALTER VIEW forager.images ALTER COLUMN created_at SET DEFAULT messor.clock();

-- The password is sealed with a key that the database does not have.
CREATE VIEW forager.proxies AS
SELECT id, proxy_url, proxy_port, proxy_protocol, nullif(proxy_username, '') AS proxy_username,
       CASE WHEN proxy_password IS NOT NULL THEN '***' END AS proxy_password, is_active, failure_count,
       success_count, last_used_at, last_success_at, last_failure_at, avg_response_time_ms, created_at,
       updated_at FROM messor.proxies;
ALTER VIEW forager.proxies ALTER COLUMN proxy_protocol SET DEFAULT 'http';
ALTER VIEW forager.proxies ALTER COLUMN is_active SET DEFAULT true;
ALTER VIEW forager.proxies ALTER COLUMN failure_count SET DEFAULT 0;
ALTER VIEW forager.proxies ALTER COLUMN success_count SET DEFAULT 0;
ALTER VIEW forager.proxies ALTER COLUMN created_at SET DEFAULT messor.clock();
ALTER VIEW forager.proxies ALTER COLUMN updated_at SET DEFAULT messor.clock();
CREATE TRIGGER proxies_write INSTEAD OF UPDATE ON forager.proxies
  FOR EACH ROW EXECUTE FUNCTION messor.write_forager_proxy();
CREATE TRIGGER proxies_keep INSTEAD OF INSERT OR DELETE ON forager.proxies FOR EACH ROW
  EXECUTE FUNCTION messor.refuse_write('its address is checked and its password sealed by: messor proxies add, remove');

CREATE VIEW forager.error_logs AS
SELECT crawl_task_id, error_type, error_message, stack_trace, occurred_at, category FROM messor.error_logs;

DO $$
DECLARE item text;
BEGIN
  FOREACH item IN ARRAY ARRAY['products', 'images', 'error_logs'] LOOP
    EXECUTE format('CREATE TRIGGER %I INSTEAD OF INSERT OR UPDATE OR DELETE ON forager.%I
      FOR EACH ROW EXECUTE FUNCTION messor.refuse_write(''only Messor itself writes what it observed'')',
      item || '_keep', item);
  END LOOP;
END $$;
