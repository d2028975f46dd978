-- After rows of a sealed log were deleted or changed: notes which, and why as far as the transaction says, and
-- drops their salts.
CREATE OR REPLACE FUNCTION messor.unseal_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM old_rows) THEN
    RETURN NULL;
  END IF;
  INSERT INTO messor.seal_removals (log, row_id, cause)
  SELECT TG_TABLE_NAME, o.id, coalesce(current_setting('messor.removal', true), '') FROM old_rows o;
  PERFORM messor.drop_salts(TG_TABLE_NAME, (SELECT array_agg(o.id) FROM old_rows o));
  RETURN NULL;
END $$;
