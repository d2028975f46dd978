-- Migration 004: crawl tasks in people's hands.

-- Frontier -------------------------------------------------------------------------------------

ALTER TABLE messor.crawl_tasks
  ADD held_due_at timestamptz,                 -- of a paused task: when it would be due
  -- The last sixteen looks at a page that was known, newest last: 1 where it had changed. The
  -- highest bit only marks how many there are.
  ADD history integer NOT NULL DEFAULT 1 CHECK (history BETWEEN 1 AND 131071),
  ADD CONSTRAINT crawl_tasks_held CHECK (status NOT IN ('paused', 'cancelled') OR due_at IS NULL);

-- How often a page is looked at before its history is asked: the first that is set.
CREATE FUNCTION messor.base_frequency(own interval, track_level text, hours integer) RETURNS interval
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(own,
                  CASE track_level WHEN 'A' THEN interval '1 day' WHEN 'B' THEN interval '7 days'
                                   WHEN 'C' THEN interval '30 days' WHEN 'D' THEN interval '91 days' END,
                  make_interval(hours => hours), interval '1 day')
$$;

-- What was submitted together. Its counts are true after every chunk of lines.
CREATE TABLE messor.task_batches (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  submitted_by text NOT NULL,
  source text NOT NULL,                        -- a file's name, stdin, api …
  format text NOT NULL,
  lines integer NOT NULL DEFAULT 0,            -- that say something
  accepted integer NOT NULL DEFAULT 0,
  fresh integer NOT NULL DEFAULT 0,            -- of the accepted: pages that were not known
  duplicates integer NOT NULL DEFAULT 0,
  rejected integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  finished_at timestamptz                      -- NULL: it is being read, or was broken off
);
CREATE INDEX task_batches_created ON messor.task_batches (created_at DESC);

CREATE TABLE messor.batch_pages (
  batch_id uuid NOT NULL REFERENCES messor.task_batches ON DELETE CASCADE,
  page_id bigint NOT NULL,
  line integer NOT NULL,
  PRIMARY KEY (batch_id, page_id)
);

CREATE TABLE messor.batch_errors (
  batch_id uuid NOT NULL REFERENCES messor.task_batches ON DELETE CASCADE,
  line integer NOT NULL,
  text text NOT NULL,                          -- the beginning of it
  reason text NOT NULL,
  PRIMARY KEY (batch_id, line)
);

-- Control --------------------------------------------------------------------------------------

-- `active` is what claims and flushes look at; it is false while the domain or everything is
-- paused. Which of the two it was must be known to resume one without the other.
ALTER TABLE messor.domains ADD paused boolean NOT NULL DEFAULT false;
UPDATE messor.domains SET paused = true WHERE NOT active;

CREATE TABLE messor.standstill (               -- one row while everything is paused
  is_on boolean PRIMARY KEY DEFAULT true CHECK (is_on),
  actor text NOT NULL,
  since timestamptz NOT NULL DEFAULT messor.clock()
);

CREATE FUNCTION messor.heed_standstill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.paused := NEW.paused OR NOT NEW.active;
  NEW.active := NOT NEW.paused AND NOT EXISTS (SELECT FROM messor.standstill);
  RETURN NEW;
END $$;
CREATE TRIGGER domains_standstill BEFORE INSERT ON messor.domains
  FOR EACH ROW EXECUTE FUNCTION messor.heed_standstill();

-- The token of a visit that must end, because its tasks are not what it loaded.
ALTER TABLE messor.lanes ADD recall bigint;

-- The specifications' names, as views ----------------------------------------------------------

DROP VIEW messor.crawl_task_status;
-- Task status as people read it: queued and crawling follow from the lane's lease, paused also
-- from the domain.
CREATE VIEW messor.crawl_task_status AS
SELECT t.page_id, t.host_id, h.domain_id, p.url, encode(p.url_hash, 'hex') AS url_hash, t.kind,
       CASE WHEN t.status IN ('paused', 'cancelled') THEN t.status
            WHEN NOT d.active AND t.due_at IS NOT NULL THEN 'paused'
            WHEN t.status <> 'pending' AND t.due_at > messor.clock() THEN t.status
            WHEN l.worker_id IS NOT NULL AND t.due_at <= messor.clock() THEN 'crawling'
            WHEN t.due_at <= messor.clock() THEN 'queued'
            ELSE t.status END AS status,
       t.outcome, t.priority, coalesce(t.due_at, t.held_due_at) AS scheduled_at,
       t.due_at AS next_crawl_at, t.retry_count,
       t.max_retries, t.crawl_frequency, t.last_fetched_at AS last_crawled_at, t.completed_at,
       t.last_status AS last_http_status, t.refusal, t.error_message, t.history,
       d.track_level, d.scrape_frequency_hours
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.hosts h ON h.id = t.host_id JOIN messor.lanes l ON l.host_id = t.host_id
  JOIN messor.domains d ON d.id = h.domain_id;
