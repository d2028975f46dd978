"""What comes over the wire at its worst: redirects, lengths, cookies, addresses, encodings.

The single request is tried in `tests/fetch`; here whole crawls are judged by what they keep.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from messor.core import clock
from messor.fetch.connector import make_connector
from messor.fetch.guard import AddressGuard, AddrInfo
from messor.fetch.http import HttpFetcher
from messor.fetch.outcome import Fetched, Outcome
from messor.politeness.lease import WorkerLease
from messor.politeness.pace import Pace, Permit
from messor.settings import AllowedNetworks, Settings
from messor.store.database import Database
from simweb.answers import Ending, Request, SimResponse, Stream, plain, redirect
from simweb.documents import HTML
from simweb.mischief import content
from tests.crawling import admit, at_work, crawl, outcomes, until
from tests.faults.scenes import count, crawl_later, holds, paper, play, raw, refused, task_of
from tests.little_web import LittleWeb, Room

HOME = "http://one.test/"
_HTML = (("Content-Type", HTML),)


def permit() -> Permit:
    return Permit(Pace(0.0, 0.0, WorkerLease(1, 60.0, clock.now())))


async def crawl_one(
    database: Database, folder: Path, rooms: dict[str, Room], **values: Any
) -> tuple[list[str], dict[str, str | None]]:
    """Crawl `one.test`; answers what it was asked and what came of its pages, by path."""
    async with LittleWeb(folder, {"one.test": rooms}) as web:
        await admit(database, HOME)
        await crawl(web.settings(**values), database)
        found = await outcomes(database)
        by_path = {url.removeprefix("http://one.test"): said for url, said in found.items()}
        return web.paths("one.test"), by_path


@asynccontextmanager
async def raw_host(*answers: bytes) -> AsyncIterator[tuple[Settings, list[bytes]]]:
    """`raw.test`, which sends bytes as they are, one answer after the other, and hangs up."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answers[min(len(asked), len(answers)) - 1])
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    opened = AllowedNetworks(
        addresses=["127.0.0.0/8"], ports=[port], names={"raw.test:80": f"127.0.0.1:{port}"}
    )
    try:
        yield Settings(allowed_networks=opened, total_timeout=20.0), asked
    finally:
        server.close()
        await server.wait_closed()


async def fetch_raw(answer: bytes) -> Fetched:
    async with raw_host(answer) as (settings, _):
        fetcher = HttpFetcher(settings, "1")
        try:
            return await fetcher.fetch("http://raw.test/", permit())
        finally:
            await fetcher.close()


# Bombs, floods, silence (N1, N4, N18) ------------------------------------------------------------


@pytest.mark.parametrize(
    "encoding", ["br", "zstd", "compress", "gzip, br", "x-unknown", "gzip, gzip"]
)
async def test_what_we_did_not_ask_for_is_never_unpacked(encoding: str) -> None:
    body = zlib.compress(b" " * 1_000_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {encoding}\r\n"
    fetched = await fetch_raw(
        head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
    )
    assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, "bad_encoding")


