"""Columns with plain names; a planned page has its origin as a code."""

from alembic import op

revision = "015_plain_columns"
down_revision = "014_proxy_costs"
branch_labels = None
depends_on = None

_RENAMED = (
    ("alarms", "said", "message"),
    ("corrections", "said_at", "corrected_at"),
    ("corrections", "said_by", "corrected_by"),
    ("discovery_sessions", "said", "message"),
    ("search_requests", "said", "message"),
    ("search_spend", "said", "message"),
    ("serp_snapshots", "said", "message"),
)
_RENAME_KEY = """
UPDATE messor.preflights
   SET report = (report - '{old}') || jsonb_build_object('{new}', report -> '{old}')
 WHERE report ? '{old}'
"""
_FILL_ORIGIN = """
UPDATE messor.ingestion_pages SET origin = CASE
  WHEN reason = 'homepage' THEN 'homepage' WHEN reason = 'asked for' THEN 'requested'
  ELSE 'redirect' END
 WHERE reason IN ('homepage', 'asked for') OR reason LIKE '% redirects here'
"""


def upgrade() -> None:
    for table, old, new in _RENAMED:
        op.execute(f"ALTER TABLE messor.{table} RENAME COLUMN {old} TO {new}")
    op.execute(_RENAME_KEY.format(old="said", new="message"))
    op.execute(
        "ALTER TABLE messor.ingestion_pages ADD COLUMN origin text NOT NULL DEFAULT 'sampled'"
        " CHECK (origin IN ('homepage', 'requested', 'redirect', 'sampled'))"
    )
    op.execute(_FILL_ORIGIN)


def downgrade() -> None:
    op.execute("ALTER TABLE messor.ingestion_pages DROP COLUMN origin")
    op.execute(_RENAME_KEY.format(old="message", new="said"))
    for table, old, new in _RENAMED:
        op.execute(f"ALTER TABLE messor.{table} RENAME COLUMN {new} TO {old}")
