CREATE OR REPLACE FUNCTION messor.fold(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(replace(replace(replace(replace(translate(
           regexp_replace(normalize(given, NFKD), '[\u0300-\u036F]', '', 'g'),
           'łŁøØđĐħĦıŧŦðÐ', 'lLoOdDhHitTdD'),
           'ß', 'ss'), 'æ', 'ae'), 'Æ', 'AE'), 'œ', 'oe'), 'Œ', 'OE')
$$;

INSERT INTO messor.search_due (page_id) SELECT DISTINCT page_id FROM messor.search_documents;
