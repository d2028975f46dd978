"""API keys: shown once, scoped, expiring, revocable."""

from __future__ import annotations

from datetime import timedelta

import pytest

from messor.access import keys, members
from messor.access.errors import BadKeyError, ForbiddenError
from messor.access.keys import ApiKey
from messor.access.members import Member
from messor.access.principal import LOCAL_ADMIN, Principal, authorise
from messor.access.roles import Act, Role
from messor.access.secret import Secret
from messor.errors import NotFoundError, UsageError
from messor.store.database import Database
from tests.access.conftest import ELSEWHERE, HOME, Joined, Later, as_member, told


async def make(
    database: Database,
    member: Member,
    *scopes: Act,
    by: Principal = LOCAL_ADMIN,
    days: int = 90,
    name: str = "report",
) -> tuple[ApiKey, Secret]:
    async with database.transaction() as connection:
        return await keys.create(connection, member, name=name, scopes=scopes, by=by, days=days)


async def test_a_key_does_what_its_scopes_say(database: Database, joined: Joined) -> None:
    ada = await joined(role=Role.REVIEWER)
    key, secret = await make(database, ada, Act.DOMAINS_SUBMIT, Act.READ, Act.READ)
    assert secret.reveal().startswith(f"messor_{key.prefix}_")
    assert key.is_good
    who = await keys.recognise(database, secret.reveal(), HOME)
    assert (who.member_id, who.key_id, who.session_id) == (ada.id, key.id, None)
    assert who.acts == {Act.READ, Act.DOMAINS_SUBMIT}
    with pytest.raises(ForbiddenError):
        authorise(who, Act.DOMAINS_REVIEW)


async def test_a_key_never_outgrows_its_member(database: Database, joined: Joined) -> None:
    ada = await joined(role=Role.REVIEWER)
    _, secret = await make(database, ada, Act.READ, Act.DOMAINS_REVIEW)
    async with database.transaction() as connection:
        await members.set_role(connection, ada, Role.VIEWER, by=LOCAL_ADMIN)
    who = await keys.recognise(database, secret.reveal(), HOME)
    assert who.acts == {Act.READ}


@pytest.mark.parametrize(
    "role, scope",
    [
        (Role.VIEWER, Act.DOMAINS_SUBMIT),
        (Role.REVIEWER, Act.DATA_ERASE),
        (Role.ADMIN, Act.MEMBERS_MANAGE),
        (Role.ADMIN, Act.ACCOUNT_OWN),
    ],
)
async def test_a_scope_beyond_the_role_is_refused(
    database: Database, joined: Joined, role: Role, scope: Act
) -> None:
    ada = await joined(role=role)
    with pytest.raises(UsageError, match=f"cannot have the scope {scope}"):
        await make(database, ada, Act.READ, scope)


async def test_a_key_needs_a_scope_a_name_and_an_end(database: Database, joined: Joined) -> None:
    ada = await joined()
    with pytest.raises(UsageError, match="at least one scope"):
        await make(database, ada)
    for days in (0, -1, 367):
        with pytest.raises(UsageError, match="valid for 1 to 366 days"):
            await make(database, ada, Act.READ, days=days)
    with pytest.raises(UsageError, match="name for the key"):
        await make(database, ada, Act.READ, name="a\x00")


async def test_it_runs_out(database: Database, joined: Joined, later: Later) -> None:
    _, secret = await make(database, await joined(), Act.READ, days=7)
    await keys.recognise(await later(timedelta(days=6)), secret.reveal(), HOME)
    next_week = await later(timedelta(days=8))
    with pytest.raises(BadKeyError, match="expired on"):
        await keys.recognise(next_week, secret.reveal(), HOME)
    assert not (await keys.listing(next_week, by=LOCAL_ADMIN))[0].is_good


async def test_it_is_revoked(database: Database, joined: Joined) -> None:
    ada = await joined()
    key, secret = await make(database, ada, Act.READ)
    for _ in range(2):
        async with database.transaction() as connection:
            gone = await keys.revoke(connection, key, by=as_member(ada))
    assert gone.revoked_by == f"member:{ada.id}"
    with pytest.raises(BadKeyError, match="was revoked"):
        await keys.recognise(database, secret.reveal(), HOME)
    assert len(await told(database, "key.revoked")) == 1


