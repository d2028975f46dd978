-- Whether a URL is within the scope of a crawl run: its host, the folder below which it stays, and the
-- patterns of paths that it takes or leaves out. Patterns were checked before they were stored.
CREATE OR REPLACE FUNCTION messor.run_takes(scope jsonb, host text, url text) RETURNS boolean
LANGUAGE sql STABLE AS $$
  WITH place AS (
    SELECT CASE WHEN (scope ->> 'whole_url')::boolean THEN url
                ELSE regexp_replace(url, '^[a-z]+://[^/?#]*', '') END AS path,
           regexp_replace(url, '^[a-z]+://[^/?#]*', '') AS own
  )
  SELECT (scope ->> 'host' IS NULL OR host = scope ->> 'host')
     AND (scope ->> 'folder' IS NULL OR starts_with(own, scope ->> 'folder'))
     AND (NOT coalesce((scope ->> 'no_query')::boolean, false) OR strpos(own, '?') = 0)
     AND (jsonb_array_length(coalesce(scope -> 'include', '[]')) = 0
          OR EXISTS (SELECT FROM jsonb_array_elements_text(scope -> 'include') p WHERE path ~ p))
     AND NOT EXISTS (SELECT FROM jsonb_array_elements_text(coalesce(scope -> 'exclude', '[]')) p
                      WHERE path ~ p)
    FROM place
$$;
