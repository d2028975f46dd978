-- Drops the salts of sealed rows: what is left of them is a hash that tells nothing.
CREATE OR REPLACE FUNCTION messor.drop_salts(sealed_log text, gone bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE messor.seals s
     SET salts = (SELECT string_agg(
                           CASE WHEN i.id IN (SELECT unnest(gone)) THEN decode(repeat('00', 16), 'hex')
                                ELSE substr(s.salts, (i.n::int - 1) * 16 + 1, 16) END, ''::bytea ORDER BY i.n)
                    FROM unnest(s.ids) WITH ORDINALITY AS i (id, n))
   WHERE s.log = sealed_log
     AND s.last_id >= (SELECT min(g) FROM unnest(gone) g)
     AND EXISTS (SELECT FROM unnest(gone) g WHERE g BETWEEN s.first_id AND s.last_id);
END $$;
