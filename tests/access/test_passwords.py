"""Passwords: the rules in clear sentences, and real Argon2id."""

from __future__ import annotations

import asyncio

import pytest

from messor.access.errors import WeakPasswordError
from messor.access.passwords import Passwords, check_rules
from tests.access.conftest import PASSWORD

ADA = {"email": "ada.lovelace@example.org", "name": "Ada Lovelace"}


@pytest.mark.parametrize(
    "password, sentence",
    [
        ("", "at least 12"),
        ("elevenchars", "at least 12"),
        ("x" * 1025, "at most 1024"),
        ("aaaaaaaaaaaaaaa", "too few different characters"),
        ("abababababababab", "too few different characters"),
        ("ada.lovelace@example.org", "name or e-mail"),
        ("ADA.LOVELACE@EXAMPLE.ORG", "name or e-mail"),
        ("ada lovelace", "name or e-mail"),
        ("Ada-Lovelace!!", "name or e-mail"),
        ("adalovelaceadalovelace", "name or e-mail"),
        ("adalovelace1815", "name or e-mail"),
        ("messor-lovelace", "name or e-mail"),
        ("Correct horse battery staple!", "too common"),
        ("Messor-Console-1", "product's name"),
        ("messor12345678", "too common"),
        ("password1234", "too common"),
        ("P@ssw0rd1234", "too common"),
        ("123456789012", "too common"),
        ("qwertyuiop123", "too common"),
        ("1q2w3e4r5t6y", "too common"),
        ("!@#$%^&*()_+", "too common"),
        ("iloveyou1234567", "too common"),
        ("passwort12345!", "too common"),
        ("changeme1234", "too common"),
        ("administrator1", "too common"),
        ("Summer2026!!!", "too common"),
        ("password" * 9 + "p", "too common"),
    ],
)
def test_weak_passwords_are_refused_with_a_sentence(password: str, sentence: str) -> None:
    with pytest.raises(WeakPasswordError, match=sentence) as refused:
        check_rules(password, **ADA)
    assert not password or len(password) < 5 or password not in str(refused.value)


@pytest.mark.parametrize(
    "password",
    [
        "twelve chars",
        PASSWORD,
        "пароль из слов",
        "\ud800 lone surrogate",
        "a\x00b null bytes",
        "gx7!kpwq29zt",
        "tall green lamp seven",
        "four words, " * 80,
    ],
)
async def test_all_else_is_taken_and_recognised(password: str, passwords: Passwords) -> None:
    hashed = await passwords.hash(password, email="a@b.example", name="???")
    assert await passwords.verify(password, hashed.encoded)
    assert not await passwords.verify(password + "x", hashed.encoded)


async def test_the_usual_costs_are_those_that_owasp_names(passwords: Passwords) -> None:
    usual = Passwords()
    hashed = await usual.hash(PASSWORD, **ADA)
    assert hashed.encoded.startswith("$argon2id$v=19$m=47104,t=1,p=1$")
    assert await usual.verify(PASSWORD, hashed.encoded)
    assert passwords.needs_renewal(hashed.encoded)
    assert not usual.needs_renewal(hashed.encoded)
    usual.close()


async def test_equal_characters_are_equal_however_typed(passwords: Passwords) -> None:
    hashed = await passwords.hash("caf\u00e9 caf\u00e9 noir", **ADA)
    assert await passwords.verify("cafe\u0301 cafe\u0301 noir", hashed.encoded)


async def test_no_password_fits_nobodys_hash(passwords: Passwords) -> None:
    assert not await passwords.verify(PASSWORD, None)
    assert not await passwords.verify("", None)


async def test_a_hash_that_is_none_fits_nothing(passwords: Passwords) -> None:
    assert not await passwords.verify(PASSWORD, "$argon2id$broken")


async def test_the_loop_goes_on_while_hashing() -> None:
    usual = Passwords(at_once=1)
    hashing = asyncio.create_task(usual.hash(PASSWORD, **ADA))
    turns = 0
    while not hashing.done():
        await asyncio.sleep(0)
        turns += 1
    await hashing
    assert turns > 10
    usual.close()


async def test_a_hash_is_not_told_by_its_repr(passwords: Passwords) -> None:
    hashed = await passwords.hash(PASSWORD, **ADA)
    assert "argon2" not in repr(hashed)
