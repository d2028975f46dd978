-- wellness.keywords: a keyword added by hand, in its normal form as `scout.keywords.add` stores it.
CREATE OR REPLACE FUNCTION messor.write_wellness_keyword() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.keyword_text := btrim(regexp_replace(lower(normalize(NEW.keyword_text, NFC)), '[\s[:cntrl:]]+', ' ', 'g'));
  INSERT INTO messor.keywords (id, keyword_text, serp_profile_id, vertical_id, tier, source, seed_keyword_id,
                               active, created_at, tier_set_by)
  VALUES (coalesce(NEW.id, gen_random_uuid()), NEW.keyword_text, NEW.serp_profile_id, NEW.vertical_id,
          coalesce(NEW.tier, 'C'), coalesce(NEW.source, 'manual'), NEW.seed_keyword_id,
          coalesce(NEW.active, true), coalesce(NEW.created_at, messor.clock()),
          CASE WHEN NEW.tier <> 'C' THEN messor.sql_actor() END);
  RETURN NEW;
END $$;
