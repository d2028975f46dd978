"""Keywords are the same whatever their case and spaces; tiers set by hand; intervals of verticals."""

from alembic import op

from messor.store.migration_script import use_function

revision = "004_keywords_and_cadence"
down_revision = "003_submission_terms"
branch_labels = None
depends_on = None

# Only a keyword that was never searched can go: result pages belong to the other one.
MERGE = """
DELETE FROM messor.keywords k
 WHERE EXISTS (SELECT FROM messor.keywords o WHERE o.serp_profile_id = k.serp_profile_id
                  AND messor.keyword_key(o.keyword_text) = messor.keyword_key(k.keyword_text)
                  AND (o.created_at, o.id) <> (k.created_at, k.id)
                  AND (o.last_snapshot_at IS NOT NULL OR (o.created_at, o.id) < (k.created_at, k.id)))
   AND NOT EXISTS (SELECT FROM messor.search_requests r WHERE r.keyword_id = k.id)
"""
# Whoever added a keyword with another tier than the usual one meant it.
BY_HAND = """
UPDATE messor.keywords SET tier_set_by = 'manual'
 WHERE source = 'manual' AND tier_reason IS NULL AND tier <> 'C'
"""


def upgrade() -> None:
    use_function("keyword_key", "004")
    op.execute(MERGE)
    op.execute(
        "CREATE UNIQUE INDEX keywords_same ON messor.keywords "
        "(messor.keyword_key(keyword_text), serp_profile_id)"
    )
    op.execute("ALTER TABLE messor.keywords ADD COLUMN tier_set_by text")
    op.execute(BY_HAND)
    op.execute(
        "ALTER TABLE messor.domains ADD COLUMN track_interval interval "
        "CONSTRAINT domains_track_interval_check CHECK (track_interval > interval '0')"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE messor.domains DROP COLUMN track_interval")
    op.execute("ALTER TABLE messor.keywords DROP COLUMN tier_set_by")
    op.execute("DROP INDEX messor.keywords_same")
    op.execute("DROP FUNCTION messor.keyword_key(text)")
