"""Positions in the order of commits go on when the database moves to another cluster."""

from alembic import op

from messor.store.migration_script import use_function

revision = "021_commit_order"
down_revision = "020_search_outbox"
branch_labels = None
depends_on = None

ORDER = """
CREATE TABLE messor.commit_order (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  cluster text NOT NULL,
  since bigint NOT NULL DEFAULT 0,
  followed_at timestamptz NOT NULL DEFAULT messor.clock()
)
"""
# A dump that an earlier release made may lie in a cluster that counts from less: as if it were moved.
HERE = """
INSERT INTO messor.commit_order (cluster)
SELECT CASE WHEN EXISTS (SELECT FROM messor.events WHERE tx >= pg_current_xact_id())
              OR EXISTS (SELECT FROM messor.changes WHERE tx >= pg_current_xact_id())
            THEN 'moved' ELSE messor.cluster_identity() END
"""
FUNCTIONS = (
    "commit_shift",
    "commit_position",
    "commit_horizon",
    "cluster_identity",
    "follow_cluster",
)
LOGS = ("events", "changes", "search_outbox")


def upgrade() -> None:
    op.execute(ORDER)
    for name in FUNCTIONS:
        use_function(name, "021")
    op.execute(HERE)
    for table in LOGS:
        op.execute(
            f"ALTER TABLE messor.{table} ALTER COLUMN tx SET DEFAULT messor.commit_position()"
        )


def downgrade() -> None:
    for table in LOGS:
        op.execute(f"ALTER TABLE messor.{table} ALTER COLUMN tx SET DEFAULT pg_current_xact_id()")
    op.execute("DROP FUNCTION messor.follow_cluster(boolean)")
    for name in ("cluster_identity", "commit_horizon", "commit_position", "commit_shift"):
        op.execute(f"DROP FUNCTION messor.{name}()")
    op.execute("DROP TABLE messor.commit_order")
