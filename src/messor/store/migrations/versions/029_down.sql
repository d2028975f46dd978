ALTER TABLE messor.robots_redirects DROP schemes;
ALTER TABLE messor.robots_files DROP scheme;
ALTER TABLE messor.hosts DROP scheme, DROP other_robots_id, DROP spoke_https, DROP https_error;
