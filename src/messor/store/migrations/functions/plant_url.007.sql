-- Put a URL of an approved domain on the frontier, preceded by its host's robots.txt: as
-- `governance.admission.plant`. `hash` is that of the URL's canonical form.
CREATE OR REPLACE FUNCTION messor.plant_url(of_domain uuid, given text, hash bytea, how text, rank integer,
                                            due timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  name text := (SELECT domain FROM messor.domains WHERE id = of_domain);
  authority text := substring(given FROM '^https?://([^/?#]+)');
  scheme text := substring(given FROM '^https?');
  lane bigint;
  page bigint;
  fresh boolean;
  erased text := (SELECT reason FROM messor.erasures
                   WHERE (kind = 'domain' AND key = name) OR (kind = 'url' AND key = given) LIMIT 1);
BEGIN
  IF erased IS NOT NULL THEN
    RAISE invalid_parameter_value USING
      MESSAGE = format('%s was erased and must not be stored: %s', given, erased);
  END IF;
  PERFORM FROM messor.lanes l JOIN messor.hosts h ON h.id = l.host_id
    WHERE h.host = authority FOR NO KEY UPDATE OF l;
  IF NOT FOUND THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('messor.host.' || authority, 0));
  END IF;
  INSERT INTO messor.hosts (domain_id, host) VALUES (of_domain, authority)
  ON CONFLICT (host) DO UPDATE SET updated_at = messor.clock(), domain_id = excluded.domain_id
  RETURNING id INTO lane;
  INSERT INTO messor.lanes (host_id, domain_id) VALUES (lane, of_domain)
  ON CONFLICT (host_id) DO UPDATE SET domain_id = excluded.domain_id;

  INSERT INTO messor.pages (host_id, url_hash, url, found_by)
  VALUES (lane, sha256(convert_to(scheme || '://' || authority || '/robots.txt', 'UTF8')),
          scheme || '://' || authority || '/robots.txt', 'robots')
  ON CONFLICT (host_id, url_hash) DO UPDATE SET url = messor.pages.url RETURNING id INTO page;
  INSERT INTO messor.crawl_tasks AS t (page_id, host_id, kind, priority, due_at)
  VALUES (page, lane, 'robots', 0, messor.clock())
  ON CONFLICT (page_id) DO UPDATE SET due_at = messor.clock()
   WHERE t.due_at > messor.clock() AND (
     SELECT CASE WHEN coalesce(h.scheme, substring(given FROM '^https?')) = substring(given FROM '^https?')
                 THEN h.robots_id ELSE h.other_robots_id END IS NULL FROM messor.hosts h WHERE h.id = lane);

  INSERT INTO messor.pages (host_id, url_hash, url, found_by, depth)
  VALUES (lane, hash, given, how, CASE how WHEN 'manual' THEN 1000 ELSE 0 END)
  ON CONFLICT (host_id, url_hash) DO UPDATE SET depth = least(messor.pages.depth, excluded.depth)
  RETURNING id, xmax = 0 INTO page, fresh;
  UPDATE messor.domains SET pages_known = pages_known + 1 WHERE id = of_domain AND fresh;
  INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority, due_at) VALUES (page, lane, 'page', rank, due)
  ON CONFLICT (page_id) DO UPDATE
     SET due_at = CASE WHEN messor.crawl_tasks.status <> 'paused' THEN due END,
         held_due_at = CASE WHEN messor.crawl_tasks.status = 'paused' THEN due END,
         status = CASE WHEN messor.crawl_tasks.status = 'paused' THEN 'paused' ELSE 'pending' END,
         priority = excluded.priority, retry_count = 0;
  UPDATE messor.lanes l
     SET due_at = n.due_at, claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, n.due_at)
                                            ELSE l.claim_at END
    FROM (SELECT min(t.due_at) AS due_at FROM messor.crawl_tasks t
           WHERE t.host_id = lane AND t.page_id IN (
             page, (SELECT p.id FROM messor.pages p WHERE p.host_id = lane AND p.found_by = 'robots'
                     ORDER BY p.id LIMIT 1))) n
   WHERE l.host_id = lane AND n.due_at IS NOT NULL AND (l.due_at IS NULL OR l.due_at > n.due_at);
  RETURN page;
END $$;
