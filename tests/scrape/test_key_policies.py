"""Which requests a key's policy lets through, and what it counts."""

from __future__ import annotations

import pytest

from messor.access import key_policies, keys, members
from messor.access.errors import ForbiddenError, ThrottledError
from messor.access.origin import Origin
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Act, Role, key_acts_of
from messor.errors import UsageError
from messor.scrape.caller import Caller
from messor.store.database import Database


async def made(database: Database, role: Role, *domains: str, pages: int = 5) -> Caller:
    async with database.transaction() as connection:
        member = await members.create(
            connection, email=f"{role}@example.org", name="A", role=role, by=LOCAL_ADMIN
        )
        key, secret = await keys.create(
            connection, member, name="k", scopes=key_acts_of(role), by=LOCAL_ADMIN
        )
        await key_policies.give(connection, key, domains=domains, by=LOCAL_ADMIN, pages_a_day=pages)
    principal = await keys.recognise(database, secret.reveal(), Origin("127.0.0.1"))
    return await Caller.of(database, principal)


async def test_a_policy_covers_its_domains_or_any(database: Database) -> None:
    caller = await made(database, Role.REVIEWER, "www.one.org", "two.org")
    assert [caller.may_open(name) for name in ("one.org", "two.org", "three.org")] == [
        True, True, False,
    ]  # fmt: skip
    await database.fetch("UPDATE messor.key_policies SET domains = '{*}'")
    assert (await Caller.of(database, caller.principal)).may_open("three.org")


async def test_a_policy_ends_with_its_members_role(database: Database) -> None:
    caller = await made(database, Role.SUBMITTER, "one.org")
    assert not caller.may_open("one.org")


async def test_a_key_gives_no_policies(database: Database) -> None:
    caller = await made(database, Role.ADMIN, "one.org")
    async with database.transaction() as connection:
        key = (await keys.listing(connection, by=LOCAL_ADMIN))[0]
        assert Act.ACCOUNT_OWN not in caller.principal.acts
        with pytest.raises(ForbiddenError):
            await key_policies.give(connection, key, domains=["any"], by=caller.principal)


async def test_pages_are_counted_to_the_limit_and_given_back(database: Database) -> None:
    caller = await made(database, Role.REVIEWER, "any")
    async with database.transaction() as connection:
        assert await key_policies.take(connection, caller.policy, 3) == 3
        assert await key_policies.take(connection, caller.policy, 9) == 2
        with pytest.raises(ThrottledError, match="used up"):
            await key_policies.take(connection, caller.policy, 1)
        assert caller.policy is not None
        await key_policies.give_back(connection, caller.policy.key_id, 4)
        assert await key_policies.left(connection, caller.policy.key_id) == 4
        assert await key_policies.take(connection, None, 99) == 99, "without a policy"


async def test_what_is_no_policy_is_told(database: Database) -> None:
    caller = await made(database, Role.REVIEWER, "any")
    assert caller.policy is not None
    async with database.transaction() as connection:
        key = await keys.get(connection, caller.policy.key_id, by=LOCAL_ADMIN)
        for wrong in ([], ["::"], ["com"]):
            with pytest.raises(UsageError):
                await key_policies.give(connection, key, domains=wrong, by=LOCAL_ADMIN)
        with pytest.raises(UsageError):
            await key_policies.give(connection, key, domains=["any"], by=LOCAL_ADMIN, max_depth=999)
