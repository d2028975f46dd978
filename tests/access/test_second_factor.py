"""Two-factor login: codes of an app count once, recovery codes too, and guessing them is slow."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from messor.access import links, second_factor, sessions
from messor.access.errors import (
    CodeNeededError,
    ForbiddenError,
    SessionEndedError,
    ThrottledError,
    WrongCredentialsError,
)
from messor.access.login import LoginService
from messor.access.members import Member
from messor.access.passwords import Passwords
from messor.access.principal import LOCAL_ADMIN, authorise
from messor.access.roles import Act
from messor.errors import ConflictError
from messor.fetch.proxies.seal import Seal
from messor.store.database import Database
from tests.access.conftest import HOME, PASSWORD, Joined, Later
from tests.codes import code_of, stop_steps


@pytest.fixture(autouse=True)
def standing_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_steps(monkeypatch)


@pytest.fixture
def seal(tmp_path: Path) -> Seal:
    return Seal(tmp_path)


@pytest.fixture
def door(database: Database, passwords: Passwords, seal: Seal) -> LoginService:
    return LoginService(database, passwords, seal=seal)


async def enrol(database: Database, seal: Seal, member: Member) -> tuple[str, list[str]]:
    async with database.transaction() as connection:
        enrolment = await second_factor.begin(connection, seal, member)
        # The step before: its code is good, and the present one stays for the login.
        code = await code_of(database, enrolment.secret, steps=-1)
        codes = await second_factor.confirm(connection, seal, member, code, by=LOCAL_ADMIN)
    return enrolment.secret, codes


async def challenge(door: LoginService, member: Member) -> str:
    try:
        await door.log_in(member.email, PASSWORD, HOME)
    except CodeNeededError as asked:
        return asked.token.reveal()
    raise AssertionError("no code was asked for")


async def test_a_code_is_asked_for_after_the_password_and_works_once(
    database: Database, door: LoginService, seal: Seal, joined: Joined
) -> None:
    ada = await joined()
    secret, _ = await enrol(database, seal, ada)
    token = await challenge(door, ada)
    assert await database.fetchval("SELECT count(*) FROM messor.sessions") == 0
    code = await code_of(database, secret)
    opened = await door.answer_challenge(token, f" {code[:3]} {code[3:]} ", HOME)
    assert opened.principal.member_id == ada.id
    assert opened.session.opened_by == "password"
    with pytest.raises(WrongCredentialsError, match="already used"):
        await door.answer_challenge(await challenge(door, ada), code, HOME)
    with pytest.raises(SessionEndedError):  # the challenge itself works once, too
        await door.answer_challenge(token, await code_of(database, secret, steps=1), HOME)


async def test_recovery_codes_work_once_each_and_are_not_kept(
    database: Database, door: LoginService, seal: Seal, joined: Joined
) -> None:
    ada = await joined()
    _, codes = await enrol(database, seal, ada)
    assert len(set(codes)) == second_factor.RECOVERY_CODES
    await door.answer_challenge(await challenge(door, ada), codes[0].upper(), HOME)
    with pytest.raises(WrongCredentialsError):
        await door.answer_challenge(await challenge(door, ada), codes[0], HOME)
    assert await second_factor.recovery_codes_left(database, ada.id) == 9
    kept = await database.fetch("SELECT * FROM messor.recovery_codes")
    assert not any(code.replace("-", "") in str(row) for code in codes for row in kept)


async def test_a_link_asks_for_the_code_as_well(
    database: Database, door: LoginService, seal: Seal, joined: Joined
) -> None:
    ada = await joined()
    secret, _ = await enrol(database, seal, ada)
    async with database.transaction() as connection:
        made = await links.make_login(connection, ada, by=LOCAL_ADMIN)
    with pytest.raises(CodeNeededError) as asked:
        await door.log_in_by_link(made.token.reveal(), HOME)
    opened = await door.answer_challenge(
        asked.value.token.reveal(), await code_of(database, secret), HOME
    )
    assert opened.session.opened_by == "link"


async def test_a_known_password_buys_no_endless_guesses_at_codes(
    door: LoginService, database: Database, seal: Seal, joined: Joined
) -> None:
    ada = await joined()
    await enrol(database, seal, ada)
    guesses = 0
    try:
        while guesses < 20:
            token = await challenge(door, ada)
            with pytest.raises(WrongCredentialsError):
                await door.answer_challenge(token, f"{guesses:06}", HOME)
            guesses += 1
    except ThrottledError:
        pass
    assert guesses < 5


async def test_a_challenge_ends_and_codes_follow_the_clock(
    database: Database,
    passwords: Passwords,
    door: LoginService,
    seal: Seal,
    joined: Joined,
    later: Later,
) -> None:
    ada = await joined()
    secret, _ = await enrol(database, seal, ada)
    token = await challenge(door, ada)
    soon = LoginService(await later(timedelta(minutes=9)), passwords, seal=seal)
    with pytest.raises(WrongCredentialsError):
        await soon.answer_challenge(token, await code_of(database, secret), HOME)
    late = LoginService(await later(timedelta(minutes=11)), passwords, seal=seal)
    with pytest.raises(SessionEndedError, match="Log in again"):
        await late.answer_challenge(token, await code_of(database, secret, steps=22), HOME)


async def test_it_is_on_only_once_a_code_was_confirmed_and_off_with_another(
    database: Database, door: LoginService, seal: Seal, joined: Joined
) -> None:
    ada = await joined()
    async with database.transaction() as connection:
        first = await second_factor.begin(connection, seal, ada)
        shown = await second_factor.pending(connection, seal, ada)
        assert shown == first
    assert first.uri.startswith("otpauth://totp/Messor:ada%40example.org?")
    opened = await door.log_in(ada.email, PASSWORD, HOME)  # not asked for yet
    async with database.transaction() as connection:
        with pytest.raises(WrongCredentialsError, match="clock"):
            await second_factor.confirm(connection, seal, ada, "000000", by=LOCAL_ADMIN)
    secret, _ = await enrol(database, seal, ada)
    async with database.transaction() as connection:
        with pytest.raises(ConflictError, match="already on"):
            await second_factor.begin(connection, seal, ada)
    with pytest.raises(WrongCredentialsError):
        await door.remove_second_factor(opened.principal, "123456", origin=HOME)
    code = await code_of(database, secret)
    await door.remove_second_factor(opened.principal, code, origin=HOME)
    await door.log_in(ada.email, PASSWORD, HOME)
    assert secret not in str(await database.fetch("SELECT * FROM messor.events"))


async def test_where_two_factors_are_required_a_member_with_one_may_only_enrol(
    database: Database, door: LoginService, seal: Seal, joined: Joined
) -> None:
    ada = await joined()
    opened = await door.log_in(ada.email, PASSWORD, HOME)
    token = opened.token.reveal()
    limited = await sessions.resume(database, token, two_factor_required=True)
    authorise(limited, Act.ACCOUNT_OWN)
    with pytest.raises(ForbiddenError, match="Set up two-factor login first"):
        authorise(limited, Act.READ)
    authorise(await sessions.resume(database, token), Act.READ)
    await enrol(database, seal, ada)
    authorise(await sessions.resume(database, token, two_factor_required=True), Act.READ)
