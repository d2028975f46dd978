-- Keys never change; only statements that name the column reach this.
CREATE OR REPLACE FUNCTION messor.refuse_another_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE foreign_key_violation
    USING MESSAGE = format('a row of %s stays where it is', TG_TABLE_NAME), TABLE = TG_TABLE_NAME;
END $$;
