-- Until when nothing may be visited, by the limits of the installation; NULL: it may.
CREATE OR REPLACE FUNCTION messor.all_closed_until(t timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT messor.closed_until('00000000-0000-0000-0000-000000000000', x.crawl_hours, x.time_zone, t)
    FROM messor.traffic_limits x
$$;
