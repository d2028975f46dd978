"""The overview, its stream, and how much every page asks of the database."""

from __future__ import annotations

import asyncio
from urllib.parse import quote, urlencode

import aiohttp

from messor.access.roles import Role
from messor.ledger.events import Event, record
from messor.store.database import Database
from tests.console import seeding
from tests.console.conftest import Enter, Visitor
from tests.crawling import admit

MOST_QUERIES = 12


async def test_figures(admin: Visitor, database: Database) -> None:
    domain = await admit(database, "shop.example")
    for number in range(4):
        await seeding.add_page(database, domain, f"https://shop.example/{number}")
    await seeding.add_page(
        database, domain, "https://shop.example/x", outcome="blocked", status=403
    )
    await database.fetch("UPDATE messor.hosts SET risk_score = 70, risk_at = messor.clock()")
    await database.fetch(
        """INSERT INTO messor.schedules (name, next_run_at)
           VALUES ('O-DAILY', messor.clock() + interval '2 hours')"""
    )
    page = await admin.get("/")
    for words in ("5 requests in the last hour", "No worker is running", "shop.example", "domain approved",
                  "70 high", "O-DAILY", "in 1 hour", "blocked 1"):  # fmt: skip
        assert words in " ".join(page.said.split()), words


async def test_an_empty_overview_says_how_to_begin(admin: Visitor) -> None:
    page = await admin.get("/")
    assert "Nothing was fetched in the last hour" in page.said
    assert 'href="/submit"' in page.text


async def test_what_is_for_the_audit_is_not_everybodys_to_read(
    console: str, enter: Enter, database: Database
) -> None:
    viewer = await enter(console, Role.VIEWER)
    kinds = ("session.opened", "login.failed", "member.created", "key.created", "link.made",
             "proxy.added", "webhook.added", "person.erased", "secrets.rotated")  # fmt: skip
    async with database.transaction() as connection:
        told = [Event(kind, "x", data={"url": "https://hidden.example/"}) for kind in kinds]
        await record(connection, [*told, Event("domain.noted", "x", data={})])
    page = await viewer.get("/")
    assert "domain noted" in page.said
    assert "hidden.example" not in page.said
    assert [kind for kind in kinds if kind.replace(".", " ") in page.said] == []


async def read_until(stream: aiohttp.StreamReader, words: str) -> str:
    seen = ""
    async with asyncio.timeout(60):
        while words not in seen:
            chunk = await stream.readany()
            assert chunk, f"the stream ended before {words!r}"
            seen += chunk.decode()
    return seen


async def test_an_event_reaches_an_open_page(admin: Visitor, database: Database) -> None:
    async with admin.session.get(f"{admin.base}/live") as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        await read_until(answer.content, "event: overview")
        await seeding.ask_for(database, "brand-new.org")
        seen = await read_until(answer.content, "brand-new.org")
    assert all(line.startswith(("event:", "data:")) or not line for line in seen.split("\n")[1:-1])


async def test_the_stream_ends_with_the_session(admin: Visitor) -> None:
    async with admin.session.get(f"{admin.base}/live") as answer:
        await read_until(answer.content, "event: overview")
        await admin.send("/", "/logout")
        async with asyncio.timeout(60):
            while await answer.content.readany():
                pass


async def test_many_streams_ask_once(admin: Visitor, database: Database) -> None:
    """What several pages show at a time is fetched for all of them."""
    async with asyncio.timeout(60):
        await asyncio.gather(*(admin.get("/") for _ in range(4)))
        trips = []
        for _ in range(5):
            before = database.round_trips
            await admin.get("/")
            trips.append(database.round_trips - before)
    assert min(trips) <= 5  # on a busy machine what is kept may grow old in between


async def test_no_page_asks_much_of_the_database(
    admin: Visitor, database: Database, filled: list[str]
) -> None:
    for path in filled:
        before = database.round_trips
        assert (await admin.get(path)).status == 200, path
        assert database.round_trips - before <= MOST_QUERIES, path


HOSTILE = (
    "",
    "\x00",
    "'",
    '"><x>',
    "-1",
    "1e9",
    "9" * 40,
    "\udcff",
    "a" * 2000,
    "%",
    "..",
    "\\",
    "null",
)


async def test_fuzzed_addresses_never_break(admin: Visitor, filled: list[str]) -> None:
    names = ("q", "at", "after", "before", "view", "order", "page", "submitter", "outcome", "kept",
             "as", "in", "older", "newer", "url", "next", "then", "trusted")  # fmt: skip
    for path in filled:
        bare = path.partition("?")[0]
        for value in HOSTILE:
            query = urlencode(dict.fromkeys(names, value), errors="surrogateescape")
            status = (await admin.get(f"{bare}?{query}")).status
            assert status < 500, f"{bare} {value!r}"
    for value in HOSTILE[1:]:
        name = quote(value, safe="", errors="surrogateescape")
        for path in (f"/domains/{name}", f"/review/{name}", f"/pages/{name}", f"/link/{name}"):
            assert (await admin.get(path)).status < 500, path
