"""Deletes what is no longer needed: ended sessions and links, old waits, fully replenished limits."""

from __future__ import annotations

from messor.store.database import Connection

# A session's row is kept for 30 days after it began: until then its address counts as known.
SWEEPS = {
    "sessions": """expires_at < (SELECT messor.clock()) - interval '30 days'
        OR (ended_at IS NOT NULL AND opened_at < (SELECT messor.clock()) - interval '30 days')""",
    "one_time_links": "expires_at < (SELECT messor.clock()) - interval '30 days'",
    "login_throttles": "open_at < (SELECT messor.clock()) - interval '1 day'",
    "rate_limits": "spent_until < (SELECT messor.clock())",
}


async def sweep(connection: Connection, most: int = 10_000) -> dict[str, int]:
    """Delete up to `most` rows of each; returns how many, by table."""
    swept = {}
    for table, old in SWEEPS.items():
        done = await connection.execute(
            f"""DELETE FROM messor.{table} WHERE ctid = ANY (ARRAY(
                  SELECT ctid FROM messor.{table} WHERE {old} LIMIT $1 FOR UPDATE SKIP LOCKED))""",
            most,
        )
        swept[table] = int(done.rpartition(" ")[2])
    return swept
