DROP FUNCTION messor.error_pattern;
DROP INDEX messor.error_logs_job;
DROP TABLE messor.jobs_history;
DROP INDEX messor.jobs_dead, messor.jobs_retiring;
ALTER TABLE messor.jobs
  DROP window_ends_at, DROP dead_category, DROP dead_type, DROP dead_reason,
  RESET (autovacuum_vacuum_threshold, autovacuum_analyze_threshold, autovacuum_analyze_scale_factor),
  SET (autovacuum_vacuum_scale_factor = 0.02);
