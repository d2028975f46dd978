-- Until when a domain may not be visited: outside its crawl hours, or its bytes of the day are used up; NULL: it
-- may. The nil UUID stands for all domains together.
CREATE OR REPLACE FUNCTION messor.closed_until(scope uuid, hours text, zone text, t timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
  SELECT greatest(messor.shut_until(hours, zone, t),
                  (SELECT s.until FROM messor.traffic_spent s WHERE s.scope = closed_until.scope AND s.until > t))
$$;
