"""Members: taken in, changed, shut out; and there is always an admin left."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import asyncpg
import pytest

from messor.access import keys, members, sessions
from messor.access.errors import BadKeyError, ForbiddenError, SessionEndedError
from messor.access.login import LoginService
from messor.access.members import Member
from messor.access.passwords import Passwords
from messor.access.principal import LOCAL_ADMIN, Principal
from messor.access.roles import Act, Role
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.store.database import Database
from tests.access.conftest import HOME, PASSWORD, Joined, as_member, told

WAITING = """
SELECT count(*) FROM pg_stat_activity
 WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


async def waits_or_is_done(database: Database, act: asyncio.Task[Member]) -> None:
    """Until an act that others may stand in the way of has gone as far as it can."""
    while True:
        if act.done() or await database.fetchval(WAITING):
            return
        await asyncio.sleep(0.01)


async def change_role(
    database: Database, member: Member, role: Role, by: Principal = LOCAL_ADMIN
) -> Member:
    async with database.transaction() as connection:
        return await members.set_role(connection, member, role, by=by)


async def shut_out(database: Database, member: Member, by: Principal = LOCAL_ADMIN) -> Member:
    async with database.transaction() as connection:
        return await members.disable(connection, member, by=by)


async def test_a_member_is_taken_in_with_an_event(database: Database, joined: Joined) -> None:
    ada = await joined(" Ada@Example.ORG ", Role.REVIEWER)
    assert (ada.email, ada.role, ada.has_password) == ("ada@example.org", Role.REVIEWER, True)
    assert await members.get(database, "ADA@example.org") == ada
    assert await members.get(database, ada.id) == ada
    assert await members.listing(database) == [ada]
    assert await told(database) == [
        ("member.created", "local-admin", {"member": str(ada.id), "role": "reviewer"})
    ]


async def test_an_address_is_taken_once(joined: Joined) -> None:
    await joined("ada@example.org")
    with pytest.raises(ConflictError, match="is already a member"):
        await joined("ADA@EXAMPLE.ORG")


@pytest.mark.parametrize(
    "email",
    ["", "ada", "@example.org", "ada@", "a@b@c", "a b@example.org", "a\x00@example.org", "a\u202e@example.org",
     "\ud800@example.org", "a" * 250 + "@example.org", "<a>@example.org", "a@example.org\nbcc: b@c"],
)  # fmt: skip
async def test_what_is_no_address_is_refused(joined: Joined, email: str) -> None:
    with pytest.raises(UsageError, match="e-mail address such as"):
        await joined(email, password=None)


@pytest.mark.parametrize("name", ["", "   ", "a\x00b", "a\nb", "x" * 101, "\u202eevil", "\ud800"])
async def test_what_is_no_name_is_refused(joined: Joined, name: str) -> None:
    with pytest.raises(UsageError, match="1 to 100 characters"):
        await joined(name=name, password=None)


async def test_who_is_not_there_is_not_found(database: Database) -> None:
    for who in ("bo@example.org", uuid4()):
        with pytest.raises(NotFoundError, match="is not a member"):
            await members.get(database, who)


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.SUBMITTER, Role.VIEWER])
async def test_only_admins_manage_members(
    database: Database, joined: Joined, passwords: Passwords, role: Role
) -> None:
    ada, bo = as_member(await joined(role=role)), await joined("bo@example.org")
    hashed = await passwords.renew(PASSWORD)
    async with database.transaction() as connection:
        for act in (
            members.create(connection, email="c@d.example", name="C", role=Role.ADMIN, by=ada),
            members.set_role(connection, bo, Role.ADMIN, by=ada),
            members.disable(connection, bo, by=ada),
            members.enable(connection, bo, by=ada),
            members.set_password(connection, bo, hashed, by=ada),
        ):
            with pytest.raises(ForbiddenError):
                await act


