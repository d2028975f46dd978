"""The pinning proxy on raw sockets: who may go where, counted, and nobody else."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from messor.core import clock
from messor.errors import LeaseLostError
from messor.fetch.browser.heads import final_answer, parse_request
from messor.fetch.browser.limits import BrowserLimits
from messor.fetch.browser.pinning_proxy import PinningProxy
from messor.fetch.browser.traffic import MAX_HOSTS, MAX_REFUSALS, Traffic
from messor.fetch.guard import AddressGuard
from messor.fetch.outcome import Outcome
from messor.politeness.lease import WorkerLease
from messor.politeness.pace import Pace, Permit
from messor.settings import AllowedNetworks
from messor.web.urls import parse
from tests.fetch.conftest import permit

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
GET = "GET http://one.test/ HTTP/1.1\r\nHost: one.test\r\n"


@dataclass
class Host:
    """Takes connections, keeps what it is sent, answers each as told, and stays on the line."""

    answer: bytes = HELLO
    heard: list[bytes] = field(default_factory=list)
    closed: list[asyncio.Event] = field(default_factory=list)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(self.heard)
        self.heard.append(b"")
        self.closed.append(asyncio.Event())
        try:
            while chunk := await reader.read(65_536):
                was_silent = not self.heard[number]
                self.heard[number] += chunk
                if was_silent:
                    writer.write(self.answer)
        except ConnectionResetError:
            pass
        finally:
            self.closed[number].set()
            writer.close()


@dataclass
class Gate:
    """A proxy, the host it may reach as one.test and two.test, and one it may not."""

    proxy: PinningProxy
    host: Host
    inner: Host

    async def ask(self, traffic: Traffic | None, head: str, body: bytes = b"") -> bytes:
        """All that the proxy answers to one message."""
        if traffic is None:
            return await self._ask(head, body)
        with self.proxy.admitting(traffic) as (user, password):
            return await self._ask(head + credential(user, password), body)

    async def _ask(self, head: str, body: bytes = b"") -> bytes:
        reader, writer = await self.dial()
        writer.write(head.encode("latin-1") + b"\r\n" + body)
        try:
            async with asyncio.timeout(60):
                answer = await reader.readuntil(b"\r\n\r\n")
                if b"hello" in self.host.answer and b" 200 OK" in answer:
                    answer += await reader.readexactly(5)
                return answer
        except asyncio.IncompleteReadError as error:
            return error.partial
        finally:
            writer.close()

    async def dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", int(self.proxy.url.rpartition(":")[2]))


def credential(user: str, password: str) -> str:
    text = base64.b64encode(f"{user}:{password}".encode()).decode()
    return f"Proxy-Authorization: Basic {text}\r\n"


def traffic_of(
    href: str = "http://one.test/", *, by: Permit | None = None, **limits: Any
) -> Traffic:
    url = parse(href)
    assert url is not None
    return Traffic(url, by or permit(), BrowserLimits(**limits))


@pytest.fixture
async def gate() -> AsyncIterator[Gate]:
    async with opened() as made:
        yield made


@asynccontextmanager
async def opened() -> AsyncIterator[Gate]:
    host, inner = Host(), Host()
    servers = []
    for one in (host, inner):
        server = await asyncio.start_server(one.serve, "127.0.0.1", 0)
        one.port = server.sockets[0].getsockname()[1]
        servers.append(server)
    place = f"127.0.0.1:{host.port}"
    names = {f"{name}.test:{port}": place for name in ("one", "two") for port in (80, 443)}
    names["inner.test:80"] = names["inner.test:443"] = f"127.0.0.1:{inner.port}"
    allowed = AllowedNetworks(addresses=["127.0.0.1/32"], ports=[host.port], names=names)
    proxy = PinningProxy(AddressGuard(allowed), connect_timeout=30.0)
    await proxy.start()
    try:
        yield Gate(proxy, host, inner)
    finally:
        await proxy.close()
        for server in servers:
            server.close()
        for closed in (*host.closed, *inner.closed):
            await closed.wait()


async def test_a_plain_request_goes_out_as_one_message(gate: Gate) -> None:
    traffic = traffic_of()
    answer = await gate.ask(traffic, GET + "X-Mine: 1\r\nProxy-Connection: keep-alive\r\nTE: x\r\n")
    assert answer.endswith(b"hello")
    assert b"Connection: close" in answer
    (heard,) = gate.host.heard
    assert heard == b"GET / HTTP/1.1\r\nHost: one.test\r\nX-Mine: 1\r\nConnection: close\r\n\r\n"
    assert traffic.summary()["hosts"]["one.test"]["connections"] == 1


async def test_the_host_named_is_the_one_connected_to(gate: Gate) -> None:
    await gate.ask(traffic_of(), "GET http://one.test/ HTTP/1.1\r\nHost: two.test\r\n")
    assert b"Host: one.test\r\n" in gate.host.heard[0]
    assert b"two.test" not in gate.host.heard[0]


async def test_a_tunnel_carries_both_ways(gate: Gate) -> None:
    traffic = traffic_of("https://one.test/")
    with gate.proxy.admitting(traffic) as (user, password):
        reader, writer = await gate.dial()
        writer.write(f"CONNECT one.test:443 HTTP/1.1\r\n{credential(user, password)}\r\n".encode())
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"\x16\x03")
        assert await reader.readexactly(len(HELLO)) == HELLO
        writer.close()
    assert gate.host.heard == [b"\x16\x03"]
    assert traffic.summary()["bytes"] == 2 + len(HELLO)


@pytest.mark.parametrize(
    "sent", ["", credential("guess", "work"), "Proxy-Authorization: Basic =\r\n"]
)
async def test_without_its_credential_nothing_goes_out(gate: Gate, sent: str) -> None:
    answer = await gate.ask(None, GET + sent)
    assert answer.startswith(b"HTTP/1.1 407 ")
    assert gate.host.heard == []


async def test_a_credential_ends_with_its_render(gate: Gate) -> None:
    with gate.proxy.admitting(traffic_of()) as (user, password):
        pass
    assert b" 407 " in await gate.ask(None, GET + credential(user, password))
    assert gate.host.heard == []


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:{inner}/",
        "http://2130706433:{inner}/",
        "http://0x7f.1:{inner}/",
        "http://[::1]:{inner}/",
        "http://[::ffff:127.0.0.1]:{inner}/",
        "http://localhost:{inner}/",
        "http://localhost/",
        "http://inner.test/",
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:22/",
        "http://10.0.0.1/",
    ],
)
async def test_what_the_guard_refuses_is_not_connected_to(gate: Gate, target: str) -> None:
    href = target.format(inner=gate.inner.port)
    traffic = traffic_of(href)
    answer = await gate.ask(traffic, f"GET {href} HTTP/1.1\r\n")
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert gate.inner.heard == []
    assert traffic.failure is not None
    assert traffic.failure.outcome is Outcome.REFUSED_ADDRESS
    assert not traffic.has_departed


@pytest.mark.parametrize(
    "target", ["inner.test:443", "127.0.0.1:{inner}", "[::1]:443", "one.test:25"]
)
async def test_a_tunnel_is_refused_like_a_request(gate: Gate, target: str) -> None:
    traffic = traffic_of()
    await gate.ask(traffic, GET)
    answer = await gate.ask(
        reopened(traffic), f"CONNECT {target.format(inner=gate.inner.port)} HTTP/1.1\r\n"
    )
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert gate.inner.heard == []
    assert len(traffic.summary()["refusals"]) == 1


def reopened(traffic: Traffic) -> Traffic:
    """Leave a render's account open for another message."""
    traffic.is_closed = False
    return traffic


