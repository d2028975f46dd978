"""Every misbehaving host misbehaves as it is named, seen through a real socket."""

import asyncio
import gzip
import zlib
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import pytest

from simweb import World
from tests.crawling import until

from .conftest import PATIENCE_S, Client, Serving, head, read_head


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.25

    def __call__(self) -> float:
        return self.now


async def follow(client: Client, host: str, path: str, hops: int) -> list[int]:
    statuses = []
    for _ in range(hops):
        reply = await client.get(host, path)
        statuses.append(reply.status)
        target = reply.headers.get("location", path)
        path = target if target.startswith("/") else f"/{target}"
    return statuses


async def raw(client: Client, host: str, path: str = "/flawed") -> tuple[dict[str, str], bytes]:
    """Headers, and whatever else comes until the server ends the connection."""
    reader, writer = await client.connect(host)
    writer.write(head(host, path, accept_encoding="gzip"))
    reply = await read_head(reader)
    body = await asyncio.wait_for(reader.read(), PATIENCE_S)
    writer.close()
    return reply.headers, body


async def test_redirects(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        chain = await follow(client, "redirect-chain.test", "/old", 6)
        sibling = await client.get("redirect-to-www.test", "/inside")
        elsewhere = await client.get("redirect-elsewhere.test", "/go")
        loop = await follow(client, "redirect-loop.test", "/left", 12)
        deeper = await follow(client, "redirect-loop.test", "/deeper/1", 12)
        target = await client.get("www.redirect-to-www.test", "/inside")
    assert chain == [308, 301, 302, 307, 303, 200]
    assert sibling.headers["location"] == "http://www.redirect-to-www.test/inside"
    assert target.status == 200
    assert elsewhere.headers["location"] == "http://town-links.test/"
    assert set(loop) == set(deeper) == {302}


async def test_refusals(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        forbidden = await client.get("forbidden.test")
        challenge = await client.get("challenge.test")
        shell = await client.get("single-page.test", "/any/where")
        empty = await client.get("empty-page.test", "/empty")
        soft = await client.get("soft-404.test", "/lost")
        robots = await client.get("forbidden.test", "/robots.txt")
    assert (forbidden.status, robots.status) == (403, 200)
    assert challenge.status == 403
    assert b"cf-browser-verification" in challenge.body
    assert b"cf-chl-" in challenge.body
    assert b'<div id="root"></div>' in shell.body
    assert (empty.status, empty.body) == (200, b"")
    assert soft.status == 200
    assert b"not found" in soft.body


async def test_too_many_requests_then_open_again(serving: Serving) -> None:
    clock = Clock()
    async with serving(World("demo", now=clock)) as client:
        replies = [await client.get("too-many-requests.test") for _ in range(7)]
        clock.now += 3.1
        later = await client.get("too-many-requests.test")
    assert [reply.status for reply in replies] == [200] * 5 + [429] * 2
    assert replies[5].headers["retry-after"] == "3"
    assert later.status == 200


async def test_unavailable_until_a_date(serving: Serving) -> None:
    clock = Clock()
    async with serving(World("demo", now=clock)) as client:
        first = await client.get("unavailable.test")
        until = parsedate_to_datetime(first.headers["retry-after"])
        clock.now = until.timestamp()
        later = await client.get("unavailable.test")
    assert (first.status, later.status) == (503, 200)
    assert until > datetime.fromtimestamp(1_800_000_000, UTC)


async def test_traps_have_no_end(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        month = await client.get("calendar-trap.test", "/calendar/2026/12")
        far = await client.get("calendar-trap.test", "/calendar/2931/1")
        door = await client.get("session-trap.test")
        room = await client.get("session-trap.test", door.headers["location"])
        same = await client.get("session-trap.test", "/room/0?sid=1234")
    assert b'"/calendar/2027/1"' in month.body
    assert b'"/calendar/2026/11"' in month.body
    assert far.status == 200
    assert room.status == same.status == 200
    assert room.body != same.body, "the links differ"
    assert room.body.partition(b"<li>")[0] == same.body.partition(b"<li>")[0], "the text does not"


async def test_stall_takes_the_request_and_never_answers(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        reader, writer = await client.connect("stall.test")
        writer.write(head("stall.test", "/flawed"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.2)
        writer.close()
        await writer.wait_closed()
        await until(client.requests)  # it is noted when the connection ends
        (stalled,) = client.requests()
    assert (stalled.status, stalled.answered_ns, stalled.body_bytes) == (0, 0, 0)


async def test_slow_drip_sends_a_byte_at_a_time(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        reader, writer = await client.connect("slow-drip.test")
        writer.write(head("slow-drip.test", "/flawed"))
        reply = await read_head(reader)
        drops = [await asyncio.wait_for(reader.read(100), PATIENCE_S) for _ in range(2)]
        writer.close()
    assert int(reply.headers["content-length"]) > 1_000
    assert [len(drop) for drop in drops] == [1, 1]


async def test_false_lengths(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        headers, body = await raw(client, "long-length.test")
        short = await client.get("short-length.test", "/flawed")
    assert int(headers["content-length"]) == 2 * len(body)
    assert not short.body.endswith(b"</html>\n"), "the length cuts the page"


async def test_reset_half_way(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        reader, writer = await client.connect("reset.test")
        writer.write(head("reset.test", "/flawed"))
        reply = await read_head(reader)
        with pytest.raises(ConnectionResetError):
            await asyncio.wait_for(
                reader.readexactly(int(reply.headers["content-length"])), PATIENCE_S
            )
        writer.close()


async def test_gzip_bomb_and_endless_body_flow_lazily(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        for host in ("gzip-bomb.test", "endless.test"):
            reader, writer = await client.connect(host)
            writer.write(head(host, "/flawed", accept_encoding="gzip"))
            reply = await read_head(reader)
            assert reply.headers["transfer-encoding"] == "chunked"
            unpacker = zlib.decompressobj(wbits=31)
            plain = 0
            for _ in range(12):
                size = int((await reader.readline()).strip(), 16)
                chunk = await reader.readexactly(size + 2)
                plain += len(unpacker.decompress(chunk[:-2])) if "bomb" in host else size
            assert plain > (10_000_000 if "bomb" in host else 10_000)
            writer.transport.abort()


async def test_huge_headers(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        reader, writer = await client.connect("huge-headers.test")
        writer.write(head("huge-headers.test", "/flawed", connection="close"))
        received = await asyncio.wait_for(reader.read(), PATIENCE_S)
        writer.close()
    assert received.index(b"\r\n\r\n") > 200_000


async def test_odd_bodies(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        latin = await client.get("wrong-charset.test", "/latin")
        undeclared = await client.get("wrong-charset.test", "/undeclared")
        holes = await client.get("nul-bytes.test", "/holes")
        report = await client.get("files.test", "/report.pdf")
        disguised = await client.get("files.test", "/disguised")
        photo = await client.get("files.test", "/photo.png")
    assert "utf-8" in latin.headers["content-type"]
    with pytest.raises(UnicodeDecodeError):
        latin.body.decode("utf-8")
    assert undeclared.headers["content-type"] == "text/html"
    assert b"shift_jis" in undeclared.body
    assert b"\0" in holes.body
    assert report.body.startswith(b"%PDF-")
    assert report.body == disguised.body
    assert photo.body.startswith(b"\x89PNG")


async def test_directives(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        home = await client.get("noindex.test")
        noindex = await client.get("noindex.test", "/meta-noindex")
        by_header = await client.get("noindex.test", "/header-noindex")
    assert b'rel="nofollow"' in home.body
    assert b'content="noindex"' in noindex.body
    assert by_header.headers["x-robots-tag"] == "noindex, nofollow"


async def test_odd_robots_files(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        found = {
            kind: await client.get(f"robots-{kind}.test", "/robots.txt")
            for kind in ("500", "missing", "html", "redirect")
        }
        rules = await client.get("robots-redirect.test", found["redirect"].headers["location"])
        page = await client.get("robots-500.test", "/one")
    assert [reply.status for reply in found.values()] == [500, 404, 200, 301]
    assert found["html"].headers["content-type"].startswith("text/html")
    assert rules.body == b"User-agent: *\nDisallow: /three\n"
    assert page.status == 200


async def test_closing_and_jittery(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        headers, body = await raw(client, "closing.test", "/one")
        await client.get("jittery.test", "/one")
        await client.get("jittery.test", "/two")
        waits = [r.answered_ns - r.arrived_ns for r in client.requests() if "jit" in r.host]
    assert headers["connection"] == "close"
    assert len(body) == int(headers["content-length"])
    assert max(waits) > 5_000_000


async def test_sitemaps_come_in_three_forms(serving: Serving) -> None:
    async with serving(World("demo")) as client:
        plain = await client.get("harbour-dermatology.test", "/sitemap.xml")
        index = await client.get("riverside-clinic.test", "/sitemap.xml")
        packed = await client.get("www.northgate-outfitters.test", "/sitemap.xml.gz")
        robots = await client.get("harbour-dermatology.test", "/robots.txt")
    assert b"<urlset" in plain.body
    assert b"/private/" not in plain.body
    assert b"<sitemapindex" in index.body
    assert "content-encoding" not in packed.headers
    assert b"<urlset" in gzip.decompress(packed.body)
    assert b"Crawl-delay: 1" in robots.body
    assert b"Disallow: /private/" in robots.body