async def test_a_changed_role_holds_at_once_and_ends_sessions(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada = await joined(role=Role.REVIEWER)
    opened = await door.log_in(ada.email, PASSWORD, HOME)
    changed = await change_role(database, ada, Role.VIEWER)
    assert changed.role is Role.VIEWER
    with pytest.raises(SessionEndedError):
        await sessions.resume(database, opened.token.reveal())
    again = await door.log_in(ada.email, PASSWORD, HOME)
    assert again.principal.role is Role.VIEWER
    assert (await told(database, "member.role_changed")) == [
        (
            "member.role_changed",
            "local-admin",
            {"member": str(ada.id), "role": "viewer", "former": "reviewer"},
        )
    ]


async def test_the_same_role_again_changes_nothing(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada = await joined(role=Role.REVIEWER)
    opened = await door.log_in(ada.email, PASSWORD, HOME)
    await change_role(database, ada, Role.REVIEWER)
    assert (await sessions.resume(database, opened.token.reveal())).member_id == ada.id


async def test_who_is_disabled_is_out_by_every_way(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada = await joined()
    opened = await door.log_in(ada.email, PASSWORD, HOME)
    async with database.transaction() as connection:
        _, key = await keys.create(connection, ada, name="k", scopes=[Act.READ], by=LOCAL_ADMIN)
    assert (await shut_out(database, ada)).disabled_at is not None
    with pytest.raises(SessionEndedError):
        await sessions.resume(database, opened.token.reveal())
    with pytest.raises(BadKeyError, match="revoked"):
        await keys.recognise(database, key.reveal(), HOME)
    async with database.transaction() as connection:
        await members.enable(connection, ada, by=LOCAL_ADMIN)
    with pytest.raises(SessionEndedError):  # ended is ended
        await sessions.resume(database, opened.token.reveal())
    await keys.recognise(database, key.reveal(), HOME)


async def test_the_last_admin_stays(database: Database, joined: Joined) -> None:
    ada = await joined(role=Role.ADMIN)
    await joined("bo@example.org", Role.REVIEWER)
    with pytest.raises(ConflictError, match="only admin"):
        await change_role(database, ada, Role.VIEWER)
    with pytest.raises(ConflictError, match="only admin"):
        await shut_out(database, ada)


async def test_two_admins_who_unmake_each_other_at_once_leave_one(
    database: Database, joined: Joined
) -> None:
    ada, bo = await joined(role=Role.ADMIN), await joined("bo@example.org", Role.ADMIN)
    async with database.transaction() as connection:
        await members.set_role(connection, bo, Role.VIEWER, by=as_member(ada))
        other = asyncio.create_task(shut_out(database, ada, as_member(bo)))
        await waits_or_is_done(database, other)
    with pytest.raises(ConflictError, match="only admin"):
        await other
    assert [one.role for one in await members.listing(database)] == [Role.ADMIN, Role.VIEWER]


async def test_a_set_password_ends_sessions(
    database: Database, door: LoginService, joined: Joined, passwords: Passwords
) -> None:
    ada = await joined()
    opened = await door.log_in(ada.email, PASSWORD, HOME)
    hashed = await passwords.hash("another one entirely", email=ada.email, name=ada.name)
    async with database.transaction() as connection:
        await members.set_password(connection, ada, hashed, by=LOCAL_ADMIN)
    with pytest.raises(SessionEndedError):
        await sessions.resume(database, opened.token.reveal())
    await door.log_in(ada.email, "another one entirely", HOME)


async def test_an_act_that_is_not_committed_leaves_no_event(
    database: Database, joined: Joined
) -> None:
    ada = await joined()

    async def act() -> None:
        async with database.transaction() as connection:
            await members.disable(connection, ada, by=LOCAL_ADMIN)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await act()
    assert not await told(database, "member.disabled")
    assert (await members.get(database, ada.id)).disabled_at is None


async def test_actors_have_names_for_people(database: Database, joined: Joined) -> None:
    ada = await joined()
    async with database.transaction() as connection:
        key, _ = await keys.create(
            connection, ada, name="report", scopes=[Act.READ], by=LOCAL_ADMIN
        )
    actors = [f"member:{ada.id}", f"key:{key.id}", "local-admin", "member:nonsense", "key:"]
    assert await members.names(database, [*actors, f"member:{UUID(int=7)}"]) == {
        f"member:{ada.id}": "Ada L.",
        f"key:{key.id}": "Ada L. (key report)",
    }


@pytest.mark.parametrize(
    "change",
    [
        "role = 'owner'",
        "email = 'Ada@example.org'",
        "email = 'ada'",
        "name = ''",
        "password_hash = 'correct horse battery'",
    ],
)
async def test_the_database_refuses_what_the_service_would(
    database: Database, joined: Joined, change: str
) -> None:
    await joined()
    with pytest.raises(asyncpg.CheckViolationError):
        await database.fetch(f"UPDATE messor.members SET {change}")
