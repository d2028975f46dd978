"""Databases from before the migrations were squashed into the baseline.

A database at revision 039 has the baseline's schema but for what stands here, and is taken over as
such. Older ones need the release that still had their migrations.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, text

from messor.errors import UsageError

BASELINE = "001_baseline"
LAST_BEFORE = "039"

# Both were added unchecked to tables that had rows.
DIFFERENCES = (
    "ALTER TABLE messor.domains VALIDATE CONSTRAINT domains_name",
    "ALTER TABLE messor.domains VALIDATE CONSTRAINT domains_discovery_session",
)


def take_over(connection: Connection, known: Collection[str]) -> None:
    """Turn a database at 039 into one at the baseline; refuse a revision that is not known."""
    if connection.scalar(text("SELECT to_regclass('messor.alembic_version')")) is None:
        return
    revision = connection.scalar(text("SELECT version_num FROM messor.alembic_version"))
    if revision is None or revision in known:
        return
    if revision != LAST_BEFORE:
        raise UsageError(_unknown(revision))
    for statement in DIFFERENCES:
        connection.execute(text(statement))
    connection.execute(
        text("UPDATE messor.alembic_version SET version_num = :baseline"), {"baseline": BASELINE}
    )


def _unknown(revision: str) -> str:
    found = f"The database was not changed: it is at revision {revision}"
    if revision.isdecimal() and revision < LAST_BEFORE:
        return (
            f"{found}, and this release upgrades from {LAST_BEFORE} on. "
            f"First upgrade it to {LAST_BEFORE} with the release before this one."
        )
    return (
        f"{found}, which this release does not know. "
        "Use the release that upgraded it, or restore a dump from before."
    )
