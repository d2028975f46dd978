"""Tunnels: permitted connections to sites through a proxy, for aiohttp.

Names are resolved by the direct connector, whose resolver and cache are guarded; every address is
checked before the proxy receives it. The proxy's own address is checked too: a private one is
allowed only where the operator added it, a link-local one never. Each proxy has its own connector,
so no idle connection ever changes its route.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast

from aiohttp import (
    ClientConnectionError,
    ClientRequest,
    ClientSSLError,
    ClientTimeout,
)
from aiohttp.abc import ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.tracing import Trace

from messor.fetch.client import Client
from messor.fetch.connector import PermitConnector
from messor.fetch.guard import AddressGuard, AddrInfo, RefusedAddressError
from messor.fetch.proxies.handshake import Address, Conversation, request_tunnel
from messor.fetch.proxies.proxy import Proxy, ProxyError
from messor.fetch.tls import verifying_context

Place = tuple[Address, int]


async def dial(proxy: Proxy, context: ssl.SSLContext, guard: AddressGuard) -> Conversation:
    """Connect to the first address of a proxy that accepts a connection."""
    at = proxy.endpoint
    loop = asyncio.get_running_loop()
    secure = {"ssl": context, "server_hostname": at.host} if at.protocol == "https" else {}
    try:
        infos = await loop.getaddrinfo(at.host, at.port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
        _judge_proxy(proxy, addresses, guard)
        return await _connect(addresses, at.port, secure)
    except ssl.SSLError as error:
        raise ProxyError(f"no TLS with it: {error.reason or 'it broke off'}") from error
    except ProxyError:
        raise
    except OSError as error:
        raise ProxyError(f"it cannot be reached: {error.strerror or 'no connection'}") from error


async def _connect(addresses: Sequence[str], port: int, secure: dict[str, Any]) -> Conversation:
    """Only a failure of the last address is raised: a name often has an unreachable IPv6 address."""
    loop = asyncio.get_running_loop()
    for address in addresses[:-1]:
        try:
            return (await loop.create_connection(Conversation, address, port, **secure))[1]
        except ssl.SSLError:
            raise
        except OSError:
            continue
    return (await loop.create_connection(Conversation, addresses[-1], port, **secure))[1]


def _judge_proxy(proxy: Proxy, addresses: Sequence[str], guard: AddressGuard) -> None:
    """Check the proxy's addresses: its name may have changed since it was added; one refused
    address refuses it.
    """
    for text in addresses:
        address = ip_address(text.partition("%")[0])
        refusal = guard.refusal_of_proxy(address, trusted=proxy.trusted)
        if refusal is not None:
            raise ProxyError(f"its address is refused: {refusal}")


async def open_tunnel(
    proxy: Proxy,
    places: Sequence[Place],
    context: ssl.SSLContext,
    seconds: float,
    guard: AddressGuard,
) -> Conversation:
    """A tunnel to the first of these addresses that the proxy reaches."""
    try:
        async with asyncio.timeout(seconds):
            for place in places[:-1]:
                try:
                    return await _attempt(proxy, place, context, guard)
                except ProxyError as error:
                    if not error.at_target:
                        raise
            return await _attempt(proxy, places[-1], context, guard)
    except ProxyError as error:
        sentence = f"The proxy {proxy.endpoint.name} failed: {error}."
        raise ProxyError(sentence, at_target=error.at_target, login=error.login) from error
    except TimeoutError as error:
        raise ProxyError(f"The proxy {proxy.endpoint.name} did not respond in time.") from error


async def _attempt(
    proxy: Proxy, place: Place, context: ssl.SSLContext, guard: AddressGuard
) -> Conversation:
    conversation = await dial(proxy, context, guard)
    try:
        await request_tunnel(conversation, proxy, *place)
    except BaseException:
        conversation.transport.abort()
        raise
    return conversation


class TunnelConnector(PermitConnector):
    """Hands out connections through one proxy to holders of a permit."""

    def __init__(
        self, proxy: Proxy, direct: PermitConnector, guard: AddressGuard, context: ssl.SSLContext
    ) -> None:
        super().__init__(
            resolver=direct._resolver,  # noqa: SLF001 - the same connector by another way
            socket_factory=guard.socket_factory,
            ssl=direct._ssl,  # noqa: SLF001
            limit=0,
            keepalive_timeout=15,
        )
        self._direct = direct
        self._guard = guard
        self._proxy = proxy
        self._context = context

    async def _resolve_host(
        self, host: str, port: int, traces: Sequence[Trace] | None = None
    ) -> list[ResolveResult]:
        return await self._direct._resolve_host(host, port, traces)  # noqa: SLF001 - shares the cache

    async def _wrap_create_connection(
        self,
        *args: Any,  # noqa: ARG002 - the library's signature
        addr_infos: list[AddrInfo],
        req: ClientRequest,
        timeout: ClientTimeout,  # noqa: ASYNC109 - the library's signature
        **kwargs: Any,  # noqa: ARG002
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        places = self._judged(addr_infos)
        conversation = await open_tunnel(
            self._proxy, places, self._context, _proxy_seconds(timeout), self._guard
        )
        if req.is_ssl():
            return await self._secure(conversation.transport, req, timeout)
        protocol = self._factory()
        conversation.transport.set_protocol(protocol)
        protocol.connection_made(conversation.transport)
        return conversation.transport, protocol

    async def _secure(
        self,
        tunnel: asyncio.Transport,
        req: ClientRequest,
        timeout: ClientTimeout,  # noqa: ASYNC109 - handed on to the library
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        """TLS with the site itself, by its name, inside the tunnel."""
        try:
            transport, protocol = await self._start_tls_connection(tunnel, req, timeout)
        except ClientSSLError:
            raise
        except ClientConnectionError as error:
            raise self._broke_off() from error
        # TLS within TLS on uvloop: a tunnel cut during the handshake is returned as closed.
        if transport.is_closing() or transport.get_extra_info("cipher") is None:
            raise self._broke_off()
        return cast(asyncio.Transport, transport), protocol

    def _broke_off(self) -> ProxyError:
        """Either side may have hung up; some proxies accept before they connect."""
        name = self._proxy.endpoint.name
        sentence = f"The tunnel of the proxy {name} broke off before the site responded."
        return ProxyError(sentence, at_target=True)

    def _judged(self, infos: Sequence[AddrInfo]) -> list[Place]:
        """The checked addresses, IPv4 first: few proxies support IPv6. One refused address refuses
        all.
        """
        places = [(ip_address(info[4][0].partition("%")[0]), int(info[4][1])) for info in infos]
        for address, port in places:
            refusal = self._guard.refusal(address, port)
            if refusal is not None:
                raise RefusedAddressError(refusal)
        return sorted(places, key=lambda place: place[0].version)


def _proxy_seconds(timeout: ClientTimeout) -> float:
    """Time limit of a proxy: shorter than the request's, to tell its silence from the site's."""
    limits = [timeout.sock_connect, timeout.total and timeout.total / 2]
    return min((limit for limit in limits if limit), default=10.0)


class ProxyClients:
    """A client for each proxy, created on first use."""

    def __init__(
        self,
        direct: PermitConnector,
        guard: AddressGuard,
        make_client: Callable[[PermitConnector], Client],
        *,
        ca_file: Path | None = None,
    ) -> None:
        self._direct = direct
        self._guard = guard
        self._make_client = make_client
        self._context = verifying_context(ca_file)
        self._clients: dict[Proxy, Client] = {}

    def by(self, proxy: Proxy) -> Client:
        client = self._clients.get(proxy)
        if client is None:
            connector = TunnelConnector(proxy, self._direct, self._guard, self._context)
            client = self._clients[proxy] = self._make_client(connector)
        return client

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()
        self._clients.clear()
