-- What happened: events, refusals, errors, alarms.

-- Read by commit order: WHERE tx < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY tx, id.
CREATE TABLE messor.events (
  id bigint GENERATED ALWAYS AS IDENTITY,
  tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
  occurred_at timestamptz NOT NULL DEFAULT messor.clock(),
  type text NOT NULL,
  actor text NOT NULL,
  domain_id uuid,
  page_id bigint,
  data jsonb NOT NULL DEFAULT '{}'
) PARTITION BY RANGE (occurred_at);
CREATE INDEX events_order ON messor.events (tx, id);
CREATE INDEX events_domain ON messor.events (domain_id, occurred_at DESC);
SELECT messor.make_partitions('events');
CREATE TRIGGER events_told AFTER INSERT ON messor.events
  FOR EACH STATEMENT EXECUTE FUNCTION messor.tell_of_events();

CREATE TABLE messor.decisions (
  decided_at timestamptz NOT NULL DEFAULT messor.clock(),
  page_id bigint NOT NULL,
  verdict text NOT NULL CHECK (verdict IN ('denied', 'deferred')),
  rule text NOT NULL,
  reason text NOT NULL,
  policy_version integer NOT NULL,
  robots_id bigint
) PARTITION BY RANGE (decided_at);
CREATE INDEX decisions_page ON messor.decisions (page_id, decided_at DESC);
SELECT messor.make_partitions('decisions');

CREATE TABLE messor.error_logs (
  occurred_at timestamptz NOT NULL DEFAULT messor.clock(),
  crawl_task_id bigint,
  job_id uuid,
  category text NOT NULL,
  error_type text NOT NULL,
  error_message text NOT NULL,
  stack_trace text,
  detail jsonb
) PARTITION BY RANGE (occurred_at);
CREATE INDEX error_logs_job ON messor.error_logs (job_id, occurred_at) WHERE job_id IS NOT NULL;
SELECT messor.make_partitions('error_logs');

-- What is wrong with the running installation now; a process repeats its own while they stand.
CREATE TABLE messor.alarms (
  place text NOT NULL,                         -- machine and process
  name text NOT NULL,                          -- disk, clock, or a component
  said text NOT NULL,
  raised_at timestamptz NOT NULL DEFAULT messor.clock(),
  seen_at timestamptz NOT NULL DEFAULT messor.clock(),
  PRIMARY KEY (place, name)
);
