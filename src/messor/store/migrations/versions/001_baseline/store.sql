-- What the rooms' scripts build on.

DO $$
BEGIN
  -- Required by the AMI specification. Nothing depends on it, and not every server has it.
  IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pgcrypto') THEN
    CREATE EXTENSION IF NOT EXISTS pgcrypto;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'pgcrypto was not created: not permitted';
END $$;

-- Functions are created before the tables that their bodies name.
SET LOCAL check_function_bodies = off;
