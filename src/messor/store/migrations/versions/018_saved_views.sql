-- Migration 018: lists as people want to see them again, and a webhook's deliveries found by it.

-- What a person narrowed a list down to, under a name of their own.
CREATE TABLE messor.saved_views (
  id uuid PRIMARY KEY,
  member_id uuid NOT NULL REFERENCES messor.members ON DELETE CASCADE,
  list text COLLATE "C" NOT NULL CHECK (list IN ('domains', 'review', 'tasks')),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 60),
  filters jsonb NOT NULL CHECK (jsonb_typeof(filters) = 'object' AND length(filters::text) <= 4000),
  is_shared boolean NOT NULL DEFAULT false,    -- everybody sees it; its owner alone changes it
  created_at timestamptz NOT NULL DEFAULT messor.clock(),
  UNIQUE (member_id, list, name)
);
CREATE INDEX saved_views_shared ON messor.saved_views (list, name) WHERE is_shared;

-- What a member's list opens with; it may be somebody else's view, as long as that is shared.
CREATE TABLE messor.default_views (
  member_id uuid NOT NULL REFERENCES messor.members ON DELETE CASCADE,
  list text COLLATE "C" NOT NULL,
  view_id uuid NOT NULL REFERENCES messor.saved_views ON DELETE CASCADE,
  PRIMARY KEY (member_id, list)
);
CREATE INDEX default_views_view ON messor.default_views (view_id);

CREATE INDEX jobs_deliveries ON messor.jobs (target_id, created_at DESC) WHERE job_type = 'webhook';
