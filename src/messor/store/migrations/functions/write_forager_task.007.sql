-- forager.crawl_tasks: an INSERT submits a URL, as `governance.intake.submit_url`; a task is paused, resumed and
-- stopped by its status, as `frontier.control` does. The hash is that of the URL, whatever is given.
CREATE OR REPLACE FUNCTION messor.write_forager_task() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  actor text := messor.sql_actor();
  d messor.domains;
  at text;
  hash bytea;
  lane bigint;
  before text;
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT * INTO d FROM messor.domains WHERE number = NEW.domain_id FOR NO KEY UPDATE;
    IF d.id IS NULL THEN
      RAISE foreign_key_violation USING MESSAGE = format('There is no domain %s in forager.domains.', NEW.domain_id);
    END IF;
    IF NEW.status IS DISTINCT FROM 'pending' OR NEW.priority NOT BETWEEN 1 AND 10 OR NEW.scheduled_at IS NULL THEN
      RAISE invalid_parameter_value USING MESSAGE =
        'A new task has status pending, a priority from 1 (highest) to 10 and a time in scheduled_at.';
    END IF;
    -- Other URLs must be brought into their canonical form first, which SQL does not know.
    at := substring(NEW.url FROM '^https?://([a-z0-9._-]+)(?:/[A-Za-z0-9._~-]+)*/?$');
    IF at IS NULL OR NEW.url ~ '/\.{1,2}(/|$)' OR NEW.url !~ '^https?://[^/]+/' OR at ~ '\.$' THEN
      RAISE invalid_parameter_value USING MESSAGE = format(
        '%L is not a plain URL such as https://example.org/page. Use: messor tasks submit', left(NEW.url, 200));
    END IF;
    IF at <> d.domain AND right(at, length(d.domain) + 1) <> '.' || d.domain THEN
      RAISE invalid_parameter_value USING MESSAGE = format('%s is not a URL of %s.', NEW.url, d.domain);
    END IF;
    IF d.status <> 'approved' THEN
      RAISE invalid_parameter_value USING MESSAGE = format(
        '%s is %s: its URLs are crawled once it is approved. Use: messor domains approve %1$s', d.domain, d.status);
    END IF;
    hash := sha256(convert_to(NEW.url, 'UTF8'));
    IF EXISTS (SELECT FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
                WHERE h.host = at AND p.url_hash = hash) THEN
      RAISE unique_violation USING MESSAGE = format('%s has a task already.', NEW.url);
    END IF;
    IF d.pages_known >= d.page_budget THEN
      RAISE invalid_parameter_value USING MESSAGE = format('%s has reached its budget of %s pages.', d.domain,
                                                           d.page_budget);
    END IF;
    NEW.id := messor.plant_url(d.id, NEW.url, hash, 'manual', NEW.priority, NEW.scheduled_at);
    UPDATE messor.crawl_tasks
       SET crawl_frequency = nullif(NEW.crawl_frequency, interval '1 day'),
           max_retries = coalesce(NEW.max_retries, 3) WHERE page_id = NEW.id;
    NEW.url_hash := encode(hash, 'hex');
    PERFORM messor.tell('url.submitted', actor, d.id, NEW.id,
      jsonb_build_object('url', NEW.url, 'trusted', d.is_trusted_domain));
    RETURN NEW;
  END IF;
  IF (to_jsonb(NEW) - ARRAY['status', 'priority', 'scheduled_at', 'crawl_frequency', 'max_retries', 'updated_at'])
     <> (to_jsonb(OLD) - ARRAY['status', 'priority', 'scheduled_at', 'crawl_frequency', 'max_retries', 'updated_at'])
     OR NEW.priority NOT BETWEEN 1 AND 10 THEN
    RAISE feature_not_supported USING MESSAGE = 'Of forager.crawl_tasks only status, priority (1 to 10), '
      'scheduled_at, crawl_frequency and max_retries can be changed.';
  END IF;
  SELECT host_id INTO lane FROM messor.crawl_tasks WHERE page_id = OLD.id;
  PERFORM FROM messor.lanes WHERE host_id = lane FOR NO KEY UPDATE;
  SELECT status INTO before FROM messor.crawl_tasks WHERE page_id = OLD.id FOR NO KEY UPDATE;
  UPDATE messor.crawl_tasks
     SET priority = NEW.priority, max_retries = NEW.max_retries,
         crawl_frequency = CASE WHEN NEW.crawl_frequency = OLD.crawl_frequency THEN crawl_frequency
                                ELSE NEW.crawl_frequency END,
         due_at = CASE WHEN NEW.scheduled_at IS NOT DISTINCT FROM OLD.scheduled_at
                         OR before IN ('paused', 'cancelled') THEN due_at ELSE NEW.scheduled_at END
   WHERE page_id = OLD.id;
  IF NEW.status IS DISTINCT FROM OLD.status THEN
    CASE
      WHEN NEW.status = 'paused' AND before IN ('pending', 'completed', 'failed') THEN
        UPDATE messor.crawl_tasks SET status = 'paused', held_due_at = due_at, due_at = NULL
         WHERE page_id = OLD.id;
      WHEN NEW.status = 'cancelled' THEN
        UPDATE messor.crawl_tasks SET status = 'cancelled', held_due_at = NULL, due_at = NULL
         WHERE page_id = OLD.id;
      WHEN NEW.status = 'pending' AND before = 'paused' THEN
        UPDATE messor.crawl_tasks SET status = 'pending', due_at = held_due_at, held_due_at = NULL
         WHERE page_id = OLD.id;
      WHEN NEW.status = 'pending' AND before IN ('failed', 'cancelled', 'completed') THEN
        UPDATE messor.crawl_tasks SET status = 'pending', due_at = messor.clock(), retry_count = 0
         WHERE page_id = OLD.id;
      ELSE
        RAISE invalid_parameter_value USING MESSAGE = format(
          'A task that is %s cannot become %s: people pause, cancel and resume (pending) tasks.', OLD.status, NEW.status);
    END CASE;
    PERFORM messor.tell(CASE WHEN NEW.status = 'paused' THEN 'tasks.paused'
                             WHEN NEW.status = 'cancelled' THEN 'tasks.stopped'
                             WHEN before = 'paused' THEN 'tasks.resumed'
                             WHEN before = 'completed' THEN 'tasks.recrawled' ELSE 'tasks.retried' END,
      actor, (SELECT h.domain_id FROM messor.hosts h WHERE h.id = lane), OLD.id,
      jsonb_build_object('scope', 'url', 'name', OLD.url, 'tasks', 1));
  END IF;
  UPDATE messor.lanes l
     SET due_at = n.due_at,
         claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, n.due_at) ELSE l.claim_at END,
         recall = CASE WHEN l.worker_id IS NOT NULL AND NEW.status IN ('paused', 'cancelled') THEN l.token
                       ELSE l.recall END
    FROM (SELECT min(first.due_at) AS due_at FROM generate_series(0, 10) AS p (priority)
           CROSS JOIN LATERAL (
             SELECT t.due_at FROM messor.crawl_tasks t WHERE t.host_id = lane AND t.priority = p.priority
                AND t.due_at IS NOT NULL ORDER BY t.due_at LIMIT 1) first) n
   WHERE l.host_id = lane;
  RETURN NEW;
END $$;
