"""Connections: a pool over asyncpg with timeouts, a count of round trips, and errors by kind.

Hot paths are named SQL sent through here; nothing else opens a connection to the database. Behind a
pooler such as pgBouncer in transaction mode a session lasts one transaction: this is detected when
it refuses or forgets session settings, and each transaction then sets its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Self

import asyncpg

from messor.core import clock
from messor.core.logs import room_logger
from messor.errors import UnavailableError, UsageError
from messor.settings import Settings
from messor.store import revisions
from messor.store.array_types import ArrayConnection
from messor.store.connection import connect

# Errors caused by a crash, restart or disconnect of the server; all of them pass when it is back.
# So does a full disk of the server: until there is space, nothing can be stored.
LOST_CONNECTION = (
    asyncpg.DiskFullError,
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InternalClientError,
)

# Two transactions conflicted; the same one succeeds when retried.
TRY_AGAIN = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.LockNotAvailableError,
    asyncpg.QueryCanceledError,
)

SESSION = {
    "application_name": "messor",
    "statement_timeout": "30000",
    "lock_timeout": "5000",
    "idle_in_transaction_session_timeout": "10000",
    "search_path": "messor, pg_catalog",
    "timezone": "UTC",
}
UNUSED_SECONDS = 60.0  # after which a connection is closed: each is a process of the server
RESPONSE_SECONDS = 5.0  # a server that takes longer to say anything is not available
POOLED_SESSION = {name: SESSION[name] for name in ("application_name", "timezone")}
FOR_THIS_TRANSACTION = "; ".join(
    f"SET LOCAL {name} = {value}" for name, value in SESSION.items() if name not in POOLED_SESSION
)

FOLLOW_CLUSTER = "SELECT messor.follow_cluster()"
FOLLOW_ANYHOW = "SELECT messor.follow_cluster(true)"

logger = room_logger(__name__)


def sparse(values: list[Any]) -> list[Any]:
    """A column for `unnest`, which pads with NULL: an all-NULL column need not be sent."""
    if values and values[0] is None and values.count(None) == len(values):
        return []
    return values


class Connection:
    """An asyncpg connection that counts its round trips."""

    def __init__(self, raw: asyncpg.Connection, database: Database) -> None:
        self._raw = raw
        self._database = database

    @property
    def database(self) -> Database:
        return self._database

    async def fetch(self, sql: str, *args: Any) -> list[asyncpg.Record]:
        self._database.round_trips += 1
        rows: list[asyncpg.Record] = await self._raw.fetch(sql, *args)
        return rows

    async def fetchrow(self, sql: str, *args: Any) -> asyncpg.Record | None:
        self._database.round_trips += 1
        return await self._raw.fetchrow(sql, *args)

    async def fetchval(self, sql: str, *args: Any) -> Any:
        self._database.round_trips += 1
        return await self._raw.fetchval(sql, *args)

    async def execute(self, sql: str, *args: Any) -> str:
        self._database.round_trips += 1
        status: str = await self._raw.execute(sql, *args)
        return status

    async def copy_out(
        self, sql: str, *args: Any, write: Callable[[bytes], Awaitable[None]], **options: str
    ) -> int:
        """Pass a query's rows to `write` as CSV, in chunks of any size; returns how many rows."""
        self._database.round_trips += 1
        status: str = await self._raw.copy_from_query(
            sql, *args, output=write, format="csv", **options
        )
        return int(status.rpartition(" ")[2])


def unanswered(error: Exception) -> UnavailableError:
    """The error for an unreachable server, without operating system error numbers."""
    message = getattr(error, "strerror", None) or str(error) or "the connection was lost"
    return UnavailableError(f"PostgreSQL does not respond: {message}. Check with: messor doctor")


