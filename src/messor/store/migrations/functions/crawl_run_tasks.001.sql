-- What is to be done for a bounded run: its pages, and its sitemaps.
CREATE OR REPLACE FUNCTION messor.crawl_run_tasks(run uuid)
RETURNS TABLE (page_id bigint, host_id bigint, due_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT t.page_id, t.host_id, t.due_at
    FROM messor.crawl_run_pages m JOIN messor.crawl_tasks t ON t.page_id = m.page_id
   WHERE m.run_id = run AND m.fetched AND t.due_at IS NOT NULL
  UNION ALL
  SELECT t.page_id, t.host_id, t.due_at
    FROM messor.crawl_runs r JOIN messor.hosts h ON h.domain_id = r.domain_id
    JOIN messor.crawl_tasks t ON t.host_id = h.id AND t.kind = 'sitemap'
   WHERE r.id = run AND r.sitemaps AND t.due_at IS NOT NULL
$$;