async def test_a_host_that_takes_no_connection_is_given_up() -> None:
    """N4: a backlog that is full answers no SYN."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        port = deaf.getsockname()[1]
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        opened = AllowedNetworks(
            addresses=["127.0.0.0/8"], ports=[port], names={"deaf.test:80": f"127.0.0.1:{port}"}
        )
        settings = Settings(allowed_networks=opened, connect_timeout=0.3, total_timeout=600.0)
        fetcher = HttpFetcher(settings, "1")
        try:
            async with asyncio.timeout(60):  # a tenth of what an answer may take
                fetched = await fetcher.fetch("http://deaf.test/", permit())
        finally:
            await fetcher.close()
            for filler in fillers:
                filler.close()
    assert (fetched.outcome, fetched.error_type) == (Outcome.TIMEOUT, "timeout")
    assert fetched.sent_at == 0.0


HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\r\n<p>Hello</p"


async def test_hints_before_the_answer_are_passed_over() -> None:
    fetched = await fetch_raw(HINT * 3 + WHOLE)
    assert (fetched.outcome, fetched.body) == (Outcome.OK, b"<p>Hello</p")


async def test_a_flood_of_hints_ends_within_the_deadline() -> None:
    """N18: 103 without end, then nothing."""
    fetched = await fetch_raw(HINT * 20_000)
    assert fetched.outcome in (Outcome.ERROR, Outcome.TIMEOUT)


# Lengths and framing (N10) -----------------------------------------------------------------------


def framed(*headers: str, body: bytes) -> bytes:
    lines = ["HTTP/1.1 200 OK", "Content-Type: text/html", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


CHUNKS = b"b\r\n<p>Hello</p\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        framed("Content-Length: 100", body=b"<p>Hello</p>"),
        framed("Content-Length: 20", body=b"<p>Hello " + b"word " * 50),
        framed("Content-Length: 2000", body=b"<p>Hello " + b"word " * 8_000),
        framed("Transfer-Encoding: chunked", body=CHUNKS),
        framed("Transfer-Encoding: chunked", body=CHUNKS + b"zz\r\nHi\r\n0\r\n\r\n"),
        framed("Transfer-Encoding: chunked", body=CHUNKS + b"fffffffffffffffff\r\nHi\r\n0\r\n\r\n"),
        framed("Transfer-Encoding: chunked", body=CHUNKS + b"-5\r\nHi\r\n0\r\n\r\n"),
        framed("Content-Length: 5", "Transfer-Encoding: chunked", body=CHUNKS + b"0\r\n\r\n"),
        framed("Content-Length: 5", "Content-Length: 11", body=b"<p>Hello</p"),
        framed("Content-Length: -1", body=b"<p>Hello</p"),
        framed("Content-Length: 1e3", body=b"<p>Hello</p"),
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html",
        b"<p>No head at all</p>\r\n\r\n",
    ],
    ids=[
        "long-length",
        "short-length",
        "short-length-of-a-large-page",
        "chunks-without-end",
        "chunk-size-not-hexadecimal",
        "chunk-size-overflows",
        "chunk-size-negative",
        "length-and-chunks",
        "two-lengths",
        "length-negative",
        "length-not-decimal",
        "head-cut-off",
        "no-head",
    ],
)
async def test_a_body_in_doubt_is_never_a_good_one(answer: bytes) -> None:
    fetched = await fetch_raw(answer)
    assert fetched.outcome is Outcome.ERROR
    assert fetched.error_type in ("truncated", "protocol")
    assert fetched.body == b""
    assert fetched.error


async def test_a_page_that_breaks_off_is_tried_three_times_and_never_kept(
    dsn: str, tmp_path: Path
) -> None:
    torn = SimResponse(
        200, _HTML, b"<p>" + b"word " * 500, claimed_length=9_000, ending=Ending.RESET
    )
    async with LittleWeb(tmp_path, {"one.test": {"/": torn}}) as web:
        async with Database(dsn) as database:
            await admit(database, HOME)
        await play(dsn, web.settings(), 6 * 3600)
        assert web.paths("one.test").count("/") == 3
    async with Database(dsn) as database:
        task = await task_of(database, HOME)
        assert (task["outcome"], task["status"], task["snapshot_id"]) == ("error", "failed", None)
        assert await count(database, "page_snapshots") == 0
        labels = await database.fetch(
            "SELECT DISTINCT error_json ->> 'type' AS said FROM messor.http_fetches f"
            " WHERE page_id = $1",
            task["page_id"],
        )
        assert [row["said"] for row in labels] == ["truncated"]


# Never erase good data (N18) ---------------------------------------------------------------------

BLANK = raw("<html><head><title></title></head><body></body></html>")
SHELL = raw('<html><body><div id="root"></div><script src="/app.js"></script></body></html>')
CHALLENGE = SimResponse(
    200,
    (*_HTML, ("cf-mitigated", "challenge"), ("ETag", '"wall"')),
    b"<title>Just a moment...</title><p>Checking your browser before accessing one.test</p>",
)
SOFT_404 = raw("<title>Page not found</title><p>Sorry, this page does not exist any more.</p>")
SORRY = {
    "304": SimResponse(304),
    "nothing": SimResponse(200, _HTML),
    "blank": BLANK,
    "shell": SHELL,
    "challenge": CHALLENGE,
    "soft-404": SOFT_404,
    "503": plain(503, "down"),
}


async def test_not_modified_without_a_copy_is_an_error(database: Database, tmp_path: Path) -> None:
    asked, found = await crawl_one(database, tmp_path, {"/": SimResponse(304)})
    assert asked.count("/") == 1
    assert found["/"] == "error"
    assert await count(database, "page_snapshots") == 0


@pytest.mark.parametrize(
    "names",
    [("304", "nothing", "503"), ("blank", "shell", "challenge", "soft-404")],
    ids="-".join,
)
async def test_a_good_snapshot_is_never_replaced_by_nothing(
    dsn: str, tmp_path: Path, names: tuple[str, ...]
) -> None:
    """However often it comes: the page keeps its content, and is not told to be as it was."""
    hosts: dict[str, dict[str, Room]] = {f"s-{name}.test": {"/": paper("good")} for name in names}
    async with LittleWeb(tmp_path, hosts) as web:
        async with Database(dsn) as database:
            for host in hosts:
                await admit(database, f"http://{host}/")
            await crawl(web.settings(), database)
            before = {host: await task_of(database, f"http://{host}/") for host in hosts}
        for name in names:
            web.houses[f"s-{name}.test"].rooms["/"] = SORRY[name]
        said: set[tuple[str, str]] = set()
        for day in (8, 16, 24):
            await crawl_later(dsn, web.settings(), timedelta(days=day))
            async with Database(dsn) as database:
                for host in hosts:
                    task = await task_of(database, f"http://{host}/")
                    assert task["snapshot_id"] == before[host]["snapshot_id"]
                    said.add((host, task["outcome"]))
    async with Database(dsn) as database:
        assert await count(database, "page_changes", "state = 'changed'") == 0
        good = "verdict IS NULL AND title = 'good'"
        assert await count(database, "page_snapshots", good) == len(names)
        assert await count(database, "page_snapshots", "verdict IS NULL") == len(names)
    assert {host for host, outcome in said if outcome == "unchanged"} <= {"s-304.test"}


# Redirects of all kinds (N8, N9) -----------------------------------------------------------------


def refresh_to(target: str) -> SimResponse:
    return paper("moved", head=f'<meta http-equiv="refresh" content="0; url={target}">')


def endless(step: str) -> Room:
    """A room that leads ever further, by header, by meta refresh, or by turns."""

    def room(request: Request) -> SimResponse:
        number = int(request.query.partition("=")[2] or 0)
        target = f"{request.route}?n={number + 1}"
        by_meta = step == "refresh" or (step == "both" and number % 2)
        return refresh_to(target) if by_meta else redirect(target)

    return room


@pytest.mark.parametrize(
    "step, most", [("redirect", 0), ("refresh", 3), ("both", 3), ("refresh", 10), ("both", 10)]
)
async def test_all_redirects_share_one_budget_of_hops(
    database: Database, tmp_path: Path, step: str, most: int
) -> None:
    """N8: a query that grows for ever ends after as many hops as are allowed."""
    rooms: dict[str, Room] = {"/": paper("home", "/go"), "/go": endless(step)}
    asked, found = await crawl_one(database, tmp_path, rooms, max_redirects=most)
    gone = [path for path in asked if path.startswith("/go")]
    assert len(gone) == len(set(gone)) == most + 1
    ends = await database.fetch(
        "SELECT p.url FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id"
        " WHERE t.error_message LIKE '%more than%times%'"
    )
    assert [row["url"] for row in ends] == [f"http://one.test{gone[-1]}"]
    assert None not in found.values()


async def test_a_chain_of_a_hundred_stops_at_ten(database: Database, tmp_path: Path) -> None:
    rooms: dict[str, Room] = {"/": paper("home", "/hop/0"), "/hop/100": paper("the end")}
    rooms |= {f"/hop/{n}": redirect(f"/hop/{n + 1}", 301 + n % 2) for n in range(100)}
    asked, found = await crawl_one(database, tmp_path, rooms)
    assert sum(path.startswith("/hop") for path in asked) == 11
    assert "/hop/100" not in found


@pytest.mark.parametrize("kind", ["redirect", "refresh"])
async def test_circles_end_where_they_began(database: Database, tmp_path: Path, kind: str) -> None:
    to = redirect if kind == "redirect" else refresh_to
    rooms: dict[str, Room] = {
        "/": paper("home", "/self", "/left", "/a"),
        "/self": to("/self"),
        "/left": to("/right"),
        "/right": to("/left"),
        "/a": to("/b"),
        "/b": to("/c"),
        "/c": to("/a"),
    }
    asked, _ = await crawl_one(database, tmp_path, rooms)
    assert sorted(asked) == sorted(["/robots.txt", *rooms])


async def test_a_start_page_in_circles_across_hosts_ends(
    database: Database, tmp_path: Path
) -> None:
    hosts: dict[str, dict[str, Room]] = {
        "one.test": {"/": redirect("http://www.one.test/")},
        "www.one.test": {"/": redirect("http://one.test/")},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, HOME)
        await crawl(web.settings(), database)
        assert web.paths("one.test").count("/") == 1
        assert web.paths("www.one.test").count("/") == 1


async def test_a_page_that_is_nothing_but_a_refresh_leads_on(
    database: Database, tmp_path: Path
) -> None:
    """Many a front door is one: no text, and nothing unfriendly about it."""
    door = raw('<html><head><meta http-equiv="refresh" content="0; url=/en/"></head></html>')
    asked, _ = await crawl_one(database, tmp_path, {"/": door, "/en/": paper("English")})
    assert "/en/" in asked
    assert await count(database, "friction_log") == 0


ODD_TARGETS = (
    "file:///etc/passwd",
    "data:text/html,<p>hello",
    "javascript:alert(1)",
    "gopher://one.test/1",
    "ftp://one.test/a",
    "ws://one.test/",
    "view-source:http://one.test/x",
    "blob:http://one.test/x",
    "about:blank",
    "http:///",
    "http://",
    "//",
    "",
)


async def test_only_the_web_is_followed(database: Database, tmp_path: Path) -> None:
    """N9: by header, by meta refresh, by link, by sitemap, and in robots.txt."""
    listed = [target.replace("<", "&lt;") for target in ODD_TARGETS]
    rooms: dict[str, Room] = {
        "/robots.txt": plain(200, "".join(f"Sitemap: {x}\n" for x in (*ODD_TARGETS, "/map.xml"))),
        "/map.xml": plain(
            200, f"<urlset>{''.join(f'<url><loc>{x}</loc></url>' for x in listed)}</urlset>"
        ),
        **{f"/header/{n}": redirect(target) for n, target in enumerate(ODD_TARGETS)},
        **{f"/meta/{n}": refresh_to(target) for n, target in enumerate(listed)},
    }
    links = [path for path in rooms if path.startswith(("/header", "/meta/"))]
    rooms["/"] = paper("home", *links, *ODD_TARGETS)
    asked, found = await crawl_one(database, tmp_path, rooms)
    assert set(asked) == set(rooms)
    assert {found[path] for path in links if path.startswith("/header")} == {"redirected"}
    assert await count(database, "pages", "url !~ '^https?://one[.]test/'") == 0


# Cookies and credentials (N7, S6) ----------------------------------------------------------------


async def test_cookies_are_neither_kept_nor_sent(database: Database, tmp_path: Path) -> None:
    """N7: whatever is set, and for whomever."""
    sent: list[str] = []
    jar = tuple(
        ("Set-Cookie", f"c{n}={'x' * 50}; Domain={domain}; Path=/")
        for n, domain in enumerate(["one.test", "www.one.test", ".test", "two.test", ""] * 10)
    )

    def room(request: Request) -> SimResponse:
        sent.extend(value for name, value in request.headers.items() if name == "cookie")
        return paper("jar", "/a", "/b", "http://www.one.test/", extra=jar)

    rooms: dict[str, Room] = {"/": room, "/a": room, "/b": room}
    hosts = {"one.test": rooms, "www.one.test": rooms, "two.test": rooms}
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, HOME)
        await admit(database, "http://two.test/")
        await crawl(web.settings(), database)
        assert len(web.requests()) >= 9
    assert sent == []


async def test_ten_thousand_cookies_are_refused() -> None:
    lines = [f"Set-Cookie: c{n}={'x' * 4_000}" for n in range(10_000)]
    fetched = await fetch_raw(framed(*lines, "Content-Length: 0", body=b""))
    assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, "protocol")


SECRET = "hunter2-s3cret"


async def tables_that_hold(database: Database, text: str) -> set[str]:
    """The tables in which some row shows a text."""
    tables = await database.fetch(
        """SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'messor'::regnamespace"""
    )
    holding = """SELECT EXISTS (SELECT FROM messor.{} t WHERE strpos(to_json(t)::text, $1) > 0)"""
    return {name for (name,) in tables if await database.fetchval(holding.format(name), text)}


async def test_credentials_in_addresses_are_dropped_at_once(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """S6: by link, redirect, refresh, sitemap and robots.txt; here, next door and out."""
    login = f"user:{SECRET}@"
    sent: list[dict[str, str]] = []

    def noting(answer: SimResponse) -> Room:
        def room(request: Request) -> SimResponse:
            sent.append(dict(request.headers))
            return answer

        return room

    here: dict[str, Room] = {
        "/robots.txt": noting(plain(200, f"Sitemap: http://{login}one.test/map.xml\n")),
        "/map.xml": noting(
            plain(200, f"<urlset><url><loc>http://{login}one.test/listed</loc></url></urlset>")
        ),
        "/": noting(
            paper("home", f"http://{login}one.test/a", "/go", "/out", "/meta", "/unauthorised")
        ),
        "/a": noting(paper("a")),
        "/listed": noting(paper("listed")),
        "/go": noting(redirect(f"http://{login}www.one.test/b")),
        "/out": noting(redirect(f"http://{login}two.test/")),
        "/meta": noting(refresh_to(f"http://{login}one.test/c")),
        "/c": noting(paper("c")),
        "/unauthorised": noting(plain(401, "who?", ("WWW-Authenticate", "Basic realm=x"))),
    }
    there: dict[str, Room] = {"/b": noting(paper("b"))}
    async with LittleWeb(tmp_path, {"one.test": here, "www.one.test": there}) as web:
        await admit(database, HOME)
        await crawl(web.settings(), database)
        asked = set(web.paths("one.test")) | set(web.paths("www.one.test"))
        assert {"/a", "/b", "/c", "/listed"} <= asked
    assert not [headers for headers in sent if "authorization" in headers]
    assert SECRET not in caplog.text
    # What a page says is kept as it is; nothing else holds it.
    assert await tables_that_hold(database, SECRET) == {"snapshot_texts"}


# Addresses (S2, S3, S5) --------------------------------------------------------------------------


class Rebinding(AbstractResolver):
    """A name server that tells a public address and an inner one by turns, or both."""

    def __init__(self, *turns: tuple[str, ...]) -> None:
        self._turns = itertools.cycle(turns)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in next(self._turns)
        ]

    async def close(self) -> None:
        """Nothing is open."""


class NotReally(AddressGuard):
    """A guard that lets no socket out which it would have let through: tests stay at home."""

    def __init__(self, allowed: AllowedNetworks) -> None:
        super().__init__(allowed)
        self.passed: list[str] = []

    def socket_factory(self, info: AddrInfo) -> socket.socket:
        super().socket_factory(info).close()
        self.passed.append(str(info[4][0]))
        raise ConnectionRefusedError


TURNS = {
    "by turns": (("93.184.216.34",), ("127.0.0.1",)),
    "inner-first": (("127.0.0.1",), ("93.184.216.34",)),
    "both": (("93.184.216.34", "127.0.0.1"),),
    "both-kinds": (("93.184.216.34", "::1"), ("2606:2800:220:1::1", "127.0.0.1")),
    "in disguise": (("93.184.216.34",), ("::ffff:127.0.0.1",), ("64:ff9b::7f00:1",)),
}


@pytest.mark.parametrize("turns", TURNS.values(), ids=TURNS)
async def test_a_name_that_changes_its_mind_never_leads_inside(
    turns: tuple[tuple[str, ...], ...],
) -> None:
    """S2: two hundred tries each, a thousand in all; every connection goes where was checked."""
    inside = 0

    async def count_visitor(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal inside
        inside += 1
        writer.close()

    server = await asyncio.start_server(count_visitor, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    guard = NotReally(AllowedNetworks(ports=[port]))
    fetcher = HttpFetcher(Settings(), "1")
    await fetcher._connector.close()
    fetcher.guard = guard
    fetcher._connector = make_connector(guard)
    fetcher._connector._resolver._dns = Rebinding(*turns)  # type: ignore[attr-defined]
    fetcher._client.connector = fetcher._connector
    said = set()
    try:
        for _ in range(200):
            fetcher._connector.clear_dns_cache()
            fetched = await fetcher.fetch(f"http://rebind.example.org:{port}/", permit())
            said.add(fetched.error_type)
    finally:
        await fetcher.close()
        server.close()
        await server.wait_closed()
    assert inside == 0
    assert "refused_address" in said
    assert not {place for place in guard.passed if place.startswith(("127.", "::"))}


INNER = (
    "http://127.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/",
    "http://localhost/",
    "http://2130706433/",
    "http://one.test:22/",
    "http://inner.one.test:6379/",
)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The places that the guard made sockets for."""
    places: list[tuple[str, int]] = []
    factory = AddressGuard.socket_factory

    def noting(guard: AddressGuard, info: AddrInfo) -> socket.socket:
        opened = factory(guard, info)
        places.append((str(info[4][0]), int(info[4][1])))
        return opened

    monkeypatch.setattr(AddressGuard, "socket_factory", noting)
    return places


