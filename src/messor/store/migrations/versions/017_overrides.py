"""Corrections in force replace what a page states; those made before stay lessons."""

from alembic import op

revision = "017_overrides"
down_revision = "016_watches"
branch_labels = None
depends_on = None

_COLUMNS = """
ALTER TABLE messor.corrections
  ADD COLUMN page_id bigint,
  ADD COLUMN state text NOT NULL DEFAULT 'lesson'
    CHECK (state IN ('in_force', 'lapsed', 'withdrawn', 'replaced', 'lesson')),
  ADD COLUMN value jsonb,
  ADD COLUMN page_value jsonb,
  ADD COLUMN reason text CHECK (length(reason) <= 1000),
  ADD COLUMN ended_at timestamptz
"""
# A record that was purged meanwhile has no page; its corrections still teach.
_PAGES = """
UPDATE messor.corrections c
   SET page_id = coalesce((SELECT r.page_id FROM messor.records r WHERE r.id = c.record_id), 0)
"""
_CAUSES = "ALTER TABLE messor.record_changes DROP CONSTRAINT record_changes_cause_check"
_CAUSE = """
ALTER TABLE messor.record_changes
  ADD CONSTRAINT record_changes_cause_check CHECK (cause IN ({causes})) NOT VALID
"""
_VALID = "ALTER TABLE messor.record_changes VALIDATE CONSTRAINT record_changes_cause_check"


def upgrade() -> None:
    op.execute(_COLUMNS)
    op.execute(_PAGES)
    op.execute("ALTER TABLE messor.corrections ALTER COLUMN page_id SET NOT NULL")
    op.execute(
        "CREATE UNIQUE INDEX corrections_in_force ON messor.corrections (record_id, field)"
        " WHERE state = 'in_force'"
    )
    op.execute(
        "CREATE INDEX corrections_of_pages ON messor.corrections (page_id) WHERE state = 'in_force'"
    )
    op.execute(_CAUSES)
    op.execute(_CAUSE.format(causes="'page', 'parser', 'person'"))
    op.execute(_VALID)


def downgrade() -> None:
    op.execute("UPDATE messor.record_changes SET cause = 'parser' WHERE cause = 'person'")
    op.execute("UPDATE messor.product_prices SET cause = 'parser' WHERE cause = 'person'")
    op.execute(_CAUSES)
    op.execute(_CAUSE.format(causes="'page', 'parser'"))
    op.execute(_VALID)
    op.execute("DROP INDEX messor.corrections_of_pages, messor.corrections_in_force")
    for column in ("ended_at", "reason", "page_value", "value", "state", "page_id"):
        op.execute(f"ALTER TABLE messor.corrections DROP COLUMN {column}")
