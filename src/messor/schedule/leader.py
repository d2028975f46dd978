"""Leadership: one process leads, any number stand by.

It is a lease row on the database's clock. `hold` renews it inside the transaction of whatever a
leader does, and keeps the row locked until that commits: nobody can take over in between, and a
leader that slept too long finds its token outdated before it has done anything.
"""

from __future__ import annotations

import os
import secrets
import socket
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from messor.errors import LeaseLostError
from messor.store.database import Connection, Database

NAME = "schedule"

# Queried without a lock, so that standbys never wait for a busy leader.
READ = """
SELECT extract(epoch FROM expires_at - messor.clock())::float8 FROM messor.leaders WHERE name = $1
"""

# The condition is evaluated on the row once it is free, at that time.
TAKE = """
INSERT INTO messor.leaders AS l (name, holder, expires_at)
VALUES ($1, $2, messor.clock() + make_interval(secs => $3))
ON CONFLICT (name) DO UPDATE
   SET holder = excluded.holder, token = l.token + 1, taken_at = messor.clock(),
       expires_at = messor.clock() + make_interval(secs => $3)
 WHERE l.expires_at <= messor.clock()
RETURNING token
"""

# An expired lease may still be renewed while nobody else took it.
HOLD = """
UPDATE messor.leaders SET expires_at = messor.clock() + make_interval(secs => $3)
 WHERE name = $1 AND token = $2 RETURNING token
"""

RESIGN = """
UPDATE messor.leaders SET expires_at = messor.clock() WHERE name = $1 AND token = $2
"""

FIND = """
SELECT holder, token, taken_at, expires_at, expires_at > messor.clock() AS leads
  FROM messor.leaders WHERE name = $1
"""


class Fence(Protocol):
    """The first check of a run's transaction: may this still be done?"""

    @property
    def token(self) -> int | None: ...

    async def hold(self, connection: Connection) -> None:
        """Raise LeaseLostError if not; otherwise keep it so until the transaction ends."""


class ByHand:
    """A manual run, whoever leads."""

    token: int | None = None

    async def hold(self, connection: Connection) -> None:
        """Orchestrators may run concurrently; a manual run needs no lead."""


class Leadership:
    """The lead, as held by this process."""

    def __init__(self, token: int, seconds: float, name: str = NAME) -> None:
        self._token = token
        self._seconds = seconds
        self._name = name

    @property
    def token(self) -> int | None:
        return self._token

    async def hold(self, connection: Connection) -> None:
        if await connection.fetchval(HOLD, self._name, self._token, self._seconds) is None:
            raise LeaseLostError(f"Another process leads: token {self._token} is outdated.")

    async def resign(self, connection: Connection) -> None:
        """Let another process lead at once."""
        await connection.execute(RESIGN, self._name, self._token)


@dataclass(frozen=True, slots=True)
class Leader:
    """The current leader, for display."""

    holder: str
    token: int
    taken_at: datetime
    expires_at: datetime
    leads: bool  # the lease has not expired


def holder_name() -> str:
    """Machine, process id, and a random part, as process ids recur."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(2)}"


async def remaining(database: Database, name: str = NAME) -> float:
    """Seconds until the lead may be taken; 0 or less if it is free."""
    seconds: float | None = await database.fetchval(READ, name)
    return seconds or 0.0


async def take(
    database: Database, holder: str, seconds: float, name: str = NAME
) -> Leadership | None:
    """Take the lead; None while another process holds it."""
    token: int | None = await database.fetchval(TAKE, name, holder, seconds)
    return None if token is None else Leadership(token, seconds, name)


async def find(database: Database, name: str = NAME) -> Leader | None:
    """The current or last leader."""
    row = await database.fetchrow(FIND, name)
    return None if row is None else Leader(**row)
