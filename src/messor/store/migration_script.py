"""Runs a migration that is a single SQL script."""

from __future__ import annotations

from pathlib import Path

from alembic import op


def run_script(path: Path) -> None:
    """Run the script: the driver's simple protocol takes many statements at once.

    The first statement makes the adapter open the transaction that the script then runs in.
    """
    bind = op.get_bind()
    bind.exec_driver_sql("SELECT 1")
    script = path.read_text(encoding="utf-8")
    bind.connection.run_async(lambda driver: driver.execute(script))
