"""Proxies on real sockets: pinned addresses, judged first; logins; failures told apart."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest
import uvloop
from aiohttp import ClientRequest, ClientTimeout
from asyncpg import QueryCanceledError
from yarl import URL

from messor.errors import ConflictError, LeaseLostError, NotFoundError, UnavailableError, UsageError
from messor.fetch.client import Client
from messor.fetch.connector import PermitConnector, make_connector
from messor.fetch.guard import AddressGuard, AddrInfo, RefusedAddressError
from messor.fetch.outcome import Fetched, Outcome, failed
from messor.fetch.proxies import registry
from messor.fetch.proxies.pool import ProxyPool
from messor.fetch.proxies.probe import TAKE_DUE, Prober
from messor.fetch.proxies.proxy import Proxy, ProxyAddress, ProxyError, understand
from messor.fetch.proxies.registry import KnownProxy
from messor.fetch.proxies.seal import KEY_FILE, Seal
from messor.fetch.proxies.target import Target
from messor.fetch.proxies.tunnel import (
    ProxyClients,
    TunnelConnector,
    open_tunnel,
)
from messor.fetch.proxies.usage import Uses, account
from messor.fetch.tls import verifying_context
from messor.politeness.pace import Permit
from messor.settings import AllowedNetworks
from messor.store.database import Database
from messor.web.urls import parse
from simweb.certificates import Authority
from tests.fetch.conftest import permit
from tests.little_web import LittleWeb, page
from tests.proxy_servers import PASSWORD, USER, ProxyServer

LOGIN = (USER, PASSWORD)
TESTER = "tester"
ONE, OTHER = uuid4(), uuid4()
GUARD = AddressGuard(AllowedNetworks())
PROTOCOLS = ["http", "https", "socks5"]
CANCEL_THE_WAITING = """
SELECT pg_cancel_backend(pid) FROM pg_stat_activity
 WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def proxy_error(error: BaseException | None) -> ProxyError | None:
    """The proxy's failure behind an error of the HTTP library, if there is one."""
    while error is not None and not isinstance(error, ProxyError):
        error = error.__cause__
    return error


@dataclass
class Street:
    """A web of two hosts, a proxy before it, and clients through that proxy."""

    web: LittleWeb
    server: ProxyServer
    guard: AddressGuard
    clients: ProxyClients

    async def get(
        self, url: str, proxy: Proxy | None = None, allowed: Permit | None = None
    ) -> bytes:
        client, place = self.clients.by(proxy or self.proxy), parse(url)
        assert place is not None
        return (await client.get(place, allowed or permit(), cap=100_000)).body

    async def failure(self, url: str, proxy: Proxy | None = None) -> ProxyError:
        """The proxy's failure, found behind whatever the HTTP library raises."""
        with pytest.raises((aiohttp.ClientError, OSError)) as caught:
            await self.get(url, proxy)
        error = proxy_error(caught.value)
        assert error is not None, caught.value
        assert PASSWORD not in f"{error} {error!r} {caught.value} {caught.value!r}"
        return error

    @property
    def proxy(self) -> Proxy:
        host = "localhost" if self.server.protocol == "https" else "127.0.0.1"
        return self.server.proxy(host=host)

    def place(self, host: str = "one.test", scheme: str = "http") -> str:
        """The address a host of this web stands for."""
        names = self.web.server.names()
        return names[f"{host}:{443 if scheme == 'https' else 80}"]


@asynccontextmanager
async def street(
    folder: Path,
    protocol: str = "http",
    *,
    login: tuple[str, str] | None = LOGIN,
    tls: bool = False,
    patience: float = 30.0,
    **conduct: Any,
) -> AsyncIterator[Street]:
    authority = Authority()
    ca_file = folder / "proxy-ca.pem"
    authority.write(ca_file)
    context = authority.context(["localhost"], folder) if protocol == "https" else None
    rooms = {"/": page("Good"), "/else": page("Else")}
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(
            LittleWeb(folder, {"one.test": rooms, "two.test": rooms}, tls=tls)
        )
        server = ProxyServer(protocol, login=login, context=context)
        await stack.enter_async_context(server)
        vars(server).update(conduct)
        settings = web.settings()
        guard = AddressGuard(settings.allowed_networks)
        direct = make_connector(guard, ca_file=settings.ca_file)
        stack.push_async_callback(direct.close)
        clients = ProxyClients(direct, guard, partial(client_with, patience), ca_file=ca_file)
        stack.push_async_callback(clients.close)
        yield Street(web, server, guard, clients)


def client_with(patience: float, connector: PermitConnector) -> Client:
    return Client(connector, {}, seconds=2 * patience, connect_seconds=patience)


