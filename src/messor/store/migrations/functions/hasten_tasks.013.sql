-- A shorter crawl frequency of a domain applies to pages already scheduled: they are due at the latest that
-- long after their last good fetch. A page's own frequency, missing pages and unproductive ones are left alone.
CREATE OR REPLACE FUNCTION messor.hasten_tasks(of_domain uuid) RETURNS bigint LANGUAGE sql AS $$
  WITH lane AS MATERIALIZED (
    SELECT l.host_id FROM messor.lanes l WHERE l.domain_id = of_domain ORDER BY l.host_id FOR NO KEY UPDATE
  ), sooner AS (
    UPDATE messor.crawl_tasks t SET due_at = greatest(t.last_fetched_at + b.base, messor.clock())
      FROM lane, messor.domains d
     CROSS JOIN LATERAL (SELECT messor.base_frequency(
              CASE WHEN d.track_level IS NOT NULL THEN d.track_interval END, d.track_level,
              d.scrape_frequency_hours) AS base) b
     WHERE d.id = of_domain AND t.host_id = lane.host_id AND t.kind = 'page' AND t.status = 'completed'
       AND t.outcome IN ('ok', 'unchanged') AND t.crawl_frequency IS NULL AND t.due_at > t.last_fetched_at + b.base
       AND t.due_at > messor.clock()
       AND NOT EXISTS (SELECT FROM messor.barren_pages o WHERE o.page_id = t.page_id AND o.until > messor.clock())
    RETURNING t.host_id, t.due_at
  ), woken AS (
    UPDATE messor.lanes l SET due_at = least(l.due_at, n.due_at),
           claim_at = CASE WHEN l.worker_id IS NULL
                           THEN greatest(l.ready_at, least(l.due_at, n.due_at)) ELSE l.claim_at END
      FROM (SELECT s.host_id, min(s.due_at) AS due_at FROM sooner s GROUP BY 1) n WHERE l.host_id = n.host_id
  )
  SELECT count(*) FROM sooner
$$;
