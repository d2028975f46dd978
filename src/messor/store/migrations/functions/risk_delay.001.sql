-- What a level asks for beyond the usual delay: medium from 21, high from 51.
CREATE OR REPLACE FUNCTION messor.risk_delay(risk real) RETURNS real LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN risk > 50 THEN 2.0 WHEN risk > 20 THEN 1.2 ELSE 0 END::real
$$;
