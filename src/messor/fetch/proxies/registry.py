"""The registry of proxies: what the operator added, and how each performs.

Passwords are stored encrypted and leave only through `active`, for use. Counting uses is in
`usage`, re-enabling a failed proxy in `probe`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from messor.core.logs import room_logger
from messor.errors import ConflictError, NotFoundError, UnavailableError, UsageError
from messor.fetch.proxies.proxy import HIDDEN, Proxy, ProxyAddress, understand
from messor.fetch.proxies.seal import Seal
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

logger = room_logger(__name__)

MAX_COST = 1_000_000

COLUMNS = f"""id, proxy_protocol, proxy_url, proxy_port, proxy_username,
  CASE WHEN proxy_password IS NOT NULL THEN '{HIDDEN}' END AS proxy_password,
  is_active, trusted, failure_count, success_count, failures, cost_per_request, cost, avg_response_time_ms,
  last_used_at, last_success_at, last_failure_at, last_error, probe_at, created_at, updated_at"""

ADD = f"""
INSERT INTO messor.proxies (proxy_protocol, proxy_url, proxy_port, proxy_username, proxy_password,
                            cost_per_request, trusted)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING
RETURNING {COLUMNS}
"""

LISTING = f"SELECT {COLUMNS} FROM messor.proxies ORDER BY id"

BY_ID = f"SELECT {COLUMNS} FROM messor.proxies WHERE id = $1"

BY_ENDPOINT = f"""
SELECT {COLUMNS} FROM messor.proxies
 WHERE proxy_protocol = $1 AND proxy_url = $2 AND proxy_port = $3
   AND ($4 = '' OR proxy_username = $4) ORDER BY id
"""

REMOVE = "DELETE FROM messor.proxies WHERE id = $1 RETURNING id"

# A proxy that the operator disabled has no `probe_at`: only the operator enables it again.
SWITCH = f"""
UPDATE messor.proxies SET is_active = $2, probe_at = NULL, updated_at = messor.clock(),
       failure_count = CASE WHEN $2 THEN 0 ELSE failure_count END
 WHERE id = $1
RETURNING {COLUMNS}
"""

ACTIVE = """
SELECT id, proxy_protocol, proxy_url, proxy_port, proxy_username, proxy_password, trusted,
       failure_count, coalesce(cost_per_request, 0)::float8 AS cost
  FROM messor.proxies WHERE is_active ORDER BY last_used_at NULLS FIRST, id
"""


@dataclass(frozen=True, slots=True)
class KnownProxy:
    """One row of the registry, safe to show: the password is replaced by `***`."""

    id: int
    proxy_protocol: str
    proxy_url: str
    proxy_port: int
    proxy_username: str
    proxy_password: str | None
    is_active: bool
    trusted: bool  # added on the command line: its address may be private
    failure_count: int  # in a row
    success_count: int
    failures: int  # in total
    cost_per_request: Decimal | None
    cost: Decimal
    avg_response_time_ms: int | None
    last_used_at: datetime | None
    last_success_at: datetime | None
    last_failure_at: datetime | None
    last_error: str | None
    probe_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @property
    def endpoint(self) -> ProxyAddress:
        return endpoint_of(self)


# A proxy is failing if its last use failed; failures older than a day are not reported.
FAILING = """last_failure_at > coalesce(last_success_at, '-infinity')
  AND last_failure_at > (SELECT messor.clock()) - interval '1 day'"""

STANDING = f"""
SELECT count(*)::int AS known, count(*) FILTER (WHERE is_active)::int AS active,
       count(*) FILTER (WHERE {FAILING})::int AS failing,
       ARRAY(SELECT 'proxy ' || id || ': ' || coalesce(last_error, 'failed') FROM messor.proxies
              WHERE {FAILING} ORDER BY id LIMIT 5) AS troubles
  FROM messor.proxies
