"""A migration after the newest one that is only there for a test: what later ones can do, up and down."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from messor.store import revisions

NEWEST = revisions.newest()
LATER = "900_later"
MIGRATION = f"""
from pathlib import Path

import sqlalchemy as sa
from alembic import op

from messor.store.migration_script import run_scripts, use_function

revision = "{LATER}"
down_revision = "{NEWEST}"
branch_labels = None
depends_on = None

HERE = Path(__file__)


def upgrade() -> None:
    op.create_table("snacks", sa.Column("name", sa.Text, primary_key=True), schema="messor")
    op.add_column("alarms", sa.Column("loudness", sa.Integer), schema="messor")
    run_scripts(HERE.with_name("900_later.sql"))
    use_function("risk_level", "900")


def downgrade() -> None:
    use_function("risk_level", "001")
    run_scripts(HERE.with_name("900_later_down.sql"))
    op.drop_column("alarms", "loudness", schema="messor")
    op.drop_table("snacks", schema="messor")
"""
UP = """
CREATE TABLE messor.crumbs (id bigint PRIMARY KEY);
ALTER TABLE messor.alarms ADD colour text;
CREATE INDEX alarms_colour ON messor.alarms (colour) WHERE colour IS NOT NULL;
INSERT INTO messor.alarms (place, name, message, colour) VALUES ('here', 'later', 'Too late.', 'red');
"""
DOWN = """
DELETE FROM messor.alarms WHERE name = 'later';
ALTER TABLE messor.alarms DROP colour;
DROP TABLE messor.crumbs;  -- DROP TABLE messor.pages; is a remark
"""
LEVEL = """
CREATE OR REPLACE FUNCTION messor.risk_level(risk real) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'later'
$$;
"""


def add_later_migration(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process use a copy of the migrations in `folder`, with one more."""
    migrations = shutil.copytree(revisions.MIGRATIONS, folder / "migrations")
    for name, text in {
        f"versions/{LATER}.py": MIGRATION,
        f"versions/{LATER}.sql": UP,
        f"versions/{LATER}_down.sql": DOWN,
        "functions/risk_level.900.sql": LEVEL,
    }.items():
        (migrations / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(revisions, "MIGRATIONS", migrations)
