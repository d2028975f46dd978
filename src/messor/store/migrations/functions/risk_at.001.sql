-- A host's risk at time t: it loses a tenth each day.
CREATE OR REPLACE FUNCTION messor.risk_at(score real, scored_at timestamptz, t timestamptz) RETURNS real
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN coalesce(score, 0) = 0 OR scored_at IS NULL THEN 0
              ELSE score * power(0.9, greatest(extract(epoch FROM t - scored_at), 0) / 86400.0)
         END::real
$$;
