-- Back to 005.
DROP TRIGGER jobs_hint ON messor.jobs;
DROP FUNCTION messor.note_hints();
DROP TABLE messor.outbox_relay, messor.job_outbox;
