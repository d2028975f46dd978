DROP INDEX messor.http_fetches_time;
