-- What a view of a specification cannot take. The argument says what to do instead.
CREATE OR REPLACE FUNCTION messor.refuse_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE feature_not_supported USING MESSAGE = format('%s on %s.%s is refused: %s.', TG_OP,
    TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_ARGV[0]);
END $$;