# Connections ----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_page_comes_through_by_its_checked_address(
    tmp_path: Path, protocol: str, scheme: str
) -> None:
    async with street(tmp_path, protocol, tls=scheme == "https") as out:
        assert b"This is Good" in await out.get(f"{scheme}://one.test/")
        assert out.server.asked == [out.place(scheme=scheme)]
        assert b"one.test" not in b"".join(out.server.heads)
        assert [asked.host for asked in out.web.requests()] == ["one.test"]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_works_on_the_loop_of_the_worker(tmp_path: Path, protocol: str, scheme: str) -> None:
    async def fetch() -> bytes:
        async with street(tmp_path, protocol, tls=scheme == "https") as out:
            return await out.get(f"{scheme}://one.test/")

    assert b"This is Good" in uvloop.run(fetch())


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_proxy_without_a_login(tmp_path: Path, protocol: str) -> None:
    async with street(tmp_path, protocol, login=None, tls=True) as out:
        assert b"This is Good" in await out.get("https://one.test/")
        assert b"Authorization" not in b"".join(out.server.heads)


async def test_the_sites_certificate_is_verified_inside_the_tunnel(tmp_path: Path) -> None:
    async with street(tmp_path, tls=True) as out:
        out.guard.names["other.test:443"] = out.guard.names["one.test:443"]
        with pytest.raises(aiohttp.ClientConnectorCertificateError) as caught:
            await out.get("https://other.test/")
        assert proxy_error(caught.value) is None
        assert out.web.requests() == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "http://10.0.0.1:22/",
        "http://inside.test/",
    ],
)
async def test_an_internal_target_never_reaches_the_proxy(
    tmp_path: Path, protocol: str, url: str
) -> None:
    async with street(tmp_path, protocol) as out:
        out.guard._networks.clear()
        out.guard.names["inside.test:80"] = out.guard.names["one.test:80"]
        with pytest.raises((aiohttp.ClientError, OSError)) as caught:
            await out.get(url)
        cause: BaseException | None = caught.value
        while cause is not None and not isinstance(cause, RefusedAddressError):
            cause = cause.__cause__
        assert isinstance(cause, RefusedAddressError)
        assert (out.server.connections, out.web.requests()) == (0, [])


async def test_a_name_that_cannot_be_resolved_here_is_not_resolved_there(tmp_path: Path) -> None:
    async with street(tmp_path) as out:
        with pytest.raises((aiohttp.ClientError, TimeoutError)):
            await out.get("http://no-such-host.invalid/")
        assert out.server.connections == 0


async def test_without_a_permit_not_even_the_proxy_is_asked(tmp_path: Path) -> None:
    async with street(tmp_path) as out:
        wanted = ClientRequest("GET", URL("http://one.test/"))
        with pytest.raises((PermissionError, aiohttp.ClientError), match="permit"):
            await out.clients.by(out.proxy).connector.connect(wanted, [], ClientTimeout())
        assert out.server.connections == 0


async def test_a_permit_is_used_once_and_on_the_ready_tunnel(tmp_path: Path) -> None:
    async with street(tmp_path, tls=True) as out:
        once = permit()
        await out.get("https://one.test/", allowed=once)
        assert once.used_at > 0
        with pytest.raises(aiohttp.ClientConnectionError):
            await out.get("https://one.test/", allowed=once)
        assert len(out.web.requests()) == 1


async def test_a_failed_proxy_leaves_the_permit_unused(tmp_path: Path) -> None:
    async with street(tmp_path, refusal=502) as out:
        unused = permit()
        with pytest.raises(OSError):
            await out.get("http://one.test/", allowed=unused)
        assert unused.used_at == 0


async def test_a_lease_that_ran_out_sends_nothing(tmp_path: Path) -> None:
    late = permit()
    late._pace.lease.deadline = 0.0
    async with street(tmp_path) as out:
        with pytest.raises(LeaseLostError):
            await out.get("http://one.test/", allowed=late)
        assert out.web.requests() == []


async def test_an_idle_connection_is_kept_for_its_own_proxy_alone(tmp_path: Path) -> None:
    async with street(tmp_path) as out, ProxyServer() as second:
        await out.get("http://one.test/")
        await out.get("http://one.test/else")
        assert out.server.connections == 1
        await out.get("http://one.test/", second.proxy(2))
        await out.get("http://two.test/")
        assert (out.server.connections, second.connections) == (2, 1)
        assert second.asked == [out.place()]
        assert out.server.asked == [out.place(), out.place("two.test")]


async def test_the_next_address_is_asked_for_when_one_is_out_of_reach(tmp_path: Path) -> None:
    async with street(tmp_path) as out:
        near = out.place()
        far = f"127.9.9.9:{near.rpartition(':')[2]}"
        out.server.unreachable.add(far)
        places = [
            (ip_address(place.split(":")[0]), int(place.split(":")[1])) for place in (far, near)
        ]
        talk = await open_tunnel(out.proxy, places, verifying_context(None), 30.0, out.guard)
        talk.transport.abort()
        assert out.server.asked == [far, near]


