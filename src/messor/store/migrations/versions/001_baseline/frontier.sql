-- Pages, their crawl tasks, sitemaps, batches and runs.

CREATE TABLE messor.pages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host_id bigint NOT NULL,
  url_hash bytea NOT NULL,                     -- SHA-256 of the canonical form
  url text COLLATE "C" NOT NULL,
  found_by text NOT NULL CHECK (found_by IN ('seed', 'robots', 'sitemap', 'link', 'redirect', 'manual')),
  found_on bigint,                             -- the page that led here
  depth smallint NOT NULL DEFAULT 0,
  hops smallint NOT NULL DEFAULT 0,            -- redirects in a row that led here
  category text,
  found_at timestamptz NOT NULL DEFAULT messor.clock(),
  sitemap_lastmod timestamptz,
  CONSTRAINT pages_host_id_url_hash_key UNIQUE (host_id, url_hash) INCLUDE (id)
);
-- Triggers stand in for the foreign keys of pages and tasks: they check once per statement. Checking each
-- row took a third of what PostgreSQL spends on new links.
CREATE TRIGGER pages_host AFTER INSERT ON messor.pages
  REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION messor.pages_need_hosts();
CREATE TRIGGER pages_tasks AFTER DELETE ON messor.pages
  REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION messor.tasks_go_with_pages();
CREATE TRIGGER pages_stay BEFORE UPDATE OF host_id ON messor.pages
  FOR EACH ROW WHEN (OLD.host_id <> NEW.host_id) EXECUTE FUNCTION messor.refuse_another_key();

