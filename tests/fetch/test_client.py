"""The client on real sockets: what it writes, when an answer is whole, and which connections it keeps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import ClientConnectionError

from messor.fetch.client import Client, HttpReply
from messor.fetch.connector import make_connector
from messor.fetch.content_decoding import BodyTooLargeError
from messor.fetch.guard import AddressGuard
from messor.settings import AllowedNetworks
from messor.web.urls import parse
from tests.crawling import until
from tests.fetch.conftest import permit

GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Kept: yes\r\n\r\ngood"
HEADERS = {"User-Agent": "Tester/1", "Accept": "text/html", "Accept-Encoding": "gzip"}


@dataclass
class Teller:
    """A server that answers each request with the next of some bytes, or hangs up for none."""

    answers: list[bytes]
    heads: list[bytes] = field(default_factory=list)
    connections: int = 0
    closed: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.answers:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                answer = self.answers.pop(0)
                if not answer:
                    return
                writer.write(answer)
                await writer.drain()
            await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.closed += 1
            writer.close()


@dataclass
class Talk:
    teller: Teller
    client: Client

    async def get(
        self, path: str = "/", *conditions: tuple[str, str], cap: int = 1_000, cut: bool = False
    ) -> HttpReply:
        url = parse(f"http://one.test{path}")
        assert url is not None
        return await self.client.get(url, permit(), conditions, cap=cap, cut=cut)


@asynccontextmanager
async def talking(*answers: bytes, seconds: float = 10.0) -> AsyncIterator[Talk]:
    teller = Teller(list(answers))
    server = await asyncio.start_server(teller.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    allowed = AllowedNetworks(
        addresses=["127.0.0.0/8"], ports=[port], names={"one.test:80": f"127.0.0.1:{port}"}
    )
    connector = make_connector(AddressGuard(allowed))
    client = Client(connector, HEADERS, seconds=seconds, connect_seconds=seconds)
    try:
        yield Talk(teller, client)
    finally:
        await client.close()
        server.close()


async def test_a_request_says_what_it_must_and_no_more() -> None:
    async with talking(GOOD) as talk:
        await talk.get("/a%20b?c=d", ("If-None-Match", '"tag"'))
    (head,) = talk.teller.heads
    assert head.decode().split("\r\n") == [
        "GET /a%20b?c=d HTTP/1.1",
        "Host: one.test",
        "User-Agent: Tester/1",
        "Accept: text/html",
        "Accept-Encoding: gzip",
        'If-None-Match: "tag"',
        "",
        "",
    ]


async def test_an_answer_comes_whole() -> None:
    async with talking(GOOD) as talk:
        reply = await talk.get()
    assert (reply.status, reply.reason, reply.body) == (200, "OK", b"good")
    assert reply.headers["x-kept"] == "yes"
    assert reply.raw_headers == ((b"Content-Length", b"4"), (b"X-Kept", b"yes"))


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\x00b", "a\x7f"])
async def test_a_value_that_would_be_more_than_one_line_is_not_sent(value: str) -> None:
    async with talking(GOOD) as talk:
        with pytest.raises(ValueError, match="If-None-Match"):
            await talk.get("/", ("If-None-Match", value))
        assert talk.teller.connections == 0


async def test_a_connection_is_kept_for_the_next_request() -> None:
    async with talking(GOOD, GOOD) as talk:
        await talk.get()
        await talk.get()
        assert talk.teller.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\ngood",
        b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ngood",
        GOOD + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",  # an answer nobody asked for
    ],
    ids=["asked", "old", "smuggled"],
)
async def test_a_connection_that_must_not_be_used_again_is_closed(answer: bytes) -> None:
    async with talking(answer, GOOD) as talk:
        assert (await talk.get()).body == b"good"
        assert (await talk.get()).body == b"good"
        assert talk.teller.connections == 2


async def test_what_only_announces_an_answer_is_passed_over() -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    async with talking(b"HTTP/1.1 100 Continue\r\n\r\n" + hint + GOOD) as talk:
        reply = await talk.get()
    assert (reply.status, reply.body) == (200, b"good")


async def test_an_answer_without_a_body_leaves_the_connection_as_it_was() -> None:
    async with talking(b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n", GOOD) as talk:
        assert (await talk.get()).body == b""
        assert (await talk.get()).body == b"good"
        assert talk.teller.connections == 1


async def test_a_body_over_the_cap_is_refused_or_cut_and_not_read_to_its_end() -> None:
    long = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" + b"x" * 2_000 + b"\r\n"
    promised = b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n"
    async with talking(long, long, promised) as talk:
        with pytest.raises(BodyTooLargeError):
            await talk.get()
        assert len((await talk.get(cut=True)).body) >= 1_000
        with pytest.raises(BodyTooLargeError, match="Content-Length"):
            await talk.get()
        await until(lambda: talk.teller.closed == 3)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngo",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngo",
        b"HTTP/1.1 200 OK\r\n\r\ngo",  # whose end is the connection's, but not one we made
    ],
    ids=["head", "length", "chunk", "open"],
)
async def test_time_is_bounded_and_what_ran_out_is_closed(answer: bytes) -> None:
    async with talking(answer, seconds=0.2) as talk:
        with pytest.raises(TimeoutError):
            await talk.get()
        await until(lambda: talk.teller.closed == 1)


async def test_a_request_that_is_cancelled_closes_its_connection() -> None:
    async with talking(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngo") as talk:
        asking = asyncio.create_task(talk.get())
        await until(lambda: len(talk.teller.heads) == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: talk.teller.closed == 1)


async def test_a_connection_that_ends_before_its_answer_is_told_so() -> None:
    async with talking(b"") as talk:
        with pytest.raises(ClientConnectionError, match="closed before the response"):
            await talk.get()
        assert len(talk.teller.heads) == 1
