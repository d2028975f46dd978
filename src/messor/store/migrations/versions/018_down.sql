DROP INDEX messor.jobs_deliveries;
DROP TABLE messor.default_views;
DROP TABLE messor.saved_views;
