-- A page needs its host. Hosts are locked as by a foreign key: one that is being deleted is waited for, and
-- one that has got a page is deleted with it.
CREATE OR REPLACE FUNCTION messor.pages_need_hosts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wanted bigint[] := ARRAY(SELECT DISTINCT host_id FROM added);
  held integer;
BEGIN
  PERFORM FROM messor.hosts WHERE id = ANY (wanted) ORDER BY id FOR KEY SHARE;
  GET DIAGNOSTICS held = ROW_COUNT;
  IF held < cardinality(wanted) THEN
    RAISE foreign_key_violation USING MESSAGE = 'a page needs its host', TABLE = 'pages';
  END IF;
  RETURN NULL;
END $$;
