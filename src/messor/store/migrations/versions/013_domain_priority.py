"""Priority of domains, in the order in which lanes are claimed; a shorter frequency hastens tasks."""

from alembic import op

from messor.store.migration_script import use_function

revision = "013_domain_priority"
down_revision = "012_changes"
branch_labels = None
depends_on = None

COLUMN = "priority smallint NOT NULL DEFAULT 5 CHECK (priority BETWEEN 1 AND 10)"
TURN = """
CREATE INDEX lanes_turn ON messor.lanes (messor.lane_turn(claim_at, priority), claim_at)
 WHERE worker_id IS NULL AND claim_at IS NOT NULL
"""
CLAIM = """
CREATE INDEX lanes_claim ON messor.lanes (claim_at) WHERE worker_id IS NULL AND claim_at IS NOT NULL
"""
TRIGGER = """
CREATE TRIGGER take_priority BEFORE INSERT OR UPDATE OF domain_id ON messor.lanes
  FOR EACH ROW EXECUTE FUNCTION messor.take_priority()
"""


def upgrade() -> None:
    op.execute(f"ALTER TABLE messor.domains ADD COLUMN {COLUMN}")
    op.execute(f"ALTER TABLE messor.lanes ADD COLUMN {COLUMN}")
    op.execute("CREATE INDEX domains_priority ON messor.domains (priority) WHERE priority <> 5")
    for name in ("lane_turn", "take_priority", "hasten_tasks", "change_terms"):
        use_function(name, "013")
    op.execute(TURN)
    op.execute("DROP INDEX messor.lanes_claim")
    op.execute(TRIGGER)
    use_function("claim_lanes", "013")


def downgrade() -> None:
    use_function("claim_lanes", "001")
    use_function("change_terms", "007")
    op.execute(CLAIM)
    op.execute("DROP INDEX messor.lanes_turn")
    op.execute("DROP TRIGGER take_priority ON messor.lanes")
    op.execute("DROP FUNCTION messor.hasten_tasks(uuid)")
    op.execute("DROP FUNCTION messor.take_priority()")
    op.execute("DROP FUNCTION messor.lane_turn(timestamptz, smallint)")
    op.execute("DROP INDEX messor.domains_priority")
    op.execute("ALTER TABLE messor.lanes DROP COLUMN priority")
    op.execute("ALTER TABLE messor.domains DROP COLUMN priority")
