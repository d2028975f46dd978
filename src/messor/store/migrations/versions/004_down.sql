-- Back to migration 003. What was paused by itself is due again when it would have been.

DROP VIEW messor.crawl_task_status;
UPDATE messor.crawl_tasks SET due_at = held_due_at, status = 'pending', held_due_at = NULL
 WHERE status = 'paused';
ALTER TABLE messor.crawl_tasks DROP CONSTRAINT crawl_tasks_held,
  DROP history, DROP held_due_at;
DROP FUNCTION messor.base_frequency(interval, text, integer);
DROP TABLE messor.batch_errors, messor.batch_pages, messor.task_batches, messor.standstill;
DROP TRIGGER domains_standstill ON messor.domains;
DROP FUNCTION messor.heed_standstill();
ALTER TABLE messor.domains DROP paused;
ALTER TABLE messor.lanes DROP recall;

CREATE VIEW messor.crawl_task_status AS
SELECT t.page_id, t.host_id, h.domain_id, p.url, encode(p.url_hash, 'hex') AS url_hash, t.kind,
       CASE WHEN t.status <> 'pending' AND t.due_at > messor.clock() THEN t.status
            WHEN t.status IN ('paused', 'cancelled') THEN t.status
            WHEN l.worker_id IS NOT NULL AND t.due_at <= messor.clock() THEN 'crawling'
            WHEN t.due_at <= messor.clock() THEN 'queued'
            ELSE t.status END AS status,
       t.outcome, t.priority, t.due_at AS scheduled_at, t.due_at AS next_crawl_at, t.retry_count,
       t.max_retries, t.crawl_frequency, t.last_fetched_at AS last_crawled_at, t.completed_at,
       t.last_status AS last_http_status, t.refusal, t.error_message
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.hosts h ON h.id = t.host_id JOIN messor.lanes l ON l.host_id = t.host_id;
