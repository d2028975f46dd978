DO $$
DECLARE item record;
BEGIN
  FOR item IN SELECT schemaname AS place, viewname AS name FROM pg_views
               WHERE schemaname IN ('wellness', 'forager', 'approval', 'funding', 'orbit') LOOP
    EXECUTE format('DROP VIEW IF EXISTS %I.%I', item.place, item.name);
  END LOOP;
END $$;
DROP TYPE funding.domain_status;
DROP FUNCTION forager.sha256;
-- Not CASCADE: what somebody else put there stays, and says so.
DROP SCHEMA wellness;
DROP SCHEMA forager;
DROP SCHEMA approval;
DROP SCHEMA funding;
DROP SCHEMA orbit;
DROP FUNCTION messor.write_wellness_domain, messor.write_wellness_job, messor.write_wellness_keyword,
  messor.write_forager_domain, messor.write_forager_task, messor.write_forager_proxy,
  messor.write_approval_domain, messor.write_funding_domain, messor.hold_domain, messor.change_terms,
  messor.start_domain, messor.plant_url, messor.move_domain, messor.enter_domain, messor.refuse_write,
  messor.tell, messor.plain_text, messor.sql_actor, messor.new_id;
ALTER TABLE messor.domains DROP COLUMN number;