CREATE TABLE messor.crawl_tasks (
  page_id bigint PRIMARY KEY,
  host_id bigint NOT NULL,
  kind text NOT NULL DEFAULT 'page' CHECK (
    kind IN ('page', 'robots', 'sitemap', 'image', 'preflight', 'render')),
  priority smallint NOT NULL DEFAULT 5 CHECK (priority BETWEEN 0 AND 10),  -- 0 is for robots
  due_at timestamptz,                          -- NULL: not scheduled
  status text NOT NULL DEFAULT 'pending' CHECK (
    status IN ('pending', 'completed', 'failed', 'paused', 'cancelled')),
  outcome text,                                -- of the last fetch
  retry_count smallint NOT NULL DEFAULT 0,
  max_retries smallint NOT NULL DEFAULT 3,
  crawl_frequency interval,
  last_fetched_at timestamptz,
  completed_at timestamptz,
  last_status smallint,
  snapshot_id bigint,                          -- the newest good one
  raw_hash bytea,
  etag text,
  last_modified text,
  refusal text,                                -- rule and reason of the standing "no"
  error_message text,
  provider text,                               -- who brought the newest good content; NULL: HTTP
  deaths smallint NOT NULL DEFAULT 0,          -- processes it killed
  held_due_at timestamptz,                     -- of a paused task: when it would be due
  -- The last sixteen looks at a page that was known, newest last: 1 where it had changed. The
  -- highest bit only marks how many there are.
  history integer NOT NULL DEFAULT 1 CHECK (history BETWEEN 1 AND 131071),
  -- 64-bit hash of the last response as sent, still content-encoded: equal bytes are not decoded again.
  wire_tag bigint,
  CONSTRAINT crawl_tasks_held CHECK (status NOT IN ('paused', 'cancelled') OR due_at IS NULL)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX crawl_tasks_due ON messor.crawl_tasks (host_id, priority, due_at) WHERE due_at IS NOT NULL;
CREATE TRIGGER crawl_tasks_page AFTER INSERT ON messor.crawl_tasks
  REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION messor.tasks_need_pages();
CREATE TRIGGER crawl_tasks_stay BEFORE UPDATE OF page_id ON messor.crawl_tasks
  FOR EACH ROW WHEN (OLD.page_id <> NEW.page_id) EXECUTE FUNCTION messor.refuse_another_key();

-- Links that never became pages, counted by the rule that refused them.
CREATE TABLE messor.refused_links (
  host_id bigint NOT NULL REFERENCES messor.hosts ON DELETE CASCADE,
  rule text COLLATE "C" NOT NULL,
  links bigint NOT NULL,
  PRIMARY KEY (host_id, rule)
) WITH (fillfactor = 50);

CREATE TABLE messor.sitemaps (
  page_id bigint PRIMARY KEY REFERENCES messor.pages ON DELETE CASCADE,
  host_id bigint NOT NULL,
  parent_id bigint,                            -- the sitemap that names it
  depth smallint NOT NULL DEFAULT 0,
  kind text,
  urls integer NOT NULL DEFAULT 0,
  sitemaps integer NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  error_json jsonb,
  warnings jsonb,
  read_at timestamptz
);
CREATE INDEX sitemaps_host ON messor.sitemaps (host_id);

-- Pages of a pattern that can go on for ever (calendars, facets), counted against its budget.
CREATE TABLE messor.url_patterns (
  host_id bigint NOT NULL REFERENCES messor.hosts ON DELETE CASCADE,
  pattern text COLLATE "C" NOT NULL,
  pages integer NOT NULL DEFAULT 0,
  PRIMARY KEY (host_id, pattern)
) WITH (fillfactor = 70);

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

-- One row while all tasks are paused.
CREATE TABLE messor.standstill (
  is_on boolean PRIMARY KEY DEFAULT true CHECK (is_on),
  actor text NOT NULL,
  since timestamptz NOT NULL DEFAULT messor.clock()
);

-- One crawl of a domain from a named URL. Its limits are its own; the domain's terms stay as they are.
CREATE TABLE messor.crawl_runs (
  id uuid PRIMARY KEY,
  domain_id uuid NOT NULL REFERENCES messor.domains ON DELETE CASCADE,
  url text NOT NULL,                           -- the named URL, which is always fetched
  page_id bigint NOT NULL,
  started_by text NOT NULL,
  bounded boolean NOT NULL,                    -- only pages of `crawl_run_pages` are fetched for it
  sitemaps boolean NOT NULL DEFAULT false,     -- what sitemaps list belongs to it, one step away
  max_depth smallint,                          -- links away from the named URL
  max_pages integer,
  delay real,
  refetch boolean NOT NULL DEFAULT false,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'done', 'interrupted')),
  started_at timestamptz NOT NULL DEFAULT messor.clock(),
  seen_at timestamptz NOT NULL DEFAULT messor.clock(),  -- its command was alive then
  ended_at timestamptz,
  left_out integer NOT NULL DEFAULT 0,         -- links over `max_pages`
  CONSTRAINT crawl_runs_page
    FOREIGN KEY (page_id) REFERENCES messor.pages ON DELETE CASCADE
);
CREATE INDEX crawl_runs_domain ON messor.crawl_runs (domain_id, started_at DESC);
CREATE INDEX crawl_runs_open ON messor.crawl_runs (domain_id) WHERE ended_at IS NULL;
CREATE INDEX crawl_runs_page_id ON messor.crawl_runs (page_id);

CREATE TABLE messor.crawl_run_pages (
  run_id uuid NOT NULL REFERENCES messor.crawl_runs ON DELETE CASCADE,
  page_id bigint NOT NULL,
  depth smallint NOT NULL,                     -- links away from the named URL
  fetched boolean NOT NULL,                    -- for this run; else it was fresh enough
  expanded boolean NOT NULL DEFAULT false,     -- the links of a fresh page were taken from the archive
  due_before timestamptz,
  PRIMARY KEY (run_id, page_id),
  CONSTRAINT crawl_run_pages_known
    FOREIGN KEY (page_id) REFERENCES messor.pages ON DELETE CASCADE
);
CREATE INDEX crawl_run_pages_page ON messor.crawl_run_pages (page_id);

-- Redirects of images that were not followed yet.
CREATE TABLE messor.moved_pictures (
  page_id bigint PRIMARY KEY REFERENCES messor.pages (id) ON DELETE CASCADE,
  url text NOT NULL
);

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