@pytest.mark.parametrize(
    "head",
    [
        "GET / HTTP/1.1\r\nHost: one.test\r\n",
        "GET https://one.test/ HTTP/1.1\r\n",
        "GET ftp://one.test/ HTTP/1.1\r\n",
        "GET file:///etc/passwd HTTP/1.1\r\n",
        "CONNECT one.test HTTP/1.1\r\n",
        "CONNECT user@one.test:443 HTTP/1.1\r\n",
        "CONNECT one.test:443/../ HTTP/1.1\r\n",
        "CONNECT one.test:99999 HTTP/1.1\r\n",
        "GET http://one.test/ HTTP/2\r\n",
        "GET http://one.test/\r\n",
        GET + "no colon\r\n",
        GET + " folded: yes\r\n",
        GET + "bad name: x\r\n",
        "\r\n",
        "\x00\xff\r\n",
    ],
)
async def test_what_is_not_a_proxy_request_goes_nowhere(gate: Gate, head: str) -> None:
    assert (await gate.ask(traffic_of(), head)).startswith(b"HTTP/1.1 400 ")
    assert gate.host.heard == []


async def test_a_head_without_end_goes_nowhere(gate: Gate) -> None:
    assert await gate.ask(traffic_of(), GET + f"X: {'x' * 100_000}\r\n") == b""
    assert gate.host.heard == []


async def test_a_body_goes_as_far_as_announced(gate: Gate) -> None:
    head = "POST http://one.test/ HTTP/1.1\r\nContent-Length: 3\r\n"
    smuggled = b"abcGET http://inner.test/ HTTP/1.1\r\n\r\n"
    assert (await gate.ask(traffic_of(), head, smuggled)).endswith(b"hello")
    assert gate.host.heard[0].endswith(b"\r\n\r\nabc")
    assert gate.inner.heard == []


@pytest.mark.parametrize(
    "framing",
    [
        "Transfer-Encoding: chunked\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: -1\r\n",
    ],
)
async def test_a_body_of_unknown_length_is_not_sent(gate: Gate, framing: str) -> None:
    answer = await gate.ask(traffic_of(), f"POST http://one.test/ HTTP/1.1\r\n{framing}", b"1\r\nx")
    assert answer.startswith(b"HTTP/1.1 411 ")
    assert gate.host.heard in ([], [b""])


