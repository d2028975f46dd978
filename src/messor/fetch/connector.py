"""The only way out to sites: a connector that requires a permit for every connection it hands out.

The permit is used on the *ready* connection, just before the request is written: connecting may
take seconds, and only then is it known whether the lane and the lease still allow it.
"""

from __future__ import annotations

from pathlib import Path

from aiohttp import ClientConnectionError, ClientRequest, ClientTimeout, TCPConnector
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from messor.errors import LeaseLostError
from messor.fetch.guard import AddressGuard, GuardedResolver
from messor.fetch.tls import verifying_context
from messor.politeness.pace import PERMIT


class PermitConnector(TCPConnector):
    """Hands out connections to holders of a permit."""

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: ClientTimeout,  # noqa: ASYNC109 - the library's signature
    ) -> Connection:
        permit = PERMIT.get()
        if permit is None:
            raise PermissionError("A request to a site needs a permit: it must belong to a visit.")
        if permit.used_at:
            # aiohttp retries by itself when an idle connection was closed; a second request needs a
            # second permit.
            raise ClientConnectionError("The connection was closed before the response.")
        connection = await super().connect(req, traces, timeout)
        try:
            permit.use()
        except LeaseLostError:
            connection.close()
            raise
        return connection


def make_connector(guard: AddressGuard, *, ca_file: Path | None = None) -> PermitConnector:
    """A connector behind the guard; certificates are always verified."""
    return PermitConnector(
        resolver=GuardedResolver(guard),
        socket_factory=guard.socket_factory,
        ssl=verifying_context(ca_file),
        limit=0,
        ttl_dns_cache=60,
        keepalive_timeout=15,
    )
