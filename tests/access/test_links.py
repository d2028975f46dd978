"""One-time links: once, in time, for one purpose."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from messor.access import links, members, sessions
from messor.access.errors import BadLinkError, ForbiddenError, WeakPasswordError
from messor.access.links import MadeLink
from messor.access.login import LoginService
from messor.access.members import Member
from messor.access.passwords import Passwords
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role
from messor.access.sessions import OpenedSession
from messor.errors import ConflictError
from messor.store.database import Database
from tests.access.conftest import HOME, PASSWORD, Joined, Later, as_member, told


async def first_admin_link(database: Database) -> MadeLink:
    async with database.transaction() as connection:
        return await links.make_first_admin(connection)


async def login_link(database: Database, member: Member) -> MadeLink:
    async with database.transaction() as connection:
        return await links.make_login(connection, member, by=LOCAL_ADMIN)


async def become_admin(
    door: LoginService, link: MadeLink, email: str = "ada@example.org"
) -> OpenedSession:
    return await door.make_first_admin(
        link.token.reveal(), email=email, name="Ada L.", password=PASSWORD, origin=HOME
    )


async def test_the_first_admin_comes_by_the_link(database: Database, door: LoginService) -> None:
    link = await first_admin_link(database)
    assert (await links.peek(database, link.token.reveal())).purpose == "first_admin"
    opened = await become_admin(door, link)
    assert opened.principal.role is Role.ADMIN
    assert (await sessions.resume(database, opened.token.reveal())) == opened.principal
    with pytest.raises(BadLinkError, match="Ask for a new one"):
        await become_admin(door, link, "bo@example.org")
    with pytest.raises(ConflictError, match="already an admin"):
        await first_admin_link(database)
    assert [event[:2] for event in await told(database)] == [
        ("link.made", "local-admin"),
        ("member.created", "first-admin-link"),
        ("session.opened", opened.principal.actor),
    ]


async def test_it_is_offered_until_there_is_an_admin(
    database: Database, door: LoginService
) -> None:
    link = await links.offer_first_admin(database)
    assert link is not None
    await become_admin(door, link)
    assert await links.offer_first_admin(database) is None


async def test_every_such_link_dies_once_there_is_an_admin(
    database: Database, door: LoginService, joined: Joined
) -> None:
    link = await first_admin_link(database)
    await joined(role=Role.ADMIN)
    with pytest.raises(BadLinkError):
        await links.peek(database, link.token.reveal())
    with pytest.raises(BadLinkError):
        await become_admin(door, link, "bo@example.org")


async def test_a_member_who_is_no_admin_does_not_stand_in_its_way(
    database: Database, door: LoginService, joined: Joined
) -> None:
    await joined("bo@example.org", Role.REVIEWER)
    await become_admin(door, await first_admin_link(database))


async def test_of_many_who_use_it_at_once_one_succeeds(
    database: Database, door: LoginService
) -> None:
    link = await first_admin_link(database)
    done = await asyncio.gather(
        *(become_admin(door, link, f"m{number}@example.org") for number in range(8)),
        return_exceptions=True,
    )
    assert sum(isinstance(one, OpenedSession) for one in done) == 1
    assert sum(isinstance(one, BadLinkError) for one in done) == 7
    assert len(await members.listing(database)) == 1


async def test_of_two_links_used_at_once_one_makes_an_admin(
    database: Database, door: LoginService
) -> None:
    made = [await first_admin_link(database) for _ in range(4)]
    done = await asyncio.gather(
        *(become_admin(door, link, f"m{n}@example.org") for n, link in enumerate(made)),
        return_exceptions=True,
    )
    assert sum(isinstance(one, OpenedSession) for one in done) == 1
    assert len(await members.listing(database)) == 1


async def test_a_refused_form_does_not_use_it_up(database: Database, door: LoginService) -> None:
    link = await first_admin_link(database)
    with pytest.raises(WeakPasswordError):
        await door.make_first_admin(
            link.token.reveal(), email="a@b.example", name="A", password="short", origin=HOME
        )
    await become_admin(door, link)


async def test_it_runs_out(database: Database, passwords: Passwords, later: Later) -> None:
    link = await first_admin_link(database)
    await links.peek(await later(timedelta(hours=23)), link.token.reveal())
    tomorrow = await later(timedelta(hours=25))
    with pytest.raises(BadLinkError):
        await become_admin(LoginService(tomorrow, passwords), link)


async def test_a_login_link_logs_in_once(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada = await joined(password=None)
    link = await login_link(database, ada)
    for _ in range(2):  # to look does not use it up
        assert (await links.peek(database, link.token.reveal())).member_id == ada.id
    opened = await door.log_in_by_link(link.token.reveal(), HOME)
    assert (opened.principal.member_id, opened.session.opened_by) == (ada.id, "link")
    with pytest.raises(BadLinkError):
        await door.log_in_by_link(link.token.reveal(), HOME)


async def test_a_login_link_used_by_many_at_once_opens_one_session(
    database: Database, door: LoginService, joined: Joined
) -> None:
    link = await login_link(database, await joined(password=None))
    done = await asyncio.gather(
        *(door.log_in_by_link(link.token.reveal(), HOME) for _ in range(8)), return_exceptions=True
    )
    assert sum(isinstance(one, OpenedSession) for one in done) == 1
    assert await database.fetchval("SELECT count(*) FROM messor.sessions") == 1


async def test_a_login_link_runs_out_and_dies_with_what_it_was_made_for(
    database: Database, door: LoginService, joined: Joined, later: Later, passwords: Passwords
) -> None:
    ada = await joined()
    old, other, last = [await login_link(database, ada) for _ in range(3)]
    with pytest.raises(BadLinkError):
        await LoginService(await later(timedelta(minutes=61)), passwords).log_in_by_link(
            old.token.reveal(), HOME
        )
    async with database.transaction() as connection:
        await members.set_role(connection, ada, Role.VIEWER, by=LOCAL_ADMIN)
    with pytest.raises(BadLinkError):
        await door.log_in_by_link(other.token.reveal(), HOME)
    async with database.transaction() as connection:
        gone = await members.disable(connection, ada, by=LOCAL_ADMIN)
    with pytest.raises(BadLinkError):
        await door.log_in_by_link(last.token.reveal(), HOME)
    with pytest.raises(ConflictError, match="is disabled"):
        await login_link(database, gone)


async def test_a_link_serves_its_own_purpose_only(
    database: Database, door: LoginService, joined: Joined
) -> None:
    login = await login_link(database, await joined(password=None))
    first = await first_admin_link(database)
    with pytest.raises(BadLinkError):
        await become_admin(door, login, "bo@example.org")
    with pytest.raises(BadLinkError):
        await door.log_in_by_link(first.token.reveal(), HOME)
    await door.log_in_by_link(login.token.reveal(), HOME)


@pytest.mark.parametrize("token", ["", "x", "\x00", "\ud800", "x" * 100_000])
async def test_what_is_no_link_opens_nothing(
    database: Database, door: LoginService, token: str
) -> None:
    with pytest.raises(BadLinkError):
        await links.peek(database, token)
    with pytest.raises(BadLinkError):
        await door.log_in_by_link(token, HOME)


async def test_only_admins_make_login_links(database: Database, joined: Joined) -> None:
    ada, bo = await joined(role=Role.ADMIN), as_member(await joined("bo@example.org"))
    async with database.transaction() as connection:
        with pytest.raises(ForbiddenError):
            await links.make_login(connection, ada, by=bo)


async def test_a_link_is_shown_only_on_purpose(database: Database) -> None:
    link = await first_admin_link(database)
    token = link.token.reveal()
    assert link.url("http://127.0.0.1:8321/") == f"http://127.0.0.1:8321/link/{token}"
    assert token not in f"{link!r} {link.token} {link.token!r}"
