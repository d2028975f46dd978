-- What makes two keywords the same: their text without regard to case and spaces.
CREATE OR REPLACE FUNCTION messor.keyword_key(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(btrim(regexp_replace(given COLLATE "default", '\s+', ' ', 'g')))
$$;
