"""`messor members` and `messor keys` as a person meets them."""

from __future__ import annotations

import asyncio
import io
import sys

import asyncpg
import pytest

from messor.access import keys, links, members
from messor.access.login import LoginService
from messor.access.origin import Origin
from messor.access.passwords import Passwords
from messor.access.principal import Principal
from messor.access.roles import Act, Role
from messor.access.sessions import OpenedSession
from messor.store.database import Database
from tests.cli.conftest import Messor, Said

PASSWORD = "correct horse battery"


def say_on_stdin(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))


def is_one_sentence(said: Said) -> bool:
    lines = said.err.strip().splitlines()
    return len(lines) == 1 and lines[0].startswith("messor: ") and "Traceback" not in said.err


def log_in(dsn: str, email: str, password: str) -> OpenedSession:
    async def act() -> OpenedSession:
        passwords = Passwords()
        try:
            async with Database(dsn) as database:
                return await LoginService(database, passwords).log_in(email, password, Origin())
        finally:
            passwords.close()

    return asyncio.run(act())


async def recognise(dsn: str, key: str) -> Principal:
    async with Database(dsn) as database:
        return await keys.recognise(database, key, Origin())


async def purpose_of(dsn: str, token: str) -> str:
    async with Database(dsn) as database:
        return (await links.peek(database, token)).purpose


async def become_admin(dsn: str) -> None:
    async with Database(dsn) as database, database.transaction() as connection:
        await members.insert(
            connection,
            email="root@example.org",
            name="Root",
            role=Role.ADMIN,
            password=None,
            actor="tester",
        )


async def dump(dsn: str) -> str:
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        rows = await connection.fetch(
            """SELECT e::text FROM messor.events e UNION ALL SELECT m::text FROM messor.members m
               UNION ALL SELECT k::text FROM messor.api_keys k
               UNION ALL SELECT l::text FROM messor.one_time_links l"""
        )
    finally:
        await connection.close()
    return " ".join(row[0] for row in rows)


def test_a_members_life(messor: Messor, dsn: str) -> None:
    assert "No members yet" in messor("members", "list").err
    added = messor("members", "add", "Ada@Example.org", "--name", "Ada L.", "--role", "reviewer")
    assert (added.code, "ada@example.org" in added.out) == (0, True)
    assert "messor members link ada@example.org" in added.err
    promoted = messor("members", "role", "ada@example.org", "admin", "--json")
    assert (promoted.json["role"], promoted.json["has_password"]) == ("admin", False)
    assert messor("members", "add", "bo@example.org", "--name", "Bo", "--json").json["role"] == (
        "viewer"
    )
    assert messor("members", "disable", "bo@example.org", "--json").json["disabled_at"]
    assert "disabled" in messor("members", "list").out
    assert messor("members", "enable", "bo@example.org", "--json").json["disabled_at"] is None
    listed = messor("members", "list", "--json").json
    assert [member["email"] for member in listed] == ["ada@example.org", "bo@example.org"]
    assert "password_hash" not in listed[0]


def test_refusals_are_one_sentence(messor: Messor) -> None:
    messor("members", "add", "ada@example.org", "--name", "Ada", "--role", "admin")
    for words, code in [
        (("members", "add", "ada@example.org", "--name", "Ada"), 5),
        (("members", "add", "nonsense", "--name", "Ada"), 2),
        (("members", "add", "b@example.org", "--name", "a\tb"), 2),
        (("members", "role", "who@example.org", "admin"), 4),
        (("members", "role", "ada@example.org", "viewer"), 5),
        (("members", "disable", "ada@example.org"), 5),
        (("members", "link"), 5),
        (("members", "link", "who@example.org"), 4),
        (("keys", "create", "k", "--member", "who@example.org"), 4),
        (("keys", "revoke", "000000000000"), 4),
    ]:
        said = messor(*words)
        assert (said.code, is_one_sentence(said)) == (code, True), words


