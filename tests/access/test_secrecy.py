"""No secret is stored, told in an event, printed or logged; and what is old is forgotten."""

from __future__ import annotations

import logging
from dataclasses import asdict
from datetime import timedelta

import msgspec
import pytest

from messor.access import keys, links, ratelimits, upkeep
from messor.access.errors import WrongCredentialsError
from messor.access.login import LoginService
from messor.access.principal import LOCAL_ADMIN
from messor.access.ratelimits import Limit
from messor.access.roles import Act
from messor.access.secret import Secret, new_token
from messor.store.database import Database
from tests.access.conftest import HOME, PASSWORD, Joined, Later, everything_stored


async def test_secrets_are_nowhere(
    database: Database, door: LoginService, joined: Joined, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with database.transaction() as connection:
        first = await links.make_first_admin(connection)
    opened = await door.make_first_admin(
        first.token.reveal(), email="a@b.example", name="A", password=PASSWORD, origin=HOME
    )
    ada = await joined()
    async with database.transaction() as connection:
        key, whole = await keys.create(connection, ada, name="k", scopes=[Act.READ], by=LOCAL_ADMIN)
        link = await links.make_login(connection, ada, by=LOCAL_ADMIN)
    by_link = await door.log_in_by_link(link.token.reveal(), HOME)
    await keys.recognise(database, whole.reveal(), HOME)
    # A password typed into the field for the address.
    with pytest.raises(WrongCredentialsError) as refused:
        await door.log_in("hunter2@hunter2-hunter2", "hunter2-hunter2", HOME)
    changed = await door.change_password(
        by_link.principal, current=None, new="a whole new sentence", origin=HOME
    )
    shown = [first, opened, key, whole, link, by_link, changed, refused.value, door]
    said = "\n".join(
        [await everything_stored(database), caplog.text, *map(repr, shown), *map(str, shown)]
    )
    for secret in (
        PASSWORD,
        "a whole new sentence",
        "hunter2",
        first.token.reveal(),
        opened.token.reveal(),
        link.token.reveal(),
        by_link.token.reveal(),
        changed.token.reveal(),
        whole.reveal(),
        whole.reveal().rpartition("_")[2],
    ):
        assert secret not in said
    events = await database.fetch("SELECT e::text FROM messor.events e")
    told = "\n".join(row[0] for row in events)
    assert "argon2" not in told
    assert "ada@example.org" not in told


def test_a_secret_shows_itself_only_when_asked() -> None:
    secret = new_token()
    ways = [
        repr(secret),
        str(secret),
        f"{secret}",
        msgspec.json.encode({"s": secret}, enc_hook=str),
    ]
    assert all(secret.reveal() not in str(way) for way in ways)
    assert not hasattr(secret, "__dict__")
    with pytest.raises(TypeError):
        asdict(secret)  # type: ignore[call-overload]
    assert isinstance(secret, Secret)


async def test_what_is_old_is_forgotten(
    database: Database, door: LoginService, joined: Joined, later: Later
) -> None:
    ada = await joined()
    await door.log_in(ada.email, PASSWORD, HOME)
    async with database.transaction() as connection:
        await links.make_login(connection, ada, by=LOCAL_ADMIN)
    await ratelimits.take(database, "k", Limit(1, timedelta(hours=1)))
    async with database.transaction() as connection:
        assert set((await upkeep.sweep(connection)).values()) == {0}
    async with (await later(timedelta(days=60))).transaction() as connection:
        assert await upkeep.sweep(connection) == {
            "sessions": 1,
            "one_time_links": 1,
            "login_throttles": 2,
            "rate_limits": 1,
        }