async def test_the_permit_is_used_once_on_the_ready_connection(gate: Gate) -> None:
    once = permit()
    traffic = traffic_of(by=once)
    with gate.proxy.admitting(traffic) as (user, password):
        assert not once.used_at
        await gate._ask(GET + credential(user, password))
        first = once.used_at
        assert first
        await gate._ask(GET + credential(user, password))
    assert once.used_at == first
    assert len(gate.host.heard) == 2


async def test_nothing_goes_elsewhere_before_the_page_itself(gate: Gate) -> None:
    traffic = traffic_of()
    assert b" 403 " in await gate.ask(traffic, "GET http://two.test/ HTTP/1.1\r\n")
    assert gate.host.heard == []
    assert traffic.failure is None


async def test_without_a_lease_nothing_is_sent(gate: Gate) -> None:
    late = Permit(Pace(0.0, 0.0, WorkerLease(1, 1.0, clock.now() - 2)))
    traffic = traffic_of(by=late)
    assert b" 403 " in await gate.ask(traffic, GET)
    assert isinstance(traffic.lost, LeaseLostError)
    assert gate.host.heard in ([], [b""])


@pytest.mark.parametrize(
    "limits, target, passed",
    [({"requests_here": 2}, "one", 2), ({"requests_elsewhere": 3}, "two", 3)],
)
async def test_connections_are_limited(
    gate: Gate, limits: dict[str, Any], target: str, passed: int
) -> None:
    traffic = traffic_of(**limits)
    with gate.proxy.admitting(traffic) as (user, password):
        shown = credential(user, password)
        await gate._ask(GET + shown)
        answers = [
            await gate._ask(f"GET http://{target}.test/ HTTP/1.1\r\n{shown}") for _ in range(5)
        ]
    assert [b" 200 " in answer for answer in answers] == [number < passed for number in range(5)]
    assert len(gate.host.heard) == 1 + passed
    assert traffic.limit == next(iter(limits))
    assert traffic.summary()["hosts"][f"{target}.test"]["refused"] == 5 - passed


async def test_bytes_are_limited(gate: Gate) -> None:
    gate.host.answer = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000
    traffic = traffic_of(traffic_bytes=100_000)
    with gate.proxy.admitting(traffic) as (user, password):
        reader, writer = await gate.dial()
        writer.write((GET + credential(user, password) + "\r\n").encode())
        with pytest.raises(ConnectionResetError):
            await reader.read(-1)
        writer.close()
    assert traffic.limit == "bytes"
    await gate.host.closed[0].wait()


async def test_the_end_of_a_render_cuts_its_connections(gate: Gate) -> None:
    gate.host.answer = b""
    with gate.proxy.admitting(traffic_of()) as (user, password):
        _, writer = await gate.dial()
        writer.write((GET + credential(user, password) + "\r\n").encode())
        async with asyncio.timeout(60):
            while not any(gate.host.heard):  # noqa: ASYNC110 - the host has no event for it
                await asyncio.sleep(0.01)
    async with asyncio.timeout(60):
        await gate.host.closed[0].wait()
    writer.close()


@pytest.mark.parametrize("answer", [b"junk\r\n\r\n", b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n"])
async def test_what_is_not_an_answer_is_not_passed_on(gate: Gate, answer: bytes) -> None:
    gate.host.answer = answer
    assert await gate.ask(traffic_of(), GET) == b""


async def test_informational_answers_are_dropped(gate: Gate) -> None:
    gate.host.answer = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + HELLO
    assert (await gate.ask(traffic_of(), GET)).startswith(b"HTTP/1.1 200 OK")


async def test_a_host_that_takes_no_connection_is_told_of(gate: Gate) -> None:
    spare = await asyncio.start_server(gate.host.serve, "127.0.0.1", 0)
    port = spare.sockets[0].getsockname()[1]
    spare.close()
    await spare.wait_closed()
    names = {"one.test:80": f"127.0.0.1:{port}"}
    allowed = AllowedNetworks(addresses=["127.0.0.1/32"], ports=[port], names=names)
    gate.proxy._guard = AddressGuard(allowed)
    gate.proxy._resolver._guard = gate.proxy._guard
    traffic = traffic_of()
    assert b" 502 " in await gate.ask(traffic, GET)
    assert traffic.failure is not None
    assert (traffic.failure.outcome, traffic.failure.error_type) == (Outcome.ERROR, "connect")


def test_the_account_of_a_render_is_bounded() -> None:
    traffic = traffic_of()
    for number in range(10_000):
        traffic.refuse(f"{number}.test", "no")
    summary = traffic.summary()
    assert len(summary["hosts"]) <= MAX_HOSTS + 1
    assert len(summary["refusals"]) == MAX_REFUSALS
    assert sum(count["refused"] for count in summary["hosts"].values()) == 10_000


@pytest.mark.parametrize("read", [parse_request, final_answer])
@pytest.mark.parametrize(
    "head", [b"", b"\r\n\r\n", b"\xff" * 100, b"GET\r\n\r\n", b":\r\n:\r\n\r\n"]
)
def test_no_head_breaks_the_reading(read: Callable[[bytes], object], head: bytes) -> None:
    assert read(head) is None