def street(web: LittleWeb) -> set[tuple[str, int]]:
    return {(place.rpartition(":")[0], web.server.port) for place in web.server.names().values()}


def narrow(web: LittleWeb) -> Settings:
    """Settings that open this web's own addresses and no other of loopback."""
    settings = web.settings()
    opened = [place.rpartition(":")[0] for place in web.server.names().values()]
    allowed = settings.allowed_networks.model_copy(update={"addresses": opened})
    return settings.model_copy(update={"allowed_networks": allowed})


def leading_inside(hop: int, to: Callable[[str], SimResponse]) -> dict[str, Room]:
    """Chains that lead to each inner place after so many hops."""
    rooms: dict[str, Room] = {}
    for number, target in enumerate(INNER):
        for step in range(1, hop):
            rooms[f"/h{hop}/{number}/{step}"] = to(f"/h{hop}/{number}/{step + 1}")
        rooms[f"/h{hop}/{number}/{hop}"] = to(target)
    return rooms


@pytest.mark.parametrize("kind", ["redirect", "refresh", "sitemap"])
async def test_no_redirect_leads_inside(
    database: Database, tmp_path: Path, kind: str, made: list[tuple[str, int]]
) -> None:
    """S3: at whichever of five hops; the guard sees every socket that is made."""
    to = refresh_to if kind == "refresh" else redirect
    rooms: dict[str, Room] = {}
    for hop in range(1, 6):
        rooms |= leading_inside(hop, to)
    doors = [path for path in rooms if path.endswith("/1")]
    rooms["/"] = paper("home", *(doors if kind != "sitemap" else ()))
    if kind == "sitemap":
        rooms["/robots.txt"] = plain(200, "".join(f"Sitemap: {path}\n" for path in doors))
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME, page_budget=1_000)
        await crawl(narrow(web), database)
        assert set(web.paths("one.test")) >= set(rooms)
        assert set(made) <= street(web)


