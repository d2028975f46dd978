-- Migration 003: why jobs died, how long their dedupe keys count, and where finished ones go.

-- Until its window ends, a finished job's key keeps the same work from being asked for again.
ALTER TABLE messor.jobs
  ADD window_ends_at timestamptz NOT NULL DEFAULT messor.clock() + interval '31 days',
  ADD dead_category text,
  ADD dead_type text,
  ADD dead_reason text;

UPDATE messor.jobs j
   SET dead_category = coalesce(e.category, 'internal'), dead_type = coalesce(e.error_type, 'Unknown'),
       dead_reason = coalesce(e.error_message, 'The reason was not recorded.')
  FROM messor.jobs d
  LEFT JOIN LATERAL (SELECT l.category, l.error_type, l.error_message FROM messor.error_logs l
                      WHERE l.job_id = d.id ORDER BY l.occurred_at DESC LIMIT 1) e ON true
 WHERE d.state = 'dead' AND j.id = d.id;

-- Each claim and completion leaves a dead row version, whatever the table's size.
ALTER TABLE messor.jobs SET (
  autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_threshold = 5000, autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0);

CREATE INDEX jobs_retiring ON messor.jobs (window_ends_at) WHERE state IN ('done', 'cancelled');
CREATE INDEX jobs_dead ON messor.jobs (job_type, finished_at) WHERE state = 'dead';

-- Jobs whose key no longer counts, as they ended.
CREATE TABLE messor.jobs_history (
  LIKE messor.jobs,
  retired_at timestamptz NOT NULL DEFAULT messor.clock()
) PARTITION BY RANGE (finished_at);
CREATE INDEX jobs_history_id ON messor.jobs_history (id);
SELECT messor.make_partitions('jobs_history');

CREATE INDEX error_logs_job ON messor.error_logs (job_id, occurred_at) WHERE job_id IS NOT NULL;

-- What messages of the same kind have in common: whatever varies becomes a placeholder. Only the
-- beginning is looked at, since a message may hold a whole page.
CREATE FUNCTION messor.error_pattern(message text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT left(trim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
         regexp_replace(left(message, 1000),
           '\m[a-z][a-z0-9+.-]{0,20}://[^\s"''<>)]+', '<url>', 'gi'),
           '"[^"]*"|“[^”]*”|«[^»]*»|`[^`]*`|(?<!\w)''[^'']*''(?!\w)', '<text>', 'g'),
           '\m[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\M', '<id>', 'gi'),
           '\m(0x[0-9a-f]+|(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,})\M', '<hex>', 'gi'),
           '\d+([.,:]\d+)*', '<n>', 'g'),
           '\s+', ' ', 'g')), 300)
$$;
