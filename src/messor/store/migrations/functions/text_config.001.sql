-- How words of a language are brought to their stems; plainly, where that is not known. The name is
-- kept rather than the object: a server cannot be upgraded in place with columns of the latter.
CREATE OR REPLACE FUNCTION messor.text_config(language text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE substring(lower(btrim(language)) FROM '^[a-z]{2,3}')
    WHEN 'ar' THEN 'arabic' WHEN 'ca' THEN 'catalan' WHEN 'da' THEN 'danish' WHEN 'de' THEN 'german'
    WHEN 'el' THEN 'greek' WHEN 'en' THEN 'english' WHEN 'es' THEN 'spanish' WHEN 'eu' THEN 'basque'
    WHEN 'fi' THEN 'finnish' WHEN 'fr' THEN 'french' WHEN 'ga' THEN 'irish' WHEN 'hi' THEN 'hindi'
    WHEN 'hu' THEN 'hungarian' WHEN 'hy' THEN 'armenian' WHEN 'id' THEN 'indonesian'
    WHEN 'it' THEN 'italian' WHEN 'lt' THEN 'lithuanian' WHEN 'nb' THEN 'norwegian'
    WHEN 'ne' THEN 'nepali' WHEN 'nl' THEN 'dutch' WHEN 'nn' THEN 'norwegian'
    WHEN 'no' THEN 'norwegian' WHEN 'pt' THEN 'portuguese' WHEN 'ro' THEN 'romanian'
    WHEN 'ru' THEN 'russian' WHEN 'sr' THEN 'serbian' WHEN 'sv' THEN 'swedish' WHEN 'ta' THEN 'tamil'
    WHEN 'tr' THEN 'turkish' WHEN 'yi' THEN 'yiddish' ELSE 'simple' END
$$;
