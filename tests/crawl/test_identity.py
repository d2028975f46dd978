"""Every request of a crawl is signed, hop by hop, and two verifiers accept each signature."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import (
    HTTPMessageSignaturesException,
    HTTPMessageVerifier,
    MappingKeyResolver,
    algorithms,
)

from messor.fetch.identity import keys
from messor.fetch.identity.message_signatures import (
    BadSignatureError,
    HttpMessage,
    inputs_of,
    verify,
)
from messor.fetch.proxies.seal import seal_for
from messor.store.database import Database
from simweb.answers import Request, SimResponse, plain, redirect
from tests.crawling import admit, crawl, outcomes
from tests.little_web import LittleWeb, Room, page

BOT = "https://bot.example"
SIGNED_BY = (
    "SELECT count(*) FILTER (WHERE signed_by IS NOT NULL), count(*) FROM messor.http_fetches"
)


@dataclass
class Watched:
    """Answers as told, and keeps what was asked."""

    asked: list[Request] = field(default_factory=list)

    def __call__(self, answer: Room) -> Callable[[Request], SimResponse]:
        def respond(request: Request) -> SimResponse:
            self.asked.append(request)
            return answer if isinstance(answer, SimResponse) else answer(request)

        return respond


async def public_keys(database: Database) -> dict[str, bytes]:
    return {key.thumbprint: key.public for key in await keys.published(database)}


def message_of(request: Request) -> HttpMessage:
    return HttpMessage(f"http://{request.host}{request.path}", request.headers)


def independent(request: Request, public: dict[str, bytes], host: str | None = None) -> None:
    """The library's verdict on a request; raises where it does not accept it."""
    known = {name: Ed25519PublicKey.from_public_bytes(each) for name, each in public.items()}
    verifier = HTTPMessageVerifier(
        signature_algorithm=algorithms.ED25519,
        key_resolver=MappingKeyResolver(public_keys=known, private_keys={}),
    )
    url = f"http://{host or request.host}{request.path}"
    message = SimpleNamespace(method="GET", url=url, headers=dict(request.headers))
    verifier.verify(message, expect_tag="web-bot-auth")


async def test_every_request_is_signed_and_accepted(database: Database, tmp_path: Path) -> None:
    seen = Watched()
    rooms = {
        "/robots.txt": seen(plain(200, "User-agent: *\nSitemap: http://one.test/map.xml\n")),
        "/map.xml": seen(plain(404, "")),
        "/sitemap.xml": seen(plain(404, "")),
        "/": seen(page("Home", "/a", "/away")),
        "/a": seen(page("A")),
        "/away": seen(redirect("http://www.one.test/b")),
    }
    other = {
        "/robots.txt": seen(plain(200, "")),
        "/sitemap.xml": seen(plain(404, "")),
        "/b": seen(page("B")),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms, "www.one.test": other}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(identity_url=BOT), database)
    public = await public_keys(database)
    assert len(seen.asked) >= 7
    assert {asked.host for asked in seen.asked} == {"one.test", "www.one.test"}
    now = int(time.time())
    for asked in seen.asked:
        assert asked.headers["signature-agent"] == f'sig1="{BOT}"'
        verify(message_of(asked), public, tag="web-bot-auth", now=now)
        independent(asked, public)
        other_place = HttpMessage("http://thief.test/", asked.headers)
        with pytest.raises(BadSignatureError, match="does not fit"):
            verify(other_place, public, tag="web-bot-auth", now=now)
        with pytest.raises(HTTPMessageSignaturesException):
            independent(asked, public, "thief.test")
    signed, every = await database.fetchrow(SIGNED_BY) or (0, 0)
    assert signed == every == len(seen.asked)


async def test_an_expired_or_altered_signature_is_accepted_by_neither(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Watched()
    rooms: dict[str, Room] = {"/": seen(page("Home"))}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(identity_url=BOT), database)
    (asked,) = seen.asked
    public = await public_keys(database)
    independent(asked, public)
    (covered,) = inputs_of(asked.headers["signature-input"]).values()
    later = int(covered.params["expires"]) + 1
    with pytest.raises(BadSignatureError, match="expired"):
        verify(message_of(asked), public, tag="web-bot-auth", now=later)
    agent = {**asked.headers, "signature-agent": 'sig1="https://thief.example"'}
    altered = Request(asked.host, asked.path, agent)
    with pytest.raises(BadSignatureError):
        verify(message_of(altered), public, tag="web-bot-auth", now=int(time.time()))
    with pytest.raises(HTTPMessageSignaturesException):
        independent(altered, public)


async def test_without_a_public_address_nothing_is_signed(
    database: Database, tmp_path: Path
) -> None:
    seen = Watched()
    async with LittleWeb(tmp_path, {"one.test": {"/": seen(page("Home"))}}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
    assert [name for asked in seen.asked for name in asked.headers if "signature" in name] == []
    signed, _ = await database.fetchrow(SIGNED_BY) or (1, 0)
    assert signed == 0


@pytest.mark.parametrize("status", [403, 429])
async def test_a_challenge_is_answered_within_pace(
    database: Database, tmp_path: Path, status: int
) -> None:
    """The refused request is logged as well; robots.txt is challenged like any page."""
    times: list[float] = []
    asks = (("Accept-Signature", 'mine=("@authority" "@path");nonce="abc";tag="web-bot-auth"'),)

    def guarded(request: Request) -> SimResponse:
        times.append(time.monotonic())
        if "abc" not in request.headers.get("signature-input", ""):
            return SimResponse(status, (*asks, ("Retry-After", "1")), b"sign, please")
        return page("Home")

    seen = Watched()
    async with LittleWeb(tmp_path, {"one.test": {"/": seen(guarded)}}) as web:
        await admit(database, "http://one.test/", delay=0.3)
        await crawl(web.settings(identity_url=BOT), database)
    assert (await outcomes(database))["http://one.test/"] == "ok"
    _, second = seen.asked
    independent(second, await public_keys(database))
    assert 'mine="https://bot.example"' in second.headers["signature-agent"]
    assert times[1] - times[0] >= (1.0 if status == 429 else 0.3)
    rows = await database.fetch(
        """SELECT f.status_code FROM messor.http_fetches f JOIN messor.pages p ON p.id = f.page_id
            WHERE p.url = 'http://one.test/' ORDER BY f.fetched_at"""
    )
    assert [row["status_code"] for row in rows] == [status, 200]


async def test_a_challenge_that_stays_is_answered_once(database: Database, tmp_path: Path) -> None:
    asks = (("Accept-Signature", 'mine=("@authority");tag="web-bot-auth"'),)
    seen = Watched()
    async with LittleWeb(
        tmp_path, {"one.test": {"/": seen(SimResponse(403, asks, b"never"))}}
    ) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(identity_url=BOT), database)
    assert len(seen.asked) == 2
    assert (await outcomes(database))["http://one.test/"] == "blocked"


async def test_a_key_that_cannot_be_opened_stops_nothing(
    database: Database, tmp_path: Path
) -> None:
    seen = Watched()
    async with LittleWeb(tmp_path, {"one.test": {"/": seen(page("Home"))}}) as web:
        settings = web.settings(identity_url=BOT)
        await keys.ensure(database, seal_for(settings))
        async with database.transaction() as connection:
            await connection.execute("UPDATE messor.identity_keys SET sealed_key = '\\x01'")
        await admit(database, "http://one.test/")
        await crawl(settings, database)
    assert (await outcomes(database))["http://one.test/"] == "ok"
    assert "signature" not in seen.asked[0].headers
