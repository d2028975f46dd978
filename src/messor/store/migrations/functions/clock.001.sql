-- The time, for everything in SQL; never now(): tests move this one, and a long transaction must not judge
-- leases by the time it began.
CREATE OR REPLACE FUNCTION messor.clock() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT clock_timestamp()
         + coalesce(nullif(current_setting('messor.clock_offset', true), '')::interval, interval '0')
$$;