"""


@dataclass(frozen=True, slots=True)
class ProxyCounts:
    """How many proxies there are, how many of them do not work, and the errors of the first."""

    known: int
    active: int
    failing: int
    troubles: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ActiveProxy:
    """An active proxy, its current number of failures in a row, and its price."""

    proxy: Proxy
    in_a_row: int
    cost: float  # per request; one without a price is free


def endpoint_of(row: Any) -> ProxyAddress:
    """The address of a row, from a record or a dataclass."""
    if isinstance(row, KnownProxy):
        return ProxyAddress(row.proxy_protocol, row.proxy_url, row.proxy_port, row.proxy_username)
    return ProxyAddress(
        row["proxy_protocol"], row["proxy_url"], row["proxy_port"], row["proxy_username"]
    )


def fact(kind: str, actor: str, proxy_id: int, endpoint: ProxyAddress, **data: Any) -> Event:
    """An event about a proxy; it never contains the login."""
    return Event(kind, actor, data={"proxy": proxy_id, "at": endpoint.name, **data})


async def add(
    connection: Connection,
    seal: Seal,
    endpoint: ProxyAddress,
    password: str | None,
    *,
    actor: str,
    cost_per_request: Decimal | None = None,
    trusted: bool = False,
) -> KnownProxy:
    """Add a proxy to the pool; `placement.judge` checks whether its address is allowed."""
    sealed = None if password is None else seal.close(password, endpoint.url)
    row = await connection.fetchrow(
        ADD,
        endpoint.protocol,
        endpoint.host,
        endpoint.port,
        endpoint.username,
        sealed,
        cost_per_request,
        trusted,
    )
    if row is None:
        raise ConflictError(
            f"{endpoint.url} already exists. To change its password, remove it and add it again."
        )
    known = KnownProxy(**row)
    await record(connection, [fact("proxy.added", actor, known.id, endpoint)])
    return known


def check_cost(price: Decimal) -> Decimal:
    """A cost per request that can be charged; raises UsageError."""
    if not price.is_finite() or not 0 <= price < MAX_COST:
        raise UsageError(f"The cost must be a number from 0 to {MAX_COST:,}, such as 0.0004.")
    return price


async def listing(source: Connection | Database) -> list[KnownProxy]:
    return [KnownProxy(**row) for row in await source.fetch(LISTING)]


async def standing(source: Connection | Database) -> ProxyCounts:
    """Counts of proxies: total, active, failing; with their errors."""
    row = await source.fetchrow(STANDING)
    assert row is not None
    return ProxyCounts(**row)


async def get(source: Connection | Database, name: str) -> KnownProxy:
    """A proxy by its id, or by an unambiguous part of its URL."""
    if name.isascii() and name.isdigit():
        number = int(name) if len(name) < 10 else 0
        rows = await source.fetch(BY_ID, number)
    else:
        at, _ = understand(name)
        rows = await source.fetch(BY_ENDPOINT, at.protocol, at.host, at.port, at.username)
        name = at.url
    if not rows:
        raise NotFoundError(f"There is no proxy {name}. See: messor proxies list")
    if len(rows) > 1:
        raise ConflictError(f"{name} matches {len(rows)} proxies. Give the id of one.")
    return KnownProxy(**rows[0])


async def remove(connection: Connection, known: KnownProxy, *, actor: str) -> None:
    """Delete a proxy and its password; its use stays counted by domain and hour."""
    if await connection.fetchval(REMOVE, known.id) is not None:
        await record(connection, [fact("proxy.removed", actor, known.id, known.endpoint)])


async def switch(
    connection: Connection, known: KnownProxy, *, active: bool, actor: str
) -> KnownProxy:
    """Enable or disable a proxy at the operator's request."""
    row = await connection.fetchrow(SWITCH, known.id, active)
    if row is None:
        raise NotFoundError(f"There is no proxy {known.id}. See: messor proxies list")
    kind = "proxy.enabled" if active else "proxy.disabled"
    await record(connection, [fact(kind, actor, known.id, known.endpoint, reason="operator")])
    return KnownProxy(**row)


async def active(source: Connection | Database, seal: Seal) -> list[ActiveProxy]:
    """The active proxies, least recently used first; one that cannot be decrypted is skipped."""
    found = []
    for row in await source.fetch(ACTIVE):
        try:
            found.append(ActiveProxy(unsealed(row, seal), row["failure_count"], row["cost"]))
        except UnavailableError as error:
            logger.warning("A proxy is skipped: %s", error)
    return found


def unsealed(row: Any, seal: Seal) -> Proxy:
    """A row of the table as a proxy ready for use."""
    endpoint, sealed = endpoint_of(row), row["proxy_password"]
    password = None if sealed is None else seal.open(bytes(sealed), endpoint.url)
    return Proxy(row["id"], endpoint, password, row["trusted"])
