"""SQL that a person gave, answered and recorded as an event: rows leave as they do in an export."""

from __future__ import annotations

from messor.analytics.answers import Analytics
from messor.analytics.store import SqlAnswer
from messor.ledger.events import Event, record
from messor.store.database import Database

MAX_NOTED = 2_000  # characters of the SQL in its event


async def query(
    database: Database, analytics: Analytics, sql: str, *, actor: str, rows: int | None = None
) -> SqlAnswer:
    """SqlAnswer one SELECT; who asked what is an event, also when it is refused."""
    data: dict[str, object] = {"sql": sql.replace("\0", "")[:MAX_NOTED], "rows": None}
    try:
        answer = await analytics.query(sql, rows=rows)
        data["rows"] = len(answer.rows)
    finally:
        async with database.transaction() as connection:
            await record(connection, [Event("analytics.queried", actor, data=data)])
    return answer