async def test_its_use_is_noted_once_a_minute(
    database: Database, joined: Joined, later: Later
) -> None:
    key, secret = await make(database, await joined(), Act.READ)
    assert key.last_used_at is None
    await keys.recognise(database, secret.reveal(), HOME)
    first = await keys.get(database, key.prefix, by=LOCAL_ADMIN)
    assert first.last_used_address == HOME.address
    await keys.recognise(database, secret.reveal(), ELSEWHERE)
    assert await keys.get(database, key.id, by=LOCAL_ADMIN) == first
    await keys.recognise(await later(timedelta(seconds=61)), secret.reveal(), ELSEWHERE)
    assert (await keys.get(database, key.id, by=LOCAL_ADMIN)).last_used_address == ELSEWHERE.address


async def test_a_wrong_secret_is_unknown_and_notes_nothing(
    database: Database, joined: Joined
) -> None:
    key, secret = await make(database, await joined(), Act.READ)
    whole = secret.reveal()
    wrong = whole[:-1] + ("A" if whole[-1] != "A" else "B")
    for text in (wrong, whole.replace(key.prefix, "0" * 12)):
        with pytest.raises(BadKeyError, match="Unknown API key"):
            await keys.recognise(database, text, HOME)
    for text in ("", "x", whole + "\n", whole[:-1], "\x00", "\ud800", "messor_" * 10_000):
        with pytest.raises(BadKeyError, match="not an API key"):
            await keys.recognise(database, text, HOME)
    assert (await keys.get(database, key.id, by=LOCAL_ADMIN)).last_used_at is None


async def test_a_wrong_secret_learns_nothing_of_a_revoked_key(
    database: Database, joined: Joined
) -> None:
    key, secret = await make(database, await joined(), Act.READ)
    async with database.transaction() as connection:
        await keys.revoke(connection, key, by=LOCAL_ADMIN)
    with pytest.raises(BadKeyError, match="Unknown API key"):
        await keys.recognise(database, secret.reveal()[:-3] + "xyz", HOME)


async def test_keys_of_others_are_the_admins(database: Database, joined: Joined) -> None:
    ada, bo = await joined(), await joined("bo@example.org")
    key, _ = await make(database, ada, Act.READ, by=as_member(ada))
    own, _ = await make(database, bo, Act.READ, by=as_member(bo))
    with pytest.raises(ForbiddenError):
        await make(database, ada, Act.READ, by=as_member(bo))
    with pytest.raises(ForbiddenError):
        await keys.listing(database, by=as_member(bo))
    with pytest.raises(ForbiddenError):
        await keys.listing(database, by=as_member(bo), member_id=ada.id)
    with pytest.raises(NotFoundError):
        await keys.get(database, key.id, by=as_member(bo))
    async with database.transaction() as connection:
        with pytest.raises(ForbiddenError):
            await keys.revoke(connection, key, by=as_member(bo))
    assert [k.id for k in await keys.listing(database, by=as_member(bo), member_id=bo.id)] == [
        own.id
    ]
    assert {k.id for k in await keys.listing(database, by=LOCAL_ADMIN)} == {key.id, own.id}


async def test_a_key_makes_no_key(database: Database, joined: Joined) -> None:
    ada = await joined(role=Role.ADMIN)
    _, secret = await make(database, ada, Act.READ, Act.DATA_ERASE)
    who = await keys.recognise(database, secret.reveal(), HOME)
    with pytest.raises(ForbiddenError):
        await make(database, ada, Act.READ, by=who)


async def test_a_scope_that_no_longer_exists_allows_nothing(
    database: Database, joined: Joined
) -> None:
    _, secret = await make(database, await joined(), Act.READ)
    await database.fetch("UPDATE messor.api_keys SET scopes = '{read,fly}'")
    assert (await keys.recognise(database, secret.reveal(), HOME)).acts == {Act.READ}
    assert (await keys.listing(database, by=LOCAL_ADMIN))[0].scopes == (Act.READ,)
