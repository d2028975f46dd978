"""The door: who gets in, who does not, and who has to wait."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from messor.access import links, members, sessions
from messor.access.errors import (
    SessionEndedError,
    ThrottledError,
    WeakPasswordError,
    WrongCredentialsError,
)
from messor.access.login import LoginService
from messor.access.origin import Origin
from messor.access.passwords import Passwords
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role
from messor.access.sessions import OpenedSession
from messor.errors import UsageError
from messor.store.database import Database
from tests.access.conftest import ELSEWHERE, HOME, PASSWORD, Joined, Later, told

EMAIL = "ada@example.org"


async def fails(door: LoginService, email: str = EMAIL, origin: Origin = ELSEWHERE) -> str:
    """One wrong guess; answers what was said."""
    with pytest.raises((WrongCredentialsError, ThrottledError)) as refused:
        await door.log_in(email, "not the password", origin)
    return refused.value.code


async def guesses(
    door: LoginService, number: int, email: str = EMAIL, origin: Origin = ELSEWHERE
) -> int:
    """How many of so many guesses at once were looked at."""
    said = await asyncio.gather(*(fails(door, email, origin) for _ in range(number)))
    return said.count("wrong_credentials")


async def test_the_right_password_opens_a_session(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada = await joined()
    opened = await door.log_in(" ADA@example.org ", PASSWORD, HOME)
    assert opened.session.opened_by == "password"
    assert (await members.get(database, ada.id)).last_login_at is not None
    assert (await told(database, "session.opened")) == [
        (
            "session.opened",
            f"member:{ada.id}",
            {
                "member": str(ada.id),
                "session": str(opened.session.id),
                "opened_by": "password",
                "address": HOME.address,
            },
        )
    ]


async def test_every_failure_says_the_same(
    database: Database, door: LoginService, joined: Joined
) -> None:
    await joined()
    await joined("nopass@example.org", password=None)
    gone = await joined("gone@example.org")
    async with database.transaction() as connection:
        await members.disable(connection, gone, by=LOCAL_ADMIN)
    said = set()
    for number, (email, password) in enumerate(
        [
            (EMAIL, "wrong"),
            (EMAIL, ""),
            (EMAIL, PASSWORD + "\x00"),
            (EMAIL, "x" * 100_000),
            ("stranger@example.org", PASSWORD),
            ("nopass@example.org", ""),
            ("nopass@example.org", PASSWORD),
            ("gone@example.org", PASSWORD),
            ("no address", PASSWORD),
            ("\ud800\x00", "\ud800"),
            ("x" * 100_000, PASSWORD),
            ("' OR 1=1 --", PASSWORD),
        ]
    ):
        with pytest.raises(WrongCredentialsError) as refused:
            await door.log_in(email, password, Origin(f"198.51.100.{number}"))
        said.add((refused.value.code, str(refused.value)))
    assert said == {("wrong_credentials", "The e-mail address or the password is wrong.")}
    assert len(await told(database, "login.failed")) == 12


async def test_a_stranger_costs_what_a_member_costs(
    database: Database, passwords: Passwords, joined: Joined, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same number of round trips, and one Argon2 run of the same cost each."""
    await joined()
    verified = []
    argon = passwords._argon

    class Watched:
        def verify(self, encoded: str, password: bytes) -> bool:
            verified.append(encoded.rsplit("$", 2)[0])
            return argon.verify(encoded, password)

    monkeypatch.setattr(passwords, "_argon", Watched())
    door, trips = LoginService(database, passwords), []
    for number, email in enumerate([EMAIL, "stranger@example.org", "no address"]):
        before = database.round_trips
        await fails(door, email, Origin(f"198.51.100.{number}"))
        trips.append(database.round_trips - before)
    assert len(set(trips)) == 1
    assert verified == ["$argon2id$v=19$m=8,t=1,p=1"] * 3


async def test_guesses_at_once_are_not_cheaper(door: LoginService, joined: Joined) -> None:
    await joined()
    assert await guesses(door, 40) == 5  # the fifth is looked at, and starts the wait


async def test_a_minute_has_at_most_ten_guesses(
    door: LoginService, joined: Joined, later: Later, passwords: Passwords
) -> None:
    await joined()
    looked_at = await guesses(door, 20)
    for seconds in (1, 5, 9, 11, 15, 20, 31, 35, 45, 59):
        ahead = LoginService(await later(timedelta(seconds=seconds)), passwords)
        looked_at += await guesses(ahead, 1)
    assert 5 < looked_at <= 10


