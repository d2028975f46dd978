-- A text that is safe to store and display, as `registry.domains.checked` makes it; NULL if blank.
CREATE OR REPLACE FUNCTION messor.plain_text(given text, what text, longest integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  kept text := btrim(regexp_replace(coalesce(given, ''),
    '[\u0001-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]', '', 'g'), E' \t\r\n');
BEGIN
  IF length(kept) > longest THEN
    RAISE string_data_right_truncation USING
      MESSAGE = format('The %s is longer than %s characters.', what, longest);
  END IF;
  RETURN nullif(kept, '');
END $$;