def test_a_password_from_standard_input(
    messor: Messor, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    say_on_stdin(monkeypatch, PASSWORD.encode() + b"\n")
    said = messor("members", "add", "ada@example.org", "--name", "Ada", "--password-stdin")
    assert said.code == 0
    assert log_in(dsn, "ada@example.org", PASSWORD).principal.name == "Ada"
    say_on_stdin(monkeypatch, b"another one entirely\r\n")
    changed = messor("members", "password", "ada@example.org", "--password-stdin", "--json")
    assert (changed.code, changed.json["has_password"]) == (0, True)
    log_in(dsn, "ada@example.org", "another one entirely")
    told = asyncio.run(dump(dsn))
    for text in (said.out, said.err, changed.out, changed.err, told):
        assert PASSWORD not in text
        assert "another one" not in text


@pytest.mark.parametrize(
    "line", [b"", b"\n", b"short\n", b"\xff\xfe\xfd\n", b"ada@example.org\n", b"password1234\n"]
)
def test_a_password_that_is_none_is_refused(
    messor: Messor, monkeypatch: pytest.MonkeyPatch, line: bytes
) -> None:
    messor("members", "add", "ada@example.org", "--name", "Ada")
    say_on_stdin(monkeypatch, line)
    said = messor("members", "password", "ada@example.org", "--password-stdin")
    assert (said.code, is_one_sentence(said)) == (2, True)


def test_without_a_terminal_it_does_not_wait_for_a_password(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    messor("members", "add", "ada@example.org", "--name", "Ada")
    say_on_stdin(monkeypatch, b"")
    said = messor("members", "password", "ada@example.org")
    assert (said.code, "use --password-stdin" in said.err) == (2, True)


def test_links_for_the_first_admin_and_for_a_member(messor: Messor, dsn: str) -> None:
    first = messor("members", "link")
    base, _, token = first.out.strip().rpartition("/")
    assert (first.code, base) == (0, "http://127.0.0.1:8321/link")
    assert token not in first.err
    assert asyncio.run(purpose_of(dsn, token)) == "first_admin"
    asyncio.run(become_admin(dsn))
    said = messor("members", "link", "root@example.org", "--url", "https://m.example", "--json")
    assert said.json["url"].startswith("https://m.example/link/")
    other = said.json["url"].rpartition("/")[2]
    assert asyncio.run(purpose_of(dsn, other)) == "login"
    told = asyncio.run(dump(dsn))
    assert token not in told
    assert other not in told


def test_a_link_leads_to_where_the_console_is_served(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESSOR_LISTEN_HOST", "::1")
    monkeypatch.setenv("MESSOR_LISTEN_PORT", "9000")
    assert messor("members", "link").out.startswith("http://[::1]:9000/link/")
    monkeypatch.setenv("MESSOR_PUBLIC_URL", "https://messor.example")
    assert messor("members", "link").out.startswith("https://messor.example/link/")


def test_a_keys_life(messor: Messor, dsn: str) -> None:
    assert "No keys" in messor("keys", "list").err
    messor("members", "add", "ada@example.org", "--name", "Ada", "--role", "reviewer")
    plain = messor("keys", "create", "nightly", "--member", "ada@example.org")
    assert asyncio.run(recognise(dsn, plain.out.strip())).acts == {Act.READ}
    made = messor(
        "keys", "create", "importer", "--member", "ada@example.org",
        "--scope", "read", "--scope", "domains.submit", "--days", "7", "--json",
    )  # fmt: skip
    assert made.json["scopes"] == ["domains.submit", "read"]
    assert len(asyncio.run(recognise(dsn, made.json["key"])).acts) == 2
    listed = messor("keys", "list", "--member", "ada@example.org")
    for secret in (plain.out.strip(), made.json["key"]):
        assert secret not in listed.out + messor("keys", "list", "--json").out
        assert secret not in asyncio.run(dump(dsn))
    prefix = made.json["prefix"]
    assert "no policy" in messor("keys", "policy", prefix).err
    given = messor("keys", "policy", prefix, "--approve", "www.example.org", "--pages-a-day", "9")
    assert "approves example.org on first use, to depth 2, 9 pages a day" in given.out
    assert messor("keys", "policy", prefix, "--json").json["pages_a_day"] == 9
    assert messor("keys", "policy", prefix, "--none", "--approve", "a.org").code == 2
    assert "no policy" in messor("keys", "policy", prefix, "--none").err
    revoked = messor("keys", "revoke", made.json["prefix"], "--json")
    assert (revoked.json["is_good"], revoked.json["revoked_by"]) == (False, "local-admin")
    assert "revoked" in messor("keys", "revoke", made.json["prefix"]).out
    beyond = messor("keys", "create", "k", "--member", "ada@example.org", "--scope", "data.erase")
    assert (beyond.code, is_one_sentence(beyond)) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("members",),
        *(("members", name) for name in ("add", "list", "role", "disable", "enable", "password", "link")),
        ("keys",),
        *(("keys", name) for name in ("create", "list", "policy", "revoke")),
    ],
)  # fmt: skip
def test_every_help_has_an_example(messor: Messor, words: tuple[str, ...]) -> None:
    said = messor(*words, "--help")
    assert (said.code, "Example" in said.out) == (0, True)