@pytest.mark.parametrize("spread", ["addresses", "accounts"])
async def test_spreading_guesses_does_not_help(
    door: LoginService, joined: Joined, spread: str
) -> None:
    await joined()
    said = []
    for number in range(12):
        email = EMAIL if spread == "addresses" else f"m{number}@example.org"
        origin = ELSEWHERE if spread == "accounts" else Origin(f"198.51.100.{number}")
        said.append(await fails(door, email, origin))
    assert said.count("wrong_credentials") == 5


async def test_an_ipv6_network_is_one_address(door: LoginService) -> None:
    said = [
        await fails(door, f"m{number}@example.org", Origin(f"2001:db8::{number:x}"))
        for number in range(12)
    ]
    assert said.count("wrong_credentials") == 5


async def test_the_wait_grows_says_how_long_it_is_and_ends(
    database: Database, door: LoginService, joined: Joined, later: Later, passwords: Passwords
) -> None:
    await joined()
    await guesses(door, 5)
    waits, elapsed = [], 0
    for _ in range(6):
        wait = await database.fetchval(
            """SELECT extract(epoch FROM max(open_at - attempted_at))::int
                 FROM messor.login_throttles"""
        )
        waits.append(wait)
        elapsed += wait + 1
        at = LoginService(await later(timedelta(seconds=elapsed)), passwords)
        assert await fails(at) == "wrong_credentials"
    assert waits == [10, 20, 40, 80, 160, 300]
    with pytest.raises(ThrottledError, match=r"Try again in \d+ seconds") as refused:
        await at.log_in(EMAIL, PASSWORD, ELSEWHERE)
    assert 200 < refused.value.retry_after <= 300
    at = LoginService(await later(timedelta(seconds=elapsed + 301)), passwords)
    assert isinstance(await at.log_in(EMAIL, PASSWORD, ELSEWHERE), OpenedSession)


async def test_an_hour_of_quiet_forgives(
    door: LoginService, joined: Joined, later: Later, passwords: Passwords
) -> None:
    await joined()
    await guesses(door, 5)
    assert await guesses(LoginService(await later(timedelta(minutes=61)), passwords), 10) == 5


async def test_who_is_turned_away_does_not_wait_longer_for_it(
    database: Database, door: LoginService, joined: Joined
) -> None:
    await joined()
    await guesses(door, 5)
    before = await database.fetch("SELECT key, open_at FROM messor.login_throttles ORDER BY key")
    await guesses(door, 20)
    assert before == await database.fetch(
        "SELECT key, open_at FROM messor.login_throttles ORDER BY key"
    )


async def test_strangers_cannot_keep_a_member_out_of_a_known_address(
    door: LoginService, joined: Joined
) -> None:
    await joined()
    await door.log_in(EMAIL, PASSWORD, HOME)
    await guesses(door, 20, EMAIL, ELSEWHERE)
    await guesses(door, 20, "colleague@example.org", HOME)
    assert await fails(door, "colleague@example.org", HOME) == "throttled"
    assert await fails(door, EMAIL, Origin("198.51.100.7")) == "throttled"
    await door.log_in(EMAIL, PASSWORD, HOME)


async def test_a_known_address_is_no_free_pass(door: LoginService, joined: Joined) -> None:
    await joined()
    await door.log_in(EMAIL, PASSWORD, HOME)
    assert await guesses(door, 30, EMAIL, HOME) == 5


