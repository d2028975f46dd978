-- How the list of erasures names a person.
CREATE OR REPLACE FUNCTION messor.person_key(who text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT encode(sha256(convert_to(lower(btrim(who)), 'UTF8')), 'hex')
$$;
