-- The name of a risk score's band.
CREATE OR REPLACE FUNCTION messor.risk_level(risk real) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN risk > 80 THEN 'critical' WHEN risk > 50 THEN 'high' WHEN risk > 20 THEN 'medium'
              ELSE 'low' END
$$;
