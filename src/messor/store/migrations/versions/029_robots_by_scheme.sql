-- A robots.txt counts for the scheme, host and port that it was read from (RFC 9309 2.3).
-- `robots_id` is the version in force for `scheme`; `other_robots_id` the one for the other scheme.
ALTER TABLE messor.hosts
  ADD scheme text CHECK (scheme IN ('https', 'http')),  -- NULL: nothing was read yet
  ADD other_robots_id bigint,
  ADD spoke_https boolean NOT NULL DEFAULT false,  -- it answered over https: http never stands in for it
  ADD https_error text;                            -- why http is used in place of https

ALTER TABLE messor.robots_files ADD scheme text CHECK (scheme IN ('https', 'http'));

-- Workers of the release before this one wait for both.
ALTER TABLE messor.robots_redirects ADD schemes text[] NOT NULL DEFAULT '{https,http}';

UPDATE messor.hosts h
   SET scheme = split_part(r.url, ':', 1), spoke_https = r.url LIKE 'https:%' AND r.answered
  FROM (SELECT DISTINCT ON (p.host_id) p.host_id, p.url, t.last_status IS NOT NULL AS answered
          FROM messor.pages p JOIN messor.crawl_tasks t ON t.page_id = p.id
         WHERE p.found_by = 'robots' AND t.kind = 'robots'
         ORDER BY p.host_id, t.last_fetched_at DESC NULLS LAST) r
 WHERE r.host_id = h.id AND h.robots_id IS NOT NULL;
