"""What migrations call: run SQL scripts, and put a version of a function in force."""

from __future__ import annotations

from pathlib import Path

from alembic import op

from messor.store import revisions


def run_scripts(*paths: Path) -> None:
    """Run the scripts as one: the driver's simple protocol takes many statements at once.

    The first statement makes the adapter open the transaction that the scripts then run in.
    """
    script = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    context = op.get_context()
    if context.as_sql:
        context.impl.static_output(script)
        return
    bind = op.get_bind()
    bind.exec_driver_sql("SELECT 1")
    bind.connection.run_async(lambda driver: driver.execute(script))


def use_function(name: str, number: str) -> None:
    """Put a function's version of migration `number` in force, to change it or to go back.

    `migrations/functions/` holds one file per function and version: `NAME.NNN.sql`.
    """
    run_scripts(revisions.MIGRATIONS / "functions" / f"{name}.{number}.sql")
