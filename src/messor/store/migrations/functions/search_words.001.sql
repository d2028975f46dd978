-- The words of a document. A text with more of them than one row can hold is indexed by its
-- beginning rather than not at all.
CREATE OR REPLACE FUNCTION messor.search_words(config text, title text, about text, body text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(title, 1000), ''))), 'A')
      || setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(about, 5000), ''))), 'B')
      || setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(body, 100000), ''))), 'D');
EXCEPTION WHEN program_limit_exceeded THEN
  RETURN setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(title, 1000), ''))), 'A')
      || setweight(to_tsvector(config::regconfig, messor.fold(coalesce(left(body, 10000), ''))), 'D');
END $$;
