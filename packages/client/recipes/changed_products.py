"""What both schedulers run: copies changed products into a SQLite file, exactly once each.

The cursor is stored in the transaction that stores what was made of the entries, so a run that dies anywhere is
simply repeated. Tombstones delete what was copied.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from messor_client import Client

SCHEMA = """
CREATE TABLE IF NOT EXISTS products (subject TEXT PRIMARY KEY, url TEXT, data TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS place (cursor TEXT NOT NULL);
"""


def copy_changed_products(target: Path | str, client: Client | None = None) -> dict[str, int]:
    """Copy what changed since the last run; returns how many were stored and deleted."""
    messor = client or Client(os.environ["MESSOR_KEY"], os.environ["MESSOR_URL"])
    stored = deleted = 0
    with closing(sqlite3.connect(target)) as database:
        database.executescript(SCHEMA)
        row = database.execute("SELECT cursor FROM place").fetchone()
        at = row[0] if row else None
        for batch in messor.follow_changes(cursor=at, kinds="product", wait=0, forever=False):
            with database:  # one transaction
                for change in batch.items:
                    if change.state in ("erased", "removed"):
                        gone = "DELETE FROM products WHERE subject = ?"
                        deleted += database.execute(gone, (change.subject,)).rowcount
                        continue
                    stored += 1
                    database.execute(
                        """INSERT INTO products VALUES (?1, ?2, ?3) ON CONFLICT (subject)
                           DO UPDATE SET url = ?2, data = json_patch(data, ?3)""",
                        (change.subject, change.url, json.dumps(change.after or {})),
                    )
                database.execute("DELETE FROM place")
                database.execute("INSERT INTO place VALUES (?)", (batch.cursor,))
    return {"stored": stored, "deleted": deleted}
