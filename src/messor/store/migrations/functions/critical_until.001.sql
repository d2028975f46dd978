-- When a critical score will have decayed to 80; NULL when it is not critical.
CREATE OR REPLACE FUNCTION messor.critical_until(score real, scored_at timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN score > 80
              THEN scored_at + make_interval(secs => 86400.0 * ln(80.0 / score) / ln(0.9)) END
$$;
