-- Back to 004.
DROP FUNCTION messor.delete_old_rows(text, integer, integer);
DROP FUNCTION messor.drop_old_partition(text, integer);
DROP INDEX messor.ingestion_runs_open;
DROP TABLE messor.schedule_runs, messor.schedules, messor.leaders;