async def test_ipv4_is_asked_for_first_and_one_refused_address_refuses_all(tmp_path: Path) -> None:
    async with street(tmp_path) as out:
        connector = out.clients.by(out.proxy).connector
        assert isinstance(connector, TunnelConnector)
        four: AddrInfo = (2, 1, 6, "", ("93.184.216.34", 80))
        six: AddrInfo = (10, 1, 6, "", ("2606:2800::1", 80, 0, 0))
        inner: AddrInfo = (2, 1, 6, "", ("10.0.0.1", 80))
        judged = connector._judged([six, four])
        assert [str(address) for address, _ in judged] == ["93.184.216.34", "2606:2800::1"]
        with pytest.raises(RefusedAddressError):
            connector._judged([four, inner])


class Listener(asyncio.Protocol):
    """Counts who connects to it."""

    def __init__(self, connects: list[object]) -> None:
        self._connects = connects

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._connects.append(transport)
        transport.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "169.254.169.254", "::1"])
async def test_a_proxy_of_others_is_never_reached_at_an_internal_address(
    tmp_path: Path, host: str
) -> None:
    connects: list[object] = []
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(lambda: Listener(connects), "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    guard = AddressGuard(AllowedNetworks(ports=[port]))
    theirs = Proxy(1, ProxyAddress("http", host, port), trusted=host == "169.254.169.254")
    try:
        for target in (None, Target("192.0.43.8", 443)):  # nothing is sent there
            finding = await Prober(guard, seconds=5.0, target=target).probe(theirs)
            assert "its address is refused" in (finding.error or "")
    finally:
        listener.close()
        await listener.wait_closed()
    assert connects == []


# Failures of a proxy --------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_wrong_password_is_the_proxys_failure(tmp_path: Path, protocol: str) -> None:
    async with street(tmp_path, protocol, tls=True) as out:
        wrong = replace(out.proxy, password="wrong horse")
        error = await out.failure("https://one.test/", wrong)
        assert not error.at_target
        assert "wrong horse" not in str(error)
        assert ("407" in str(error)) or ("refused the login" in str(error))
        assert out.server.asked == []


async def test_a_socks_proxy_that_wants_a_login_we_have_not(tmp_path: Path) -> None:
    async with street(tmp_path, "socks5") as out:
        at = out.proxy.endpoint
        bare = Proxy(1, ProxyAddress(at.protocol, at.host, at.port), trusted=True)
        assert "requires a login" in str(await out.failure("http://one.test/", bare))


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_nobody_there(tmp_path: Path, protocol: str) -> None:
    async with street(tmp_path, protocol) as out:
        await out.server.__aexit__()
        error = await out.failure("http://one.test/")
        assert "cannot be reached" in str(error)
        assert not error.at_target
        await out.server.__aenter__()


@pytest.mark.parametrize("dead", ["255.255.255.255", "127.0.0.2"])
async def test_every_address_of_a_proxy_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dead: str
) -> None:
    """No way to the first (a plain OSError, as without IPv6), or nobody there."""

    async def both(_: object, port: int, **__: object) -> list[tuple[object, ...]]:
        return [(0, 0, 0, "", (address, port)) for address in (dead, "127.0.0.1")]

    async with street(tmp_path) as out:
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", both)
        body = await out.get("http://one.test/", out.server.proxy(host="proxy.test"))
        assert b"Good" in body


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_proxy_that_says_nothing(tmp_path: Path, protocol: str) -> None:
    async with street(tmp_path, protocol, mute=True, patience=0.5) as out:
        assert "did not respond in time" in str(await out.failure("http://one.test/"))


@pytest.mark.parametrize("status", [403, 405, 500, 502, 503, 504])
async def test_a_refused_connect(tmp_path: Path, status: int) -> None:
    async with street(tmp_path, refusal=status) as out:
        error = await out.failure("http://one.test/")
        assert str(status) in str(error)
        assert error.at_target


