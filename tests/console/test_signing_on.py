"""Two-factor login and single sign-on as a browser meets them; the provider is another project's server."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
import pytest_asyncio

from messor.access.roles import Role
from messor.settings import Settings
from messor.store.database import Database
from tests.codes import code_of, stop_steps
from tests.console.conftest import PASSWORD, Answer, Enter, Serve, Visitor
from tests.console.test_login import Joined
from tests.listening import listen

PEOPLE: tuple[dict[str, object], ...] = (
    {"sub": "ada", "email": "ada@example.org", "email_verified": True, "name": "Ada L."},
    {"sub": "eve", "email": "reviewer@example.org", "email_verified": False},
    {"sub": "new", "email": "new@example.org", "email_verified": True, "name": "New"},
)


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """The provider in a process of its own: warnings of its libraries are not ours."""
    with closing(listen()) as free:
        port: int = free.getsockname()[1]
    people = [word for one in PEOPLE for word in ("--user-claims", json.dumps(one))]
    words = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *people]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _await_server(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _await_server(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the provider did not start")


@pytest_asyncio.fixture(loop_scope="session")
async def outside() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def sign_on(tmp_path: Path, issuer: str, **values: object) -> Settings:
    given = {"oidc_issuer": issuer, "oidc_client_id": "messor", "oidc_client_secret": "hush"}
    return Settings.model_validate({"data_dir": tmp_path, **given, **values})


async def at_the_provider(outside: aiohttp.ClientSession, place: str, who: str) -> str:
    """Somebody logs in at the provider; where it sends them afterwards, without the host."""
    async with outside.post(place, data={"sub": who}, allow_redirects=False) as response:
        back = urlsplit(response.headers["Location"])
    return f"{back.path}?{back.query}"


async def log_in(visitor: Visitor, outside: aiohttp.ClientSession, who: str) -> Answer:
    left = await visitor.get("/login/oidc?next=/domains")
    assert left.status == 303, left.said
    return await visitor.get(await at_the_provider(outside, left.place, who))


async def test_a_member_comes_in_by_the_provider_and_stays_linked(
    serve: Serve,
    enter: Enter,
    joined: Joined,
    tmp_path: Path,
    issuer: str,
    outside: aiohttp.ClientSession,
    database: Database,
) -> None:
    base = await serve(sign_on(tmp_path, issuer, two_factor="required"))
    await joined(Role.REVIEWER, "ada@example.org")
    visitor = await enter(base)
    assert "Log in with single sign-on" in (await visitor.get("/login")).said
    entered = await log_in(visitor, outside, "ada")
    assert (entered.status, entered.place) == (303, "/domains")
    assert (await visitor.get("/domains")).status == 200  # the provider sees to the second factor
    await database.fetch("UPDATE messor.members SET email = 'ada.l@example.org'")
    again = await enter(base)
    assert (await log_in(again, outside, "ada")).place == "/domains"
    await database.fetch("UPDATE messor.members SET disabled_at = messor.clock()")
    refused = await log_in(await enter(base), outside, "ada")
    assert (refused.status, "deactivated" in refused.said) == (401, True)


async def test_strangers_and_unverified_addresses_stay_out_unless_the_settings_let_them_join(
    serve: Serve,
    enter: Enter,
    joined: Joined,
    tmp_path: Path,
    issuer: str,
    outside: aiohttp.ClientSession,
    database: Database,
) -> None:
    await joined(Role.REVIEWER, "reviewer@example.org")
    base = await serve(sign_on(tmp_path, issuer))
    stranger = await log_in(await enter(base), outside, "new")
    assert (stranger.status, "not a member here" in stranger.said) == (401, True)
    unverified = await log_in(await enter(base), outside, "eve")
    assert (unverified.status, "did not confirm" in unverified.said) == (401, True)
    assert await database.fetchval("SELECT count(*) FROM messor.sessions") == 0
    open_base = await serve(sign_on(tmp_path, issuer, oidc_join="viewer"))
    assert (await log_in(await enter(open_base), outside, "new")).place == "/domains"
    row = await database.fetchrow("SELECT name, role FROM messor.members WHERE email LIKE 'new@%'")
    assert tuple(row or ()) == ("New", "viewer")


async def test_an_answer_that_was_not_asked_for_here_is_refused(
    serve: Serve,
    enter: Enter,
    joined: Joined,
    tmp_path: Path,
    issuer: str,
    outside: aiohttp.ClientSession,
) -> None:
    base = await serve(sign_on(tmp_path, issuer))
    await joined(Role.REVIEWER, "ada@example.org")
    thief, victim = await enter(base), await enter(base)
    left = await thief.get("/login/oidc")
    back = await at_the_provider(outside, left.place, "ada")
    assert "another browser" in (await victim.get(back)).said  # a login forced on somebody else
    await victim.get("/login/oidc")
    assert "not started in this browser" in (await victim.get(back)).said
    await victim.get("/login/oidc")
    odd = await victim.get("/login/oidc/callback?code=1&state=%C3%A9")
    assert (odd.status, "not started in this browser" in odd.said) == (401, True)
    asked = parse_qs(urlsplit(left.place).query)
    assert asked["code_challenge_method"] == ["S256"]
    denied = await thief.get(f"/login/oidc/callback?error=access_denied&state={asked['state'][0]}")
    assert (denied.status, "refused the login: access_denied" in denied.said) == (401, True)


async def test_a_provider_that_is_away_or_calls_itself_otherwise_is_told(
    serve: Serve, enter: Enter, tmp_path: Path, issuer: str
) -> None:
    away = await enter(await serve(sign_on(tmp_path, "http://127.0.0.1:9")))
    said = await away.get("/login/oidc")
    assert (said.status, "cannot be reached" in said.said) == (503, True)
    other = await enter(await serve(sign_on(tmp_path, issuer.replace("127.0.0.1", "localhost"))))
    said = await other.get("/login/oidc")
    assert "MESSOR_OIDC_ISSUER" in said.said or said.status == 303
    plain = await enter(await serve(Settings(data_dir=tmp_path)))
    assert (await plain.get("/login/oidc")).status == 404
    assert "single sign-on" not in (await plain.get("/login")).said


class _InPieces(asyncio.Protocol):
    """A provider whose documents come in two pieces, or whose answer is a list."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._out = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        place = f"http://{self._out.get_extra_info('sockname')[0]}:{self._out.get_extra_info('sockname')[1]}"
        asked = data.split(b" ")[1].decode()
        told: object = ["no object"]
        if not asked.startswith("/list"):
            told = {"issuer": place, "authorization_endpoint": f"{place}/authorize"}
        body = json.dumps(told).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
        self._out.write(head + body[:9])
        asyncio.get_running_loop().call_later(0.2, self._out.write, body[9:])


