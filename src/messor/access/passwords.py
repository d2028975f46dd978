"""Passwords: the rules for new ones, and Argon2id, off the event loop with limited concurrency."""

from __future__ import annotations

import asyncio
import base64
import secrets
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import argon2
from argon2.exceptions import InvalidHashError, VerificationError

from messor.access.errors import WeakPasswordError
from messor.access.password_strength import check_guessing

MIN_LENGTH = 12
MAX_LENGTH = 1024
_MIN_DISTINCT = 5  # distinct characters; fewer is a key held down
_SALT = 16
_HASH = 32

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class PasswordHash:
    """A hashed password; created by `Passwords.hash` only."""

    encoded: str = field(repr=False)


def check_rules(password: str, *, email: str, name: str) -> None:
    """Reject a password that is short, common, or derived from the account's own data."""
    text = _normal(password)
    if len(text) < MIN_LENGTH:
        raise WeakPasswordError(
            f"A password needs at least {MIN_LENGTH} characters; a few words in a row are easy to remember."
        )
    if len(text) > MAX_LENGTH:
        raise WeakPasswordError(f"A password may have at most {MAX_LENGTH} characters.")
    if len(set(text.casefold())) < _MIN_DISTINCT:
        raise WeakPasswordError("The password uses too few different characters; add others.")
    check_guessing(text, email=email, name=name)


class Passwords:
    """Hashes and verifies on its own threads, so that many concurrent logins cannot exhaust memory.

    The default costs are the first that OWASP's cheat sheet on password storage names.
    """

    def __init__(
        self, *, memory_kib: int = 47104, passes: int = 1, lanes: int = 1, at_once: int = 2
    ) -> None:
        self._argon = argon2.PasswordHasher(
            time_cost=passes,
            memory_cost=memory_kib,
            parallelism=lanes,
            hash_len=_HASH,
            salt_len=_SALT,
            type=argon2.Type.ID,
        )
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="passwords")
        # A dummy hash: verifying against it costs the same and never succeeds.
        self._dummy_hash = (
            f"$argon2id$v=19$m={memory_kib},t={passes},p={lanes}"
            f"${_base64(secrets.token_bytes(_SALT))}${_base64(secrets.token_bytes(_HASH))}"
        )

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def hash(self, password: str, *, email: str, name: str) -> PasswordHash:
        """Check the rules, then hash."""
        await self._run(partial(check_rules, password, email=email, name=name))
        return await self.renew(password)

    async def renew(self, password: str) -> PasswordHash:
        """Rehash a password that was accepted before, with the current costs."""
        return PasswordHash(await self._run(self._argon.hash, _bytes(password)))

    async def verify(self, password: str, encoded: str | None) -> bool:
        """Whether the password matches; without a hash it takes as long and does not match."""
        fits = await self._run(self._verify, encoded or self._dummy_hash, _bytes(password))
        return fits and encoded is not None

    def needs_renewal(self, encoded: str) -> bool:
        """Whether it was hashed with other costs than the current ones."""
        return self._argon.check_needs_rehash(encoded)

    def _verify(self, encoded: str, password: bytes) -> bool:
        try:
            return self._argon.verify(encoded, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _run(self, work: Callable[..., Result], *args: object) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)


def _normal(password: str) -> str:
    """Normalise, so that equal characters from different keyboards match (NIST SP 800-63B,
    3.1.1.2).
    """
    return unicodedata.normalize("NFKC", password[: MAX_LENGTH * 2])


def _bytes(password: str) -> bytes:
    return _normal(password).encode("utf-8", "surrogatepass")


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode().rstrip("=")
