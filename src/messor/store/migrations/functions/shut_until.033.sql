-- When crawl hours such as '22-6' begin next in a time zone; NULL while they last, or without hours.
CREATE OR REPLACE FUNCTION messor.shut_until(hours text, zone text, t timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN hours IS NOT NULL THEN (
    SELECT CASE WHEN (n.first < n.last AND n.now >= n.first AND n.now < n.last)
                  OR (n.first > n.last AND (n.now >= n.first OR n.now < n.last)) THEN NULL
                ELSE (n.today + make_interval(hours => n.first)
                      + CASE WHEN n.now >= n.first THEN interval '1 day' ELSE interval '0' END) AT TIME ZONE zone END
      FROM (SELECT date_trunc('day', t AT TIME ZONE zone) AS today, extract(hour FROM t AT TIME ZONE zone)::int AS now,
                   split_part(hours, '-', 1)::int AS first, split_part(hours, '-', 2)::int AS last) n) END
$$;
