"""Sessions: opened, seen, listed, ended; by time and by people."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from messor.access import sessions
from messor.access.csrf import check_csrf, csrf_token
from messor.access.errors import ForbiddenError, ForgedRequestError, SessionEndedError
from messor.access.login import LoginService
from messor.access.origin import Origin, network_of
from messor.access.passwords import Passwords
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role, acts_of
from messor.access.secret import new_token
from messor.access.sessions import Lifetimes, OpenedSession
from messor.errors import NotFoundError
from messor.store.database import Database
from tests.access.conftest import ELSEWHERE, HOME, PASSWORD, Joined, Later, as_member, told


async def logged_in(door: LoginService, origin: Origin = HOME) -> OpenedSession:
    return await door.log_in("ada@example.org", PASSWORD, origin)


async def is_open(database: Database, opened: OpenedSession) -> bool:
    try:
        await sessions.resume(database, opened.token.reveal())
    except SessionEndedError:
        return False
    return True


async def test_a_session_knows_its_member(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada = await joined()
    opened = await logged_in(door)
    who = await sessions.resume(database, opened.token.reveal())
    assert who == opened.principal
    assert (who.member_id, who.role, who.acts) == (ada.id, Role.REVIEWER, acts_of(Role.REVIEWER))
    assert who.session_id == opened.session.id


@pytest.mark.parametrize("token", [None, "", "x", "\x00", "\ud800", "x" * 100_000])
async def test_what_is_no_token_opens_nothing(database: Database, token: str | None) -> None:
    with pytest.raises(SessionEndedError):
        await sessions.resume(database, token)


async def test_only_the_hash_is_stored(
    database: Database, door: LoginService, joined: Joined
) -> None:
    await joined()
    opened = await logged_in(door)
    assert len(opened.token.reveal()) == 43  # 256 bits in base64
    stored = await database.fetchval("SELECT token_hash FROM messor.sessions")
    assert len(stored) == 32
    for guess in (stored.hex(), stored.decode("latin-1")):
        with pytest.raises(SessionEndedError):
            await sessions.resume(database, guess)


async def test_it_ends_when_idle(
    database: Database, door: LoginService, joined: Joined, later: Later
) -> None:
    await joined()
    opened = await logged_in(door)
    assert await is_open(await later(timedelta(hours=11)), opened)  # a sign of life
    assert await is_open(await later(timedelta(hours=22)), opened)
    assert not await is_open(await later(timedelta(hours=35)), opened)


async def test_it_ends_at_last_whatever_is_heard(
    database: Database, passwords: Passwords, joined: Joined, later: Later
) -> None:
    await joined()
    door = LoginService(database, passwords, Lifetimes(timedelta(hours=2), timedelta(hours=5)))
    opened = await logged_in(door)
    for hours in (1, 2.5, 4, 4.9):
        assert await is_open(await later(timedelta(hours=hours)), opened)
    assert not await is_open(await later(timedelta(hours=5.1)), opened)


async def test_it_is_written_once_a_minute_at_most(
    database: Database, door: LoginService, joined: Joined, later: Later
) -> None:
    await joined()
    opened = await logged_in(door)

    async def seen() -> object:
        return await database.fetchval("SELECT last_seen_at FROM messor.sessions")

    first = await seen()
    assert await is_open(database, opened)
    assert await seen() == first
    assert await is_open(await later(timedelta(seconds=61)), opened)
    assert await seen() != first


async def test_ones_sessions_are_listed_with_where_they_come_from(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada = await joined()
    await logged_in(door)
    await logged_in(door, Origin("2001:db8::1", "Safari\x00\u202e on a phone" + "x" * 500))
    newest, oldest = await sessions.listing(database, ada.id, by=as_member(ada))
    assert (oldest.address, oldest.user_agent) == (HOME.address, HOME.user_agent)
    assert newest.address == "2001:db8::1"
    assert newest.user_agent is not None
    assert newest.user_agent.startswith("Safari on a phone")
    assert len(newest.user_agent) == 300
    assert newest.opened_by == "password"


async def test_log_out_ends_one(database: Database, door: LoginService, joined: Joined) -> None:
    await joined()
    here, there = await logged_in(door), await logged_in(door, ELSEWHERE)
    async with database.transaction() as connection:
        await sessions.log_out(connection, here.principal)
        await sessions.log_out(connection, here.principal)
        await sessions.log_out(connection, LOCAL_ADMIN)
    assert not await is_open(database, here)
    assert await is_open(database, there)
    assert len(await told(database, "session.closed")) == 1


async def test_one_or_all_others_are_revoked(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada = await joined()
    opened = [await logged_in(door) for _ in range(4)]
    me = opened[0].principal
    async with database.transaction() as connection:
        await sessions.revoke(connection, ada.id, opened[3].session.id, by=me)
    assert [await is_open(database, one) for one in opened] == [True, True, True, False]
    async with database.transaction() as connection:
        assert await sessions.revoke_all(connection, ada.id, by=me, but=me.session_id) == 2
    assert [await is_open(database, one) for one in opened] == [True, False, False, False]
    async with database.transaction() as connection:
        assert await sessions.revoke_all(connection, ada.id, by=LOCAL_ADMIN) == 1
        with pytest.raises(NotFoundError):
            await sessions.revoke(connection, ada.id, opened[0].session.id, by=LOCAL_ADMIN)
    assert not await sessions.listing(database, ada.id, by=LOCAL_ADMIN)


async def test_sessions_of_others_are_the_admins(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada, bo = await joined(), as_member(await joined("bo@example.org"))
    opened = await logged_in(door)
    with pytest.raises(ForbiddenError):
        await sessions.listing(database, ada.id, by=bo)
    async with database.transaction() as connection:
        with pytest.raises(ForbiddenError):
            await sessions.revoke(connection, ada.id, opened.session.id, by=bo)
        with pytest.raises(ForbiddenError):
            await sessions.revoke_all(connection, ada.id, by=bo)
        # A session of another, called one's own, is not there.
        assert bo.member_id is not None
        with pytest.raises(NotFoundError):
            await sessions.revoke(connection, bo.member_id, opened.session.id, by=bo)
        with pytest.raises(NotFoundError):
            await sessions.revoke(connection, ada.id, uuid4(), by=LOCAL_ADMIN)
    assert await is_open(database, opened)


def test_a_form_is_known_by_its_token() -> None:
    cookie = new_token().reveal()
    first, second = csrf_token(cookie), csrf_token(cookie)
    assert first != second
    check_csrf(cookie, first)
    check_csrf(cookie, second)


@pytest.mark.parametrize(
    "given",
    [None, "", "x", "A" * 64, "é" * 64, "=" * 64, csrf_token("another cookie")],
    ids=["none", "empty", "short", "letters", "accents", "padding", "anothers"],
)
def test_a_form_without_its_token_is_refused(given: str | None) -> None:
    with pytest.raises(ForgedRequestError, match="Reload the page"):
        check_csrf("cookie", given)


def test_a_token_changed_anywhere_is_refused() -> None:
    good = csrf_token("cookie")
    for place in range(len(good)):
        other = "A" if good[place] != "A" else "B"
        with pytest.raises(ForgedRequestError):
            check_csrf("cookie", good[:place] + other + good[place + 1 :])
    for cookie in (None, ""):
        with pytest.raises(ForgedRequestError):
            check_csrf(cookie, good)


@pytest.mark.parametrize(
    "address, network",
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        (None, "unknown"),
        ("", "unknown"),
        ("evil\x00", "unknown"),
        ("1.2.3.4, 5.6.7.8", "unknown"),
    ],
)
def test_what_counts_as_one_address(address: str | None, network: str) -> None:
    assert network_of(address) == network
