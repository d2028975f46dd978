-- What messages of the same kind have in common: whatever varies becomes a placeholder. Only the
-- beginning is looked at, since a message may hold a whole page.
CREATE OR REPLACE FUNCTION messor.error_pattern(message text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT left(trim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
         regexp_replace(left(message, 1000),
           '\m[a-z][a-z0-9+.-]{0,20}://[^\s"''<>)]+', '<url>', 'gi'),
           '"[^"]*"|“[^”]*”|«[^»]*»|`[^`]*`|(?<!\w)''[^'']*''(?!\w)', '<text>', 'g'),
           '\m[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\M', '<id>', 'gi'),
           '\m(0x[0-9a-f]+|(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,})\M', '<hex>', 'gi'),
           '\d+([.,:]\d+)*', '<n>', 'g'),
           '\s+', ' ', 'g')), 300)
$$;
