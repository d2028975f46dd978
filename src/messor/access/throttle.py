"""Throttles password guessing, across processes.

An attempt counts against its account and against its address. For a member who logged in from that
address before, only the two together count: strangers elsewhere, or a colleague behind the same
address, cannot lock them out. Waits grow and end; no account is ever locked.
"""

from __future__ import annotations

from dataclasses import dataclass

from messor.access.errors import ThrottledError
from messor.access.origin import Origin
from messor.access.secret import fingerprint
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

KNOWN_HERE = """
SELECT EXISTS (
  SELECT FROM messor.members m JOIN messor.sessions s ON s.member_id = m.id
   WHERE m.email = $1 AND s.network = $2 AND s.opened_at > (SELECT messor.clock()) - interval '30 days')
"""

CHARGE = """
SELECT extract(epoch FROM wait)::float8 AS wait, is_news FROM messor.charge_login($1)
"""

# A successful login clears the account's count; the address gets back only this one attempt, or
# somebody with an account could reset it between guesses at others.
FORGIVE = """
WITH held AS (
  SELECT key FROM messor.login_throttles WHERE key = ANY ($1) ORDER BY key FOR UPDATE
)
UPDATE messor.login_throttles t
   SET attempts = CASE WHEN starts_with(t.key, 'address:') THEN greatest(t.attempts - 1, 0) ELSE 0 END,
       open_at = (SELECT messor.clock()), is_told = false
  FROM held WHERE t.key = held.key
"""


@dataclass(frozen=True, slots=True)
class Charge:
    """A counted attempt, and what it counts against."""

    keys: tuple[str, ...]

    async def forgive(self, connection: Connection) -> None:
        """The login succeeded: take the attempt back."""
        await connection.execute(FORGIVE, list(self.keys))


async def charge(database: Database, email: str, origin: Origin) -> Charge:
    """Count an attempt before the password is verified; raises when it comes too soon.

    This is a transaction of its own: the attempt counts whatever its result.
    """
    async with database.transaction() as connection:
        is_known = await connection.fetchval(KNOWN_HERE, email, origin.network)
        keys = _keys(email, origin, is_known=is_known)
        row = await connection.fetchrow(CHARGE, list(keys))
        assert row is not None
        if row["wait"] > 0 and row["is_news"]:
            data = {"address": origin.stored_address}
            await record(connection, [Event("login.throttled", "anonymous", data=data)])
    if row["wait"] > 0:
        raise ThrottledError("Too many login attempts.", row["wait"])
    return Charge(keys)


def _keys(email: str, origin: Origin, *, is_known: bool) -> tuple[str, ...]:
    # Hashed: people type their password into the wrong field.
    account = fingerprint(email).hex()
    if is_known:
        return (f"both:{account}@{origin.network}",)
    return (f"account:{account}", f"address:{origin.network}")