class Database:
    """A PostgreSQL database with Messor's schema."""

    def __init__(self, dsn: str, *, pool_size: int = 4, settings: Settings | None = None) -> None:
        self.dsn = dsn
        self.settings = settings  # of the installation, for what lies beside the database
        self.round_trips = 0
        self._pool_size = pool_size
        self._pool: asyncpg.Pool | None = None
        self._is_pooled = False
        self.disk_full_at: float | None = (
            None  # when the server last reported it, on the deadline clock
        )

    async def open(self) -> None:
        """Connect, waiting for a server that is still starting."""
        for attempt in range(40):
            try:
                self._pool = await self._connect()
            except (asyncpg.ClientConfigurationError, ValueError) as error:
                raise UsageError(f"MESSOR_DATABASE_URL is wrong: {error}") from error
            except LOST_CONNECTION as error:
                if attempt == 39:
                    raise unanswered(error) from error
                await asyncio.sleep(0.25)
            except asyncpg.InvalidAuthorizationSpecificationError as error:
                raise UnavailableError(f"PostgreSQL refuses the login: {error}") from error
            except asyncpg.InvalidCatalogNameError as error:
                raise UnavailableError(f"PostgreSQL has no such database: {error}") from error
            else:
                return

    async def _connect(self) -> asyncpg.Pool:
        first = await self._open_unless_pooled()
        self._is_pooled = first is None
        how: dict[str, Any] = {"server_settings": SESSION}
        if self._is_pooled:
            how = {"server_settings": POOLED_SESSION, "statement_cache_size": 0}
        opened = [] if first is None else [first]

        async def open_next(dsn: str, **how: Any) -> asyncpg.Connection:
            return opened.pop() if opened else await connect(dsn, **how)

        return await asyncpg.create_pool(
            self.dsn,
            min_size=1,
            max_size=self._pool_size,
            connection_class=ArrayConnection,
            connect=open_next,
            init=_follow_cluster,
            reset=_leave_as_is,
            max_inactive_connection_lifetime=UNUSED_SECONDS,
            **how,
        )

    async def _open_unless_pooled(self) -> asyncpg.Connection | None:
        """Open the first connection; None where a pooler refuses or drops session settings."""
        try:
            raw = await connect(self.dsn, server_settings=SESSION)
        except asyncpg.ProtocolViolationError:
            return None
        try:
            async with raw.transaction():  # in one, a pooler keeps to one session of the server
                # Without a name: a pooler may not know those of statements.
                shown = await raw.prepare("SHOW search_path", name="")
                if await shown.fetchval() == SESSION["search_path"]:
                    return raw
        except BaseException:
            raw.terminate()
            raise
        await raw.close()
        return None

    async def close(self) -> None:
        if self._pool is not None:
            try:
                await asyncio.wait_for(self._pool.close(), 5)
            except TimeoutError:
                self._pool.terminate()
            self._pool = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection with one transaction per statement; behind a pooler, one for all of them."""
        assert self._pool is not None, "open the database first"
        if self._is_pooled:
            async with self.transaction() as connection:
                yield connection
            return
        with self._noting_full_disk():
            async with self._pool.acquire(timeout=10) as raw:
                yield Connection(raw, self)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """One transaction: commits when the block succeeds."""
        assert self._pool is not None, "open the database first"
        with self._noting_full_disk():
            async with self._pool.acquire(timeout=10) as raw, raw.transaction():
                self.round_trips += 2
                if self._is_pooled:
                    self.round_trips += 1
                    await raw.execute(FOR_THIS_TRANSACTION)
                yield Connection(raw, self)

    @contextmanager
    def _noting_full_disk(self) -> Iterator[None]:
        try:
            yield
        except asyncpg.DiskFullError:
            self.disk_full_at = clock.now()
            raise

    async def fetch(self, sql: str, *args: Any) -> Sequence[asyncpg.Record]:
        async with self.connection() as connection:
            return await connection.fetch(sql, *args)

    async def fetchrow(self, sql: str, *args: Any) -> asyncpg.Record | None:
        async with self.connection() as connection:
            return await connection.fetchrow(sql, *args)

    async def fetchval(self, sql: str, *args: Any) -> Any:
        async with self.connection() as connection:
            return await connection.fetchval(sql, *args)

    async def responds(self, seconds: float = RESPONSE_SECONDS) -> bool:
        """Whether the server answers on a new connection, however busy those of the pool are."""
        try:
            async with asyncio.timeout(seconds):
                raw = await connect(self.dsn, statement_cache_size=0)
                try:
                    await raw.execute("SELECT 1")
                finally:
                    await raw.close()
        except (asyncpg.PostgresError, *LOST_CONNECTION):
            return False
        return True

    async def revision(self) -> str | None:
        """The current revision of the database."""
        async with self._raw() as raw:
            return await revisions.current(raw)

    async def require_schema(self) -> None:
        """Refuse a database whose schema does not match this release."""
        revision, expected = await self.revision(), revisions.newest()
        if revision != expected:
            raise UnavailableError(
                f"The database is at revision {revision or 'none'}, this release needs {expected}. "
                "Run: messor db upgrade"
            )

    @asynccontextmanager
    async def _raw(self) -> AsyncIterator[asyncpg.Connection]:
        assert self._pool is not None, "open the database first"
        async with self._pool.acquire(timeout=10) as raw:
            yield raw


async def _follow_cluster(raw: asyncpg.Connection) -> None:
    """Before anything is written: commit positions go on if this is another cluster than before.

    On every connection, because a failover to a replica looks like a lost one.
    """
    try:
        if await raw.fetchval(FOLLOW_CLUSTER):
            logger.warning("The database is in another cluster: commit positions go on in it.")
    except (asyncpg.UndefinedFunctionError, asyncpg.InvalidSchemaNameError):
        pass  # not upgraded yet


async def _leave_as_is(_: asyncpg.Connection) -> None:
    """Nothing here changes a session beyond its transaction, so there is nothing to reset.

    That saves every statement a second round trip. Behind a pooler the session is shared besides:
    resetting it would undo settings of others.
    """