async def test_a_providers_documents_may_come_in_pieces_and_must_be_objects(
    serve: Serve, enter: Enter, tmp_path: Path
) -> None:
    server = await asyncio.get_running_loop().create_server(_InPieces, "127.0.0.1", 0)
    async with server:
        place = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        left = await (await enter(await serve(sign_on(tmp_path, place)))).get("/login/oidc")
        assert left.place.startswith(f"{place}/authorize?"), left.said
        odd = await (await enter(await serve(sign_on(tmp_path, f"{place}/list")))).get(
            "/login/oidc"
        )
        assert (odd.status, "no reason given" in odd.said) == (503, True)


async def test_two_factor_login_is_set_up_asked_for_and_reset(
    serve: Serve,
    enter: Enter,
    tmp_path: Path,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop_steps(monkeypatch)
    base = await serve(Settings(data_dir=tmp_path, two_factor="required"))
    reviewer = await enter(base, Role.REVIEWER)
    kept_out = await reviewer.get("/domains")
    assert (kept_out.status, kept_out.place) == (303, "/account/two-factor")
    no_key = await reviewer.send(
        "/account", "/account/keys", {"name": "around", "scope": "read", "days": "30"}
    )
    assert "two-factor login first" in no_key.said
    assert await database.fetchval("SELECT count(*) FROM messor.api_keys") == 0
    await reviewer.send("/account/two-factor", "/account/two-factor/begin")
    shown = await reviewer.get("/account/two-factor")
    assert "<svg" in shown.text
    secret = shown.text.split('<code class="break">')[1].split("<")[0]
    wrong = await reviewer.send(
        "/account/two-factor", "/account/two-factor/confirm", {"code": "000000"}
    )
    assert (wrong.status, "clock is right" in wrong.said) == (422, True)
    done = await reviewer.send(
        "/account/two-factor",
        "/account/two-factor/confirm",
        {"code": await code_of(database, secret, steps=-1)},
    )
    assert "recovery codes" in done.said
    assert (await reviewer.get("/domains")).status == 200
    fresh = await enter(base)
    asked = await fresh.send(
        "/login", "/login", {"email": "reviewer@example.org", "password": PASSWORD, "next": "/why"}
    )
    assert (asked.status, "authenticator app" in asked.said) == (200, True)
    assert (await fresh.get("/domains")).place.startswith("/login")
    token = asked.text.split('name="challenge" value="')[1].split('"')[0]
    form = {"challenge": token, "next": "/why"}
    no = await fresh.send("/login", "/login/code", {**form, "code": "111111"})
    assert (no.status, "wrong" in no.said) == (401, True)
    yes = await fresh.send(
        "/login", "/login/code", {**form, "code": await code_of(database, secret)}
    )
    assert (yes.status, yes.place) == (303, "/why")
    await database.fetch("UPDATE messor.members SET role = 'admin'")
    member = await database.fetchval("SELECT id FROM messor.members")
    reset = await fresh.send("/members", f"/members/{member}", {"act": "two_factor"})
    assert reset.place == "/members"
    assert (await fresh.get("/domains")).place == "/account/two-factor"
