"""Probes: how a disabled proxy becomes active again.

A probe does what a fetch does: it requests a tunnel and closes it unused. Proxies reply to other
requests before they check the login, so nothing less proves anything. The tunnel leads to a host of
the operator's own (`target`), never to a site, which is only contacted in visits. Without a target
a disabled proxy becomes active on trial: its next failure disables it again.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from messor.core.logs import room_logger
from messor.errors import UnavailableError, UsageError
from messor.fetch.guard import AddressGuard
from messor.fetch.proxies.handshake import log_in
from messor.fetch.proxies.proxy import Proxy, ProxyAddress, ProxyError
from messor.fetch.proxies.registry import KnownProxy, endpoint_of, fact, unsealed
from messor.fetch.proxies.seal import Seal
from messor.fetch.proxies.target import Target
from messor.fetch.proxies.tunnel import dial, open_tunnel
from messor.fetch.proxies.usage import ACTOR, MAX_IN_A_ROW, PROBE_AFTER
from messor.fetch.tls import verifying_context
from messor.ledger.events import record
from messor.store.database import Connection, Database
from messor.web.addresses import Address

logger = room_logger(__name__)

AT_ONCE = 50

LOGIN = "proxy_protocol, proxy_url, proxy_port, proxy_username, proxy_password, trusted"

# Claiming a proxy postpones its next probe, so that only one worker probes it.
TAKE_DUE = f"""
UPDATE messor.proxies p SET probe_at = messor.clock() + interval '5 minutes'
  FROM (SELECT id FROM messor.proxies
         WHERE NOT is_active AND probe_at <= messor.clock()
         ORDER BY probe_at LIMIT {AT_ONCE} FOR UPDATE SKIP LOCKED) due
 WHERE p.id = due.id
RETURNING p.id, {LOGIN}
"""

# A proxy that the operator disabled stays disabled, whatever a probe finds.
SETTLE = f"""
WITH told AS (
  SELECT p.id, p.is_active, NOT p.is_active AND p.probe_at IS NULL AS kept_out,
         CASE WHEN $2::text IS NOT NULL THEN p.failure_count + 1
              WHEN $3 THEN 0 ELSE {MAX_IN_A_ROW} END AS failure_count
    FROM messor.proxies p WHERE p.id = $1 FOR NO KEY UPDATE
)
UPDATE messor.proxies p
   SET failure_count = t.failure_count,
       failures = p.failures + ($2::text IS NOT NULL)::int,
       is_active = NOT t.kept_out AND ($2::text IS NULL
                     OR p.is_active AND t.failure_count <= {MAX_IN_A_ROW}),
       probe_at = CASE WHEN t.kept_out OR $2::text IS NULL
                         OR p.is_active AND t.failure_count <= {MAX_IN_A_ROW} THEN NULL
                       ELSE messor.clock() + {PROBE_AFTER % {"count": "t.failure_count"}} END,
       last_success_at = CASE WHEN $2::text IS NULL AND $3 THEN messor.clock()
                              ELSE p.last_success_at END,
       last_failure_at = CASE WHEN $2::text IS NULL THEN p.last_failure_at ELSE messor.clock() END,
       last_error = coalesce($2, p.last_error),
       updated_at = messor.clock()
  FROM told t WHERE p.id = t.id
RETURNING t.is_active AS was_active, p.is_active
"""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Result of a probe; without an error the proxy works, or is active on trial."""

    proxy_id: int
    endpoint: ProxyAddress
    error: str | None
    is_proved: bool = True  # a tunnel stood


class Prober:
    """Probes proxies within a time limit, by a tunnel to `target` if there is one."""

    def __init__(
        self,
        guard: AddressGuard,
        *,
        seconds: float,
        ca_file: Path | None = None,
        target: Target | None = None,
    ) -> None:
        self._guard = guard
        self._seconds = seconds
        self._context: ssl.SSLContext = verifying_context(ca_file)
        self._target = target

    async def probe(self, proxy: Proxy) -> ProbeResult:
        """Check that a proxy is reachable, accepts the login and reaches the target."""
        error, places = None, await self._places()
        try:
            if places:
                conversation = await open_tunnel(
                    proxy, places, self._context, self._seconds, self._guard
                )
                conversation.transport.abort()
            else:
                await self._greet(proxy)
        except ProxyError as failure:
            error = str(failure)
        return ProbeResult(proxy.id, proxy.endpoint, error, is_proved=bool(places))

    async def _places(self) -> list[tuple[Address, int]]:
        """The target's addresses; empty without a usable target."""
        if self._target is None:
            return []
        try:
            return await self._target.places(self._guard)
        except UsageError as wrong:
            logger.warning("Proxies are probed without a tunnel: %s", wrong)
            return []

    async def _greet(self, proxy: Proxy) -> None:
        """Check that the proxy responds; only SOCKS checks the login before a connect request."""
        name = proxy.endpoint.name
        try:
            async with asyncio.timeout(self._seconds):
                conversation = await dial(proxy, self._context, self._guard)
                try:
                    if proxy.endpoint.protocol == "socks5":
                        await log_in(conversation, proxy)
                finally:
                    conversation.transport.abort()
        except ProxyError as failure:
            raise ProxyError(f"The proxy {name} failed: {failure}.") from failure
        except TimeoutError as error:
            raise ProxyError(f"The proxy {name} did not respond in time.") from error

    async def probe_known(self, database: Database, seal: Seal, known: KnownProxy) -> ProbeResult:
        """Probe a registered proxy now, at the operator's request, and store the result."""
        sql = f"SELECT id, {LOGIN} FROM messor.proxies WHERE id = $1"
        row = await database.fetchrow(sql, known.id)
        if row is None:
            return ProbeResult(known.id, known.endpoint, f"Proxy {known.id} no longer exists.")
        finding = await self.probe(unsealed(row, seal))
        await _settle(database, [finding])
        return finding

    async def probe_due(self, database: Database, seal: Seal) -> list[ProbeResult]:
        """Probe the disabled proxies that are due; those that respond become active again."""
        rows = await database.fetch(TAKE_DUE)
        if not rows:
            return []
        findings = await asyncio.gather(*(self._probe_row(row, seal) for row in rows))
        await _settle(database, findings)
        return findings

    async def _probe_row(self, row: Any, seal: Seal) -> ProbeResult:
        try:
            proxy = unsealed(row, seal)
        except UnavailableError as error:
            return ProbeResult(row["id"], endpoint_of(row), str(error))
        return await self.probe(proxy)


async def _settle(database: Database, findings: list[ProbeResult]) -> None:
    async with database.transaction() as connection:
        for finding in sorted(findings, key=lambda finding: finding.proxy_id):
            await settle(connection, finding)


async def settle(connection: Connection, finding: ProbeResult) -> None:
    """Store the result of a probe; enabling and disabling record an event."""
    row = await connection.fetchrow(SETTLE, finding.proxy_id, finding.error, finding.is_proved)
    if row is None or row["was_active"] == row["is_active"]:
        return
    kind = "proxy.restored" if row["is_active"] else "proxy.disabled"
    logger.info("The proxy %s is %s.", finding.endpoint.name, kind.removeprefix("proxy."))
    well = "a probe succeeded" if finding.is_proved else "on trial: its next use decides"
    reason = finding.error or well
    await record(connection, [fact(kind, ACTOR, finding.proxy_id, finding.endpoint, reason=reason)])