async def test_no_robots_lead_inside(
    database: Database,
    tmp_path: Path,
    made: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S3 for robots.txt, which may lie beyond the domain; without them nothing is asked."""
    monkeypatch.setattr("messor.crawl.robots.WAIT_SECONDS", 0.05)
    hosts: dict[str, dict[str, Room]] = {}
    for hop, number in itertools.product((1, 2, 5), range(len(INNER))):
        rooms = leading_inside(
            hop, lambda place: redirect(place + "robots.txt" * place.endswith("/"))
        )
        rooms["/robots.txt"] = rooms[f"/h{hop}/{number}/1"]
        hosts[f"r{hop}-{number}.test"] = {"/": paper("home"), **rooms}
    async with LittleWeb(tmp_path, hosts) as web:
        for host in hosts:
            await admit(database, f"http://{host}/")
        wanted = sum(int(host[1]) for host in hosts)
        async with at_work(narrow(web), database):
            await until(lambda: len(web.requests()) >= wanted)
            await holds(database, "http_fetches", "outcome = 'refused_address'")
        assert not [asked for asked in web.requests() if asked.path == "/"]
        assert set(made) <= street(web)


async def test_nobody_is_asked_where_a_refused_place_lies(
    database: Database, tmp_path: Path, unknown_names: list[str]
) -> None:
    link = "http://secret-word.one.test:22/"
    async with LittleWeb(tmp_path, {"one.test": {"/": paper("home", link)}}) as web:
        await admit(database, HOME)
        await crawl(web.settings(), database)
    assert unknown_names == []


@pytest.mark.parametrize("port", [22, 25, 5432, 6379])
async def test_other_ports_of_the_domain_are_not_asked(
    database: Database, tmp_path: Path, port: int
) -> None:
    """S5: even though the link stays within the domain."""
    link = f"http://one.test:{port}/"
    async with LittleWeb(tmp_path, {"one.test": {"/": paper("home", link)}}) as web:
        await admit(database, HOME)
        await crawl(web.settings(), database)
        assert {asked.host for asked in web.requests()} == {"one.test"}
    row = await database.fetchrow(
        """SELECT f.outcome, f.error_json ->> 'message' AS said FROM messor.http_fetches f
             JOIN messor.pages p ON p.id = f.page_id WHERE p.url = $1""",
        f"{link}robots.txt",
    )
    assert row is not None
    assert row["outcome"] == "refused_address"
    assert f"port {port}" in row["said"]


# Encodings (N11) ---------------------------------------------------------------------------------

LONE = "\\ud800 and \\udfff"
ODD_BODIES = {
    "utf-16-without-bom": raw("<title>héllo</title><p>wörld</p>".encode("utf-16-le"), "text/html"),
    "utf-16-announced": raw("<p>wörld</p>".encode("utf-16-be"), "text/html; charset=utf-16be"),
    "utf-32": raw("<p>wörld</p>".encode("utf-32"), "text/html; charset=utf-32"),
    "unknown-charset": raw("<p>wörld</p>", "text/html; charset=klingon"),
    "charset-of-meta-lies": raw("<meta charset=utf-16><p>wörld</p>", "text/html"),
    "nul-everywhere": raw("\0<ti\0tle>a\0b</title>\0<p\0>c\0d</p>\0<a hr\0ef='/\0x'>e</a>"),
    "lone-surrogates": raw(
        "<title>&#xD800; &#xDFFF;</title><meta name=description content='&#xDC00;'>"
        f'<script type="application/ld+json">{{"name": "{LONE}", "\\u0000": 1}}</script>'
        "<a href='/&#xD800;'>x</a><p>text &#0; text</p>"
    ),
    "surrogates-in-utf-8": raw(b"<title>\xed\xa0\x80</title><p>\xed\xbf\xbf text\xc0\x80</p>"),
    "noise": raw(bytes(range(256)) * 20),
    "deep-json": raw(
        f'<script type="application/ld+json">{"[" * 5_000}{"]" * 5_000}</script><p>text</p>'
    ),
    "odd-numbers": raw(
        '<script type="application/ld+json">{"a": 1e999, "b": NaN, "c": 123456789012345678901234567890}'
        "</script><p>text</p>"
    ),
}


async def test_odd_letters_cost_no_page(database: Database, tmp_path: Path) -> None:
    """N11: no exception, nothing that PostgreSQL refuses."""
    flaws = {flaw.host: flaw for flaw in content.flaws(7)}
    hosts: dict[str, dict[str, Room]] = {
        host: {} for host in ("wrong-charset.test", "nul-bytes.test")
    }
    hosts["one.test"] = {f"/{name}": answer for name, answer in ODD_BODIES.items()}
    hosts["one.test"]["/"] = paper("home", *(f"/{name}" for name in ODD_BODIES))
    async with LittleWeb(tmp_path, hosts) as web:
        for host in ("wrong-charset.test", "nul-bytes.test"):
            setattr(web.houses[host], "respond", flaws[host].handler)  # noqa: B010 - by type it is a method
        for host in hosts:
            await admit(database, f"http://{host}/")
        await crawl(web.settings(), database)
        for name in ODD_BODIES:
            assert f"/{name}" in web.paths("one.test")
    assert await count(database, "error_logs") == 0
    found = await outcomes(database)
    pages = {url: said for url, said in found.items() if not url.endswith("robots.txt")}
    wrong = {url: said for url, said in pages.items() if said not in ("ok", "not_found", "empty")}
    assert not {url for url in wrong if wrong[url] != "blocked"}, wrong
    title = await database.fetchval(
        """SELECT s.title FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id
            WHERE p.url LIKE '%announced'"""
    )
    assert title is None


# Too much of it (N2, N15) ------------------------------------------------------------------------


def flood() -> Iterator[bytes]:
    return itertools.repeat(b"<p>and another thing</p>" * 1000)


async def test_a_flood_is_cut_off_and_the_rest_goes_on(database: Database, tmp_path: Path) -> None:
    """N2: an endless page, and one that is announced too large, among sound ones."""
    rooms: dict[str, Room] = {
        "/": paper("home", "/endless", "/huge", "/a"),
        "/endless": SimResponse(200, _HTML, stream=Stream(flood)),
        "/huge": SimResponse(200, _HTML, b"<p>", claimed_length=2_000_000_000, ending=Ending.CLOSE),
        "/a": paper("a"),
    }
    _, found = await crawl_one(database, tmp_path, rooms, max_body_bytes=1_000_000)
    assert (found["/endless"], found["/huge"], found["/a"]) == ("too_large", "too_large", "ok")
    assert await count(database, "page_snapshots") == 2


async def test_addresses_and_links_out_of_measure_are_counted_not_followed(
    database: Database, tmp_path: Path
) -> None:
    """N15: no URL over 2,083 characters, no more than 10,000 links of a page."""
    long = "/" + "x" * 1_000_000
    links = "".join(f'<a href="/{n}">' for n in range(12_000))
    rooms: dict[str, Room] = {
        "/": paper("home", "/many", "/long", "/near", "/far", "/moved"),
        "/many": raw(f"<p>Many links</p>{links}"),
        "/long": raw(f'<p>A long link</p><a href="{long}">x</a><a href="/fine">y</a>'),
        "/near": raw(f'<p>Near</p><a href="/{"n" * 2_050}">x</a>'),
        "/far": raw(f'<p>Far</p><a href="/{"f" * 2_100}">x</a>'),
        "/moved": raw(f'<p>Moved</p><meta http-equiv="refresh" content="0; url={long}">'),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME, page_budget=50_000)
        async with at_work(web.settings(visit_pages=7), database):
            await until(
                lambda: {"/many", "/long", "/near", "/far", "/moved"} <= set(web.paths("one.test"))
            )
            await until(lambda: "/fine" in web.paths("one.test") or len(web.requests()) > 30)
    longest = await database.fetchval("SELECT max(length(url)) FROM messor.pages")
    assert longest <= 2_083
    found = await database.fetchval(
        """SELECT count(*) FROM messor.pages p JOIN messor.pages o ON o.id = p.found_on
            WHERE o.url LIKE '%/many'"""
    )
    assert 9_000 < found <= 10_000
    assert await count(database, "pages", "url LIKE '%nnnn'") == 1
    assert (await refused(database))["trap"] >= 1


def test_the_worst_json_in_these_tests_is_as_bad_as_it_says() -> None:
    """The lone surrogates survive JSON, so that the page's reader meets them."""
    assert json.loads(f'"{LONE}"') == "\ud800 and \udfff"
