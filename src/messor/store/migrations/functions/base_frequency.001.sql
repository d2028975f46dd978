-- How often a page is looked at before its history is asked: the first that is set.
CREATE OR REPLACE FUNCTION messor.base_frequency(own interval, track_level text, hours integer) RETURNS interval
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(own,
                  CASE track_level WHEN 'A' THEN interval '1 day' WHEN 'B' THEN interval '7 days'
                                   WHEN 'C' THEN interval '30 days' WHEN 'D' THEN interval '91 days' END,
                  make_interval(hours => hours), interval '1 day')
$$;