async def test_a_link_lets_in_whom_strangers_keep_out(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada = await joined()
    await guesses(door, 10)
    async with database.transaction() as connection:
        link = await links.make_login(connection, ada, by=LOCAL_ADMIN)
    await door.log_in_by_link(link.token.reveal(), ELSEWHERE)


async def test_success_forgives_the_account_but_not_the_address(
    door: LoginService, joined: Joined
) -> None:
    """To log in to an account of one's own between guesses at others does not clear the address."""
    await joined()
    for number in range(4):
        assert await fails(door, f"victim{number}@example.org") == "wrong_credentials"
    await door.log_in(EMAIL, PASSWORD, ELSEWHERE)
    said = [await fails(door, f"victim{number}@example.org") for number in range(4, 10)]
    assert said == ["wrong_credentials", *["throttled"] * 5]


async def test_many_right_logins_at_once_all_succeed_or_wait(
    database: Database, door: LoginService, joined: Joined
) -> None:
    await joined()
    await door.log_in(EMAIL, PASSWORD, HOME)
    done = await asyncio.gather(
        *(door.log_in(EMAIL, PASSWORD, HOME) for _ in range(16)), return_exceptions=True
    )
    opened = [one for one in done if isinstance(one, OpenedSession)]
    assert all(isinstance(one, OpenedSession | ThrottledError) for one in done)
    assert len({one.token.reveal() for one in opened}) == len(opened) >= 4
    count = await database.fetchval("SELECT count(*) FROM messor.sessions")
    assert count == len(opened) + 1
    await door.log_in(EMAIL, PASSWORD, HOME)  # nothing is owed afterwards


async def test_the_ledger_hears_of_a_wait_once(
    database: Database, door: LoginService, joined: Joined
) -> None:
    await joined()
    await guesses(door, 30)
    assert len(await told(database, "login.throttled")) == 1
    assert len(await told(database, "login.failed")) == 5


async def test_a_password_changed_while_it_is_looked_at_is_the_old_one(
    database: Database, passwords: Passwords, joined: Joined, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await joined()
    verify = passwords.verify

    async def slow(password: str, encoded: str | None) -> bool:
        fits = await verify(password, encoded)
        async with database.transaction() as connection:
            hashed = await passwords.renew("something else now")
            await members.set_password(connection, ada, hashed, by=LOCAL_ADMIN)
        return fits

    monkeypatch.setattr(passwords, "verify", slow)
    with pytest.raises(WrongCredentialsError):
        await LoginService(database, passwords).log_in(EMAIL, PASSWORD, HOME)
    assert not await sessions.listing(database, ada.id, by=LOCAL_ADMIN)


async def test_an_old_hash_is_renewed_at_login(
    database: Database, door: LoginService, joined: Joined
) -> None:
    await joined()
    dearer = Passwords(memory_kib=16, passes=2)
    await LoginService(database, dearer).log_in(EMAIL, PASSWORD, HOME)
    stored = await database.fetchval("SELECT password_hash FROM messor.members")
    assert "m=16,t=2" in stored
    await LoginService(database, dearer).log_in(EMAIL, PASSWORD, HOME)
    assert await database.fetchval("SELECT password_hash FROM messor.members") == stored
    dearer.close()


async def test_a_member_changes_the_password(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada = await joined()
    here, there = [await door.log_in(EMAIL, PASSWORD, HOME) for _ in range(2)]
    assert await door.must_show_the_old_password(here.principal)
    new = await door.change_password(
        here.principal, current=PASSWORD, new="a whole new sentence", origin=HOME
    )
    for old in (here, there):
        with pytest.raises(SessionEndedError):
            await sessions.resume(database, old.token.reveal())
    assert (await sessions.resume(database, new.token.reveal())).member_id == ada.id
    with pytest.raises(WrongCredentialsError):
        await door.log_in(EMAIL, PASSWORD, HOME)
    await door.log_in(EMAIL, "a whole new sentence", HOME)
    assert [event[1] for event in await told(database, "member.password_changed")] == [
        f"member:{ada.id}"
    ]


async def test_a_stolen_session_does_not_guess_the_password(
    database: Database, door: LoginService, joined: Joined
) -> None:
    await joined()
    opened = await door.log_in(EMAIL, PASSWORD, HOME)
    said = []
    for guess in [None, "", *("guess" for _ in range(8))]:
        with pytest.raises((WrongCredentialsError, ThrottledError)) as refused:
            await door.change_password(
                opened.principal, current=guess, new="a whole new sentence", origin=HOME
            )
        said.append(refused.value.code)
    assert said.count("wrong_credentials") == 5


async def test_a_weak_new_password_changes_nothing(
    database: Database, door: LoginService, joined: Joined
) -> None:
    await joined()
    opened = await door.log_in(EMAIL, PASSWORD, HOME)
    with pytest.raises(WeakPasswordError):
        await door.change_password(opened.principal, current=PASSWORD, new="short", origin=HOME)
    await sessions.resume(database, opened.token.reveal())


async def test_who_came_by_a_link_sets_a_password_without_the_old(
    database: Database, door: LoginService, joined: Joined
) -> None:
    ada = await joined(password=None, role=Role.VIEWER)
    async with database.transaction() as connection:
        link = await links.make_login(connection, ada, by=LOCAL_ADMIN)
    opened = await door.log_in_by_link(link.token.reveal(), HOME)
    assert not await door.must_show_the_old_password(opened.principal)
    new = await door.change_password(opened.principal, current=None, new=PASSWORD, origin=HOME)
    assert await door.must_show_the_old_password(new.principal)
    await door.log_in(EMAIL, PASSWORD, HOME)


async def test_an_ended_session_changes_no_password(
    database: Database, door: LoginService, joined: Joined
) -> None:
    await joined()
    opened = await door.log_in(EMAIL, PASSWORD, HOME)
    async with database.transaction() as connection:
        await sessions.log_out(connection, opened.principal)
    with pytest.raises(SessionEndedError):
        await door.change_password(opened.principal, current=PASSWORD, new=PASSWORD, origin=HOME)
    with pytest.raises(UsageError):
        await door.change_password(LOCAL_ADMIN, current=PASSWORD, new=PASSWORD, origin=HOME)