@pytest.mark.parametrize("reply", [*range(1, 9), 200])
async def test_a_refused_socks_request(tmp_path: Path, reply: int) -> None:
    async with street(tmp_path, "socks5", refusal=reply) as out:
        error = await out.failure("http://one.test/")
        assert "connecting to" in str(error)
        assert error.at_target == (reply != 7)


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_proxy_that_speaks_before_it_is_asked(tmp_path: Path, protocol: str) -> None:
    chatter = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake"
    async with street(tmp_path, protocol, chatty=chatter) as out:
        assert "sent data before" in str(await out.failure("http://one.test/"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_tunnel_that_breaks_off_at_once(tmp_path: Path, protocol: str) -> None:
    async def fail() -> ProxyError:
        async with street(tmp_path, protocol, hangs_up=True, tls=True) as out:
            return await out.failure("https://one.test/")

    for run in (uvloop.run, asyncio.run):
        assert "failed" in (sentence := str(run(fail()))) or "broke off" in sentence


@pytest.mark.parametrize("protocol", ["http", "socks5"])
@pytest.mark.parametrize(
    "noise",
    [b"", b"\r\n\r\n", b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 2000\r\n\r\n", b"\x00" * 300,
     b"HTTP/1.1 200 " + b"x" * 100_000, b"\x05\xff", b"\x05\x02\x00\x00\x04"],
    ids=range(8),
)  # fmt: skip
async def test_noise_instead_of_a_handshake(tmp_path: Path, protocol: str, noise: bytes) -> None:
    async def make_noise(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(3)
        writer.write(noise)
        writer.close()

    async with street(tmp_path, protocol) as out:
        server = await asyncio.start_server(make_noise, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            proxy = Proxy(9, ProxyAddress(protocol, "127.0.0.1", port), trusted=True)
            await out.failure("http://one.test/", proxy)
        assert out.web.requests() == []


async def test_an_https_proxy_must_show_a_certificate_for_its_name(tmp_path: Path) -> None:
    async with street(tmp_path, "https", patience=5.0) as out:
        by_address = out.server.proxy(host="127.0.0.1")
        assert "no TLS" in str(await out.failure("http://one.test/", by_address))
        plain = Proxy(
            3, ProxyAddress("https", "localhost", int(out.place().rpartition(":")[2])), trusted=True
        )
        await out.failure("http://one.test/", plain)
        assert out.server.heads == []


# How a proxy is written -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, name, login",
    [
        ("socks5://u:p@host:1080", "socks5://host:1080", ("u", "p")),
        ("http://Proxy.Example.:3128/", "http://proxy.example:3128", ("", None)),
        ("https://u%40x:p%3Aq%2F@[2001:DB8::1]:8443", "https://[2001:db8::1]:8443", ("u@x", "p:q/")),
        ("http://u@10.0.0.7:1", "http://10.0.0.7:1", ("u", None)),
    ],
)  # fmt: skip
def test_a_url_is_understood(text: str, name: str, login: tuple[str, str | None]) -> None:
    endpoint, password = understand(text)
    assert (endpoint.name, (endpoint.username, password)) == (name, login)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "proxy.example:3128",
        "ftp://proxy.example:21",
        "socks4://u:hunter2@proxy.example:1080",
        "socks5h://u:hunter2@proxy.example:1080",
        "http://u:hunter2@proxy.example",
        "http://u:hunter2@proxy.example:0",
        "http://u:hunter2@proxy.example:99999",
        "http://u:hunter2@proxy.example:port",
        "http://u:hunter2@proxy.example:80/path",
        "http://u:hunter2@proxy.example:80?x",
        "http://:hunter2@proxy.example:80",
        "http://u:hunter2@:80",
        "http://u:hunter2@[::1:80",
        "http://u:hunter2@127.1:80",
        "http://u:hunter2@[fe80::1%25eth0]:80",
        "http://u:hunter2@a b:80",
        "http://u:hunter2@-a.example:80",
        "http://u:hunter2%0d%0aX:80",
        "http://u:hunter2%0d%0aHost:x@proxy.example:80",
        "http://u:hunter2%ff@proxy.example:80",
        "http://u%3Av:hunter2@proxy.example:80",
        "http://u:" + "hunter2" * 40 + "@proxy.example:80",
        "http://" + "u" * 101 + ":hunter2@proxy.example:80",
        "http://u:@proxy.example:80",
    ],
)
def test_a_bad_url_gets_one_sentence_without_the_password(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        understand(text)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "hunter2" not in sentence


def test_a_proxy_does_not_tell_its_password() -> None:
    proxy = Proxy(1, ProxyAddress("http", "proxy.example", 80, USER), PASSWORD)
    assert PASSWORD not in f"{proxy} {proxy!r} {proxy.endpoint.url}"


# Passwords at rest ----------------------------------------------------------------------------


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    sealed = Seal(folder).close(PASSWORD, "http://a:1")
    assert (folder / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert [file.name for file in folder.iterdir()] == [KEY_FILE]
    assert PASSWORD.encode() not in sealed
    assert Seal(folder).open(sealed, "http://a:1") == PASSWORD
    assert Seal(folder).close(PASSWORD, "http://a:1") != sealed


def test_a_sealed_password_serves_its_own_proxy_alone(tmp_path: Path) -> None:
    seal = Seal(tmp_path)
    sealed = seal.close(PASSWORD, "http://a:1")
    for wrong in (sealed[:-1], b"", b"\x01", b"\x02" + sealed[1:], sealed[:-1] + b"\x00\x00"):
        with pytest.raises(UnavailableError):
            seal.open(wrong, "http://a:1")
    with pytest.raises(UnavailableError, match="another key"):
        seal.open(sealed, "http://b:1")
    with pytest.raises(UnavailableError, match="another key"):
        Seal(tmp_path / "other", "an operator's secret").open(sealed, "http://a:1")


def test_an_operators_secret_needs_no_file(tmp_path: Path) -> None:
    sealed = Seal(tmp_path / "a", "an operator's secret").close(PASSWORD, "x")
    assert Seal(tmp_path / "b", "an operator's secret").open(sealed, "x") == PASSWORD
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("spoil", ["missing", "damaged", "open to others"])
def test_a_key_that_cannot_be_used_is_not_replaced(tmp_path: Path, spoil: str) -> None:
    sealed = Seal(tmp_path).close(PASSWORD, "x")
    file = tmp_path / KEY_FILE
    if spoil == "missing":
        file.unlink()
    elif spoil == "damaged":
        file.write_bytes(b"half a k\xff")
    else:
        file.chmod(0o644)
    before = file.read_bytes() if file.exists() else None
    with pytest.raises(UnavailableError, match=str(file)):
        Seal(tmp_path).open(sealed, "x")
    assert (file.read_bytes() if file.exists() else None) == before


# The registry ---------------------------------------------------------------------------------


@pytest.fixture
def seal(tmp_path: Path) -> Seal:
    return Seal(tmp_path)


async def add(
    database: Database, seal: Seal, url: str, password: str | None = None, cost: str | None = None
) -> KnownProxy:
    endpoint, _ = understand(url)
    price = Decimal(cost) if cost else None
    async with database.transaction() as connection:
        return await registry.add(
            connection,
            seal,
            endpoint,
            password,
            actor=TESTER,
            cost_per_request=price,
            trusted=True,
        )


async def events_of(database: Database) -> list[tuple[str, dict[str, Any]]]:
    rows = await database.fetch(
        "SELECT type, data::text AS data FROM messor.events WHERE type LIKE 'proxy.%' ORDER BY id"
    )
    return [(row["type"], row["data"]) for row in rows]


async def test_a_password_is_stored_sealed_and_shown_as_stars(
    database: Database, seal: Seal
) -> None:
    known = await add(database, seal, "http://ant@proxy.example:3128", PASSWORD)
    assert known.proxy_password == "***"
    row = await database.fetchval("SELECT p::text FROM messor.proxies p")
    raw = await database.fetchval("SELECT proxy_password FROM messor.proxies")
    assert PASSWORD not in row
    assert PASSWORD.encode() not in raw
    (candidate,) = await registry.active(database, seal)
    assert candidate.proxy.password == PASSWORD
    assert PASSWORD not in str(await events_of(database)) + str(known)


async def test_the_same_proxy_is_not_added_twice(database: Database, seal: Seal) -> None:
    await add(database, seal, "http://ant@proxy.example:3128", PASSWORD)
    with pytest.raises(ConflictError, match="already exists"):
        await add(database, seal, "http://ant@proxy.example:3128", "another")
    await add(database, seal, "http://bee@proxy.example:3128", PASSWORD)


async def test_a_proxy_is_found_by_number_or_url(database: Database, seal: Seal) -> None:
    ant = await add(database, seal, "http://ant@proxy.example:3128")
    await add(database, seal, "http://bee@proxy.example:3128")
    for name in (str(ant.id), "http://ant@proxy.example:3128", "http://ant:x@PROXY.example:3128"):
        assert await registry.get(database, name) == ant
    with pytest.raises(ConflictError, match="2 proxies"):
        await registry.get(database, "http://proxy.example:3128")
    for missing in ("77", "9" * 30, "http://else.example:3128"):
        with pytest.raises(NotFoundError):
            await registry.get(database, missing)


async def test_a_proxy_sealed_with_another_key_is_left_out(
    database: Database, seal: Seal, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await add(database, Seal(tmp_path / "other"), "http://ant@lost.example:1", PASSWORD)
    kept = await add(database, seal, "http://ant@kept.example:1", PASSWORD)
    assert [c.proxy.id for c in await registry.active(database, seal)] == [kept.id]
    assert "lost.example" in caplog.text


# The pool and its accounts --------------------------------------------------------------------


def make_pool(database: Database, seal: Seal) -> ProxyPool:
    return ProxyPool(database, seal, Prober(GUARD, seconds=30.0))


async def state(database: Database, known: KnownProxy) -> KnownProxy:
    return await registry.get(database, str(known.id))


def picked(pool: ProxyPool) -> int | None:
    proxy = pool.pick()
    return proxy.id if proxy else None


async def test_the_least_recently_used_comes_first(database: Database, seal: Seal) -> None:
    a, b, c = [
        (await add(database, seal, f"http://{name}.example:1")).id for name in ("a", "b", "c")
    ]
    sql = "UPDATE messor.proxies SET last_used_at = messor.clock() - $2 * interval '1 s' WHERE id = $1"
    async with database.connection() as connection:
        await connection.execute(sql, a, 10)
        await connection.execute(sql, c, 20)
    pool = make_pool(database, seal)
    assert pool.pick() is None
    await pool.refresh()
    before = database.round_trips
    assert [picked(pool) for _ in range(7)] == [b, c, a, b, c, a, b]
    assert database.round_trips == before
    d = (await add(database, seal, "http://d.example:1")).id
    await pool.refresh()
    assert [picked(pool) for _ in range(4)] == [d, c, a, b]
    async with database.transaction() as connection:
        known = await registry.get(connection, str(a))
        await registry.switch(connection, known, active=False, actor=TESTER)
    await pool.refresh()
    assert [picked(pool) for _ in range(3)] == [d, c, b]


async def test_uses_are_written_in_one_statement(database: Database, seal: Seal) -> None:
    a = await add(database, seal, "http://a.example:1", cost="0.25")
    b = await add(database, seal, "http://b.example:1")
    pool = make_pool(database, seal)
    await pool.refresh()
    second = pool.pick()
    first = pool.pick(but=[b.id])
    assert first is not None
    assert second is not None
    pool.failed(first, ONE, ProxyError("it hung up"))
    pool.succeeded(first, ONE, 0.1)
    pool.succeeded(first, OTHER, 0.3)
    pool.failed(second, ONE, ProxyError("it hung up"))
    before = database.round_trips
    await pool.write()
    assert database.round_trips - before == 3  # begin, account, commit
    await pool.write()
    assert database.round_trips - before == 3

    a, b = await state(database, a), await state(database, b)
    assert (a.success_count, a.failures, a.failure_count) == (2, 1, 0)
    assert (a.avg_response_time_ms, a.cost, a.last_error) == (200, Decimal("0.50"), "it hung up")
    assert (b.success_count, b.failures, b.failure_count, b.cost) == (0, 1, 1, Decimal(0))
    assert a.last_used_at
    assert a.last_success_at
    assert b.last_failure_at
    assert b.last_success_at is None
    rows = await database.fetch(
        "SELECT domain_id, proxy_id, requests, cost FROM messor.proxy_requests"
    )
    counts = {(row["domain_id"], row["proxy_id"]): (row["requests"], row["cost"]) for row in rows}
    quarter = Decimal("0.25")
    assert counts == {
        (ONE, a.id): (2, quarter), (OTHER, a.id): (1, quarter), (ONE, b.id): (1, 0)
    }, "what failed is not charged"  # fmt: skip
    pool.succeeded(first, ONE, 0.1)
    await pool.write()
    sql = "SELECT sum(requests) FROM messor.proxy_requests WHERE domain_id = $1 AND proxy_id = $2"
    assert await database.fetchval(sql, ONE, a.id) == 3


async def test_a_fetch_is_counted_by_what_it_came_to(database: Database, seal: Seal) -> None:
    known = await add(database, seal, "http://a.example:1")
    pool = make_pool(database, seal)
    await pool.refresh()
    proxy = pool.pick()
    assert proxy is not None
    pool.note(proxy, ONE, Fetched(failed("blocked", ""), status=403, sent_at=5.0, duration=0.4))
    pool.note(proxy, ONE, Fetched(failed("refused_address", "")))
    failure = ProxyError("it returned 502", at_target=True).as_fetched()
    assert (failure.outcome, failure.outcome.is_retryable) == (Outcome.ERROR, True)
    pool.note(proxy, ONE, failure)
    await pool.write()
    after = await state(database, known)
    # Whose fault it is that the domain was not reached shows when another proxy reaches it.
    assert (after.success_count, after.failures, after.failure_count) == (1, 1, 0)
    assert (after.avg_response_time_ms, after.last_error) == (400, "it returned 502")


def uses(known: KnownProxy, failures: int, successes: int = 0) -> Uses:
    made = Uses(known.id)
    for _ in range(successes):
        made.succeeded(ONE, 0.1)
    for _ in range(failures):
        made.failed(ONE, "it hung up")
        made.in_a_row += 1
    return made


async def write(database: Database, *rows: Uses) -> list[int]:
    async with database.transaction() as connection:
        return await account(connection, rows)


async def test_more_than_ten_failures_in_a_row_disable(database: Database, seal: Seal) -> None:
    known = await add(database, seal, "socks5://ant@a.example:1", PASSWORD)
    assert await write(database, uses(known, 10)) == []
    assert (await state(database, known)).is_active
    assert await write(database, uses(known, 10, successes=1)) == []
    assert (await state(database, known)).failure_count == 10
    assert await write(database, uses(known, 1)) == [known.id]
    gone = await state(database, known)
    assert (gone.is_active, gone.failure_count, gone.failures) == (False, 11, 21)
    assert await write(database, uses(known, 5)) == []  # those that were still under way
    after = await state(database, known)
    assert (after.failure_count, after.probe_at) == (11, gone.probe_at)
    (_, (kind, data)) = await events_of(database)
    assert kind == "proxy.disabled"
    assert "it hung up" in str(data)
    assert "ant" not in str(data).replace("socks5://a.example:1", "")


async def test_many_failures_at_once_wait_five_minutes_all_the_same(
    database: Database, seal: Seal
) -> None:
    known = await add(database, seal, "http://a.example:1")
    await write(database, uses(known, 500))
    wait = await database.fetchval("SELECT probe_at - messor.clock() FROM messor.proxies")
    assert 290 < wait.total_seconds() <= 300


async def test_workers_that_write_at_once_lose_no_count(database: Database, seal: Seal) -> None:
    a = await add(database, seal, "http://a.example:1")
    b = await add(database, seal, "http://b.example:1")
    orders = [[a, b], [b, a]] * 10
    await asyncio.gather(
        *(write(database, *(uses(known, 0, successes=1) for known in order)) for order in orders)
    )
    assert [(await state(database, known)).success_count for known in (a, b)] == [20, 20]
    assert await database.fetchval("SELECT sum(requests) FROM messor.proxy_requests") == 40


async def test_a_removed_proxy_is_no_trouble(database: Database, seal: Seal) -> None:
    known = await add(database, seal, "http://a.example:1")
    async with database.transaction() as connection:
        await registry.remove(connection, known, actor=TESTER)
    assert await write(database, uses(known, 20)) == []
    assert await database.fetchval("SELECT count(*) FROM messor.proxy_requests") == 0


async def test_a_failing_proxy_is_left_before_anything_is_written(
    database: Database, seal: Seal, caplog: pytest.LogCaptureFixture
) -> None:
    a = await add(database, seal, "http://a.example:1")
    pool = make_pool(database, seal)
    await pool.refresh()
    for _ in range(11):
        proxy = pool.pick()
        assert proxy is not None
        pool.failed(proxy, ONE, ProxyError("it hung up"))
    assert pool.pick() is None
    await pool.refresh()
    assert pool.pick() is None
    with caplog.at_level(logging.WARNING):
        await pool.write()
    assert "disabled" in caplog.text
    assert not (await state(database, a)).is_active


async def test_a_tally_that_could_not_be_written_is_written_later(
    database: Database, seal: Seal
) -> None:
    known = await add(database, seal, "http://a.example:1")
    pool = make_pool(database, seal)
    await pool.refresh()
    proxy = pool.pick()
    assert proxy is not None
    pool.succeeded(proxy, ONE, 0.1)
    pool.failed(proxy, ONE, ProxyError("it hung up"))
    async with database.transaction() as connection:
        await connection.execute("LOCK TABLE messor.proxies")
        writing = asyncio.create_task(pool.write())
        while not await database.fetchval(CANCEL_THE_WAITING):  # noqa: ASYNC110 - on the server
            await asyncio.sleep(0.01)
        with pytest.raises(QueryCanceledError):
            await writing
    pool.failed(proxy, OTHER, ProxyError("it hung up"))
    await pool.write()
    after = await state(database, known)
    assert (after.success_count, after.failures, after.failure_count) == (1, 2, 2)


async def test_a_site_that_is_down_does_not_take_the_pool_with_it(
    database: Database, seal: Seal
) -> None:
    a = await add(database, seal, "http://a.example:1")
    b = await add(database, seal, "http://b.example:1")
    pool = make_pool(database, seal)
    await pool.refresh()
    down = ProxyError("it returned 502", at_target=True)
    for turn in range(40):
        proxy = pool.pick()
        assert proxy is not None
        if proxy.id == a.id and turn > 10:
            pool.succeeded(proxy, OTHER, 0.1)  # other sites are well
        pool.failed(proxy, ONE, down)
    await pool.write()
    assert [(await state(database, known)).is_active for known in (a, b)] == [True, True]
    assert (await state(database, b)).failures == 20


async def test_a_proxy_that_reaches_nothing_is_disabled_though_others_are_well(
    database: Database, seal: Seal
) -> None:
    broken = await add(database, seal, "http://a.example:1")
    well = await add(database, seal, "http://b.example:1")
    pool = make_pool(database, seal)
    await pool.refresh()
    by_id = {proxy.id: proxy for proxy in (pool.pick(), pool.pick()) if proxy}
    for _ in range(11):  # each time another proxy reaches what this one could not
        pool.failed(by_id[broken.id], ONE, ProxyError("it returned 502", at_target=True))
        pool.succeeded(by_id[well.id], ONE, 0.1)
        assert picked(pool) == well.id  # the broken one rests
    await pool.write()
    assert not (await state(database, broken)).is_active
    assert (await state(database, well)).is_active


async def test_a_proxy_that_reaches_none_of_several_domains_is_disabled_though_it_is_alone(
    database: Database, seal: Seal
) -> None:
    known = await add(database, seal, "http://a.example:1")
    pool = make_pool(database, seal)
    await pool.refresh()
    proxy = pool.pick()
    assert proxy is not None
    for _ in range(20):
        pool.failed(proxy, ONE, ProxyError("it returned 403", at_target=True))
    assert picked(pool) == known.id  # that may be the site
    for domain_id in [uuid4() for _ in range(12)]:
        pool.failed(proxy, domain_id, ProxyError("it returned 403", at_target=True))
    assert pool.pick() is None
    await pool.write()
    assert not (await state(database, known)).is_active


async def test_a_login_that_is_refused_three_times_disables(database: Database, seal: Seal) -> None:
    known = await add(database, seal, "http://ant@a.example:1")
    pool = make_pool(database, seal)
    await pool.refresh()
    proxy = pool.pick()
    assert proxy is not None
    for times in range(3):
        assert picked(pool) == known.id, times
        pool.failed(proxy, ONE, ProxyError("it refused the login (407)", login=True))
    assert pool.pick() is None
    await pool.write()
    assert not (await state(database, known)).is_active


# Probes ---------------------------------------------------------------------------------------


async def later(database: Database, interval: str) -> None:
    """What is planned comes nearer."""
    async with database.connection() as connection:
        await connection.execute(
            f"UPDATE messor.proxies SET probe_at = probe_at - interval '{interval}'"
        )


@pytest.mark.parametrize("trusted", [True, False], ids=["the operator's", "somebody's"])
async def test_whose_proxy_it_is_decides_where_it_may_be(
    database: Database, seal: Seal, trusted: bool
) -> None:
    """However it came into the registry: a name may lead elsewhere by now."""
    async with ProxyServer() as server:
        endpoint, _ = understand(server.url())
        async with database.transaction() as connection:
            known = await registry.add(
                connection, seal, endpoint, PASSWORD, actor=TESTER, trusted=trusted
            )
        pool = make_pool(database, seal)
        await pool.refresh()
        proxy = pool.pick()
        assert proxy is not None
        assert proxy.trusted == trusted
        finding = await Prober(GUARD, seconds=30.0).probe_known(database, seal, known)
        assert ("its address is refused" in (finding.error or "")) != trusted


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_disabled_proxy_is_probed_back(
    database: Database, seal: Seal, tmp_path: Path, protocol: str
) -> None:
    async with street(tmp_path, protocol) as out:
        known = await add(database, seal, out.proxy.endpoint.url, PASSWORD)
        await write(database, uses(known, 11))
        host, _, port = out.web.server.names()["one.test:80"].rpartition(":")
        prober = Prober(
            out.guard,
            seconds=30.0,
            ca_file=tmp_path / "proxy-ca.pem",
            target=Target(host, int(port)),
        )
        pool = ProxyPool(database, seal, prober)
        assert await prober.probe_due(database, seal) == []  # not yet
        await later(database, "5 minutes")
        await pool.tend()
        back = await state(database, known)
        assert (back.is_active, back.failure_count, back.probe_at) == (True, 0, None)
        assert picked(pool) == known.id
        assert [kind for kind, _ in await events_of(database)][-1] == "proxy.restored"
        assert out.server.asked == [f"{host}:{port}"]
        assert out.web.requests() == []  # the tunnel is closed unused


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_probe_fails_for_a_wrong_password(tmp_path: Path, protocol: str) -> None:
    async with street(tmp_path, protocol) as out:
        host, _, port = out.web.server.names()["one.test:80"].rpartition(":")
        authorities, target = tmp_path / "proxy-ca.pem", Target(host, int(port))
        prober = Prober(out.guard, seconds=30.0, ca_file=authorities, target=target)
        assert (await prober.probe(out.proxy)).error is None
        wrong = await prober.probe(replace(out.proxy, password="wrong horse"))
        assert wrong.error
        assert "wrong horse" not in wrong.error


async def test_probes_that_fail_wait_twice_as_long_up_to_a_day(
    database: Database, seal: Seal
) -> None:
    async with ProxyServer() as gone:
        url = gone.url()
    known = await add(database, seal, url)
    await write(database, uses(known, 11))
    prober = Prober(GUARD, seconds=30.0)
    waits = []
    for _ in range(11):
        await later(database, "2 days")
        (finding,) = await prober.probe_due(database, seal)
        assert "cannot be reached" in (finding.error or "")
        wait = await database.fetchval("SELECT probe_at - messor.clock() FROM messor.proxies")
        waits.append(round(wait.total_seconds() / 60))
    assert waits == [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440, 1440]
    assert not (await state(database, known)).is_active


async def test_one_worker_probes_and_not_all(database: Database, seal: Seal) -> None:
    async with ProxyServer() as server:
        known = await add(database, seal, server.url())
        await write(database, uses(known, 11))
        await later(database, "5 minutes")
        prober = Prober(GUARD, seconds=30.0)
        async with database.transaction() as another:
            assert len(await another.fetch(TAKE_DUE)) == 1
            assert await prober.probe_due(database, seal) == []  # while the other is at it
        assert await prober.probe_due(database, seal) == []  # and after it took it
        assert server.connections == 0


async def test_what_the_operator_disabled_stays_so(database: Database, seal: Seal) -> None:
    async with ProxyServer() as server:
        known = await add(database, seal, server.url())
        async with database.transaction() as connection:
            await registry.switch(connection, known, active=False, actor=TESTER)
        prober = Prober(GUARD, seconds=30.0)
        assert await prober.probe_due(database, seal) == []
        assert (await prober.probe_known(database, seal, known)).error is None
        assert not (await state(database, known)).is_active
        async with database.transaction() as connection:
            back = await registry.switch(connection, known, active=True, actor=TESTER)
        assert back.is_active
