"""The second factor: codes of an authenticator app (TOTP, RFC 6238), and recovery codes.

A code is valid once: the newest time step used is stored. Secrets are encrypted with the
installation's key, which is passed in; of recovery codes only a hash is stored.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from messor.access.errors import WrongCredentialsError
from messor.access.members import Member
from messor.access.principal import Principal, authorise_for
from messor.access.secret import fingerprint
from messor.errors import ConflictError, NotFoundError
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database

STEP = 30  # seconds
DRIFT = 1  # steps that a phone's clock may be off, in either direction
DIGITS = 6
SECRET_BYTES = 20  # as RFC 4226 recommends
RECOVERY_CODES = 10
ISSUER = "Messor"
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # without letters that look like digits

BEGIN = """
INSERT INTO messor.second_factors (member_id, sealed_secret) VALUES ($1, $2)
ON CONFLICT (member_id) DO UPDATE SET sealed_secret = excluded.sealed_secret
 WHERE second_factors.confirmed_at IS NULL
RETURNING member_id
"""
HELD = """
SELECT sealed_secret, confirmed_at, last_step, extract(epoch FROM messor.clock())::bigint AS now
  FROM messor.second_factors WHERE member_id = $1 FOR UPDATE
"""
CONFIRM = "UPDATE messor.second_factors SET confirmed_at = messor.clock() WHERE member_id = $1"
USED_STEP = "UPDATE messor.second_factors SET last_step = $2 WHERE member_id = $1"
NEW_CODES = """
INSERT INTO messor.recovery_codes (member_id, code_hash) SELECT $1, unnest($2::bytea[])
"""
USE_RECOVERY = """
UPDATE messor.recovery_codes SET used_at = messor.clock()
 WHERE member_id = $1 AND code_hash = $2 AND used_at IS NULL RETURNING 1
"""
STATUS = """
SELECT (SELECT count(*) FROM messor.recovery_codes c
         WHERE c.member_id = f.member_id AND c.used_at IS NULL)
  FROM messor.second_factors f WHERE f.member_id = $1 AND f.confirmed_at IS NOT NULL
"""
WHO = "SELECT member_id FROM messor.second_factors WHERE confirmed_at IS NOT NULL"
REMOVE = "DELETE FROM messor.second_factors WHERE member_id = $1 RETURNING confirmed_at"


class Sealing(Protocol):
    """Encrypts secrets that are needed again."""

    def close(self, text: str, owner: str) -> bytes: ...
    def open(self, sealed: bytes, owner: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What an authenticator app needs, shown during setup."""

    secret: str  # base32, to be typed where there is no camera
    uri: str  # otpauth://, for a QR code


async def recovery_codes_left(source: Connection | Database, member_id: UUID) -> int | None:
    """How many recovery codes are left; None without a second factor."""
    left: int | None = await source.fetchval(STATUS, member_id)
    return left


async def who_have_one(source: Connection | Database) -> set[UUID]:
    """The members whose second factor is on."""
    return {row["member_id"] for row in await source.fetch(WHO)}


async def begin(connection: Connection, seal: Sealing, member: Member) -> Enrolment:
    """Create a new secret, which takes effect once a code of it is confirmed."""
    secret = base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()
    if await connection.fetchval(BEGIN, member.id, seal.close(secret, owner_of(member.id))) is None:
        raise ConflictError("Two-factor login is already on. Turn it off first.")
    return _enrolment(secret, member.email)


async def confirm(
    connection: Connection, seal: Sealing, member: Member, code: str, *, by: Principal
) -> list[str]:
    """Turn it on with a first code; returns the recovery codes, which are shown only once."""
    row = await connection.fetchrow(HELD, member.id)
    if row is None:
        raise NotFoundError("Start the setup of two-factor login first.")
    if row["confirmed_at"] is not None:
        raise ConflictError("Two-factor login is already on.")
    secret = seal.open(row["sealed_secret"], owner_of(member.id))
    step = _step_of(secret, code, row["now"], after=row["last_step"])
    if step is None:
        raise WrongCredentialsError(
            "This code is wrong. Check that the phone's clock is right, and enter the newest code."
        )
    codes = [_recovery_code() for _ in range(RECOVERY_CODES)]
    await connection.execute(CONFIRM, member.id)
    await connection.execute(USED_STEP, member.id, step)
    await connection.execute(NEW_CODES, member.id, [fingerprint(_bare(one)) for one in codes])
    await _record_event(connection, "member.two_factor_on", by, member.id)
    return codes


async def pending(connection: Connection, seal: Sealing, member: Member) -> Enrolment | None:
    """The enrolment that waits for its first code."""
    row = await connection.fetchrow(HELD, member.id)
    if row is None or row["confirmed_at"] is not None:
        return None
    return _enrolment(seal.open(row["sealed_secret"], owner_of(member.id)), member.email)


async def accept(connection: Connection, seal: Sealing, member_id: UUID, code: str) -> bool:
    """Whether a code of the app, or a recovery code, is valid; that uses it up."""
    row = await connection.fetchrow(HELD, member_id)
    if row is None or row["confirmed_at"] is None:
        return False
    secret = seal.open(row["sealed_secret"], owner_of(member_id))
    step = _step_of(secret, code, row["now"], after=row["last_step"])
    if step is not None:
        await connection.execute(USED_STEP, member_id, step)
        return True
    return bool(await connection.fetchval(USE_RECOVERY, member_id, fingerprint(_bare(code))))


async def remove(connection: Connection, member: Member, *, by: Principal) -> bool:
    """Turn it off; a member's own request requires a code, an admin can do it for someone who lost
    it.
    """
    authorise_for(by, member.id)
    if await connection.fetchval(REMOVE, member.id) is None:
        return False
    await _record_event(connection, "member.two_factor_off", by, member.id)
    return True


def _step_of(secret: str, code: str, now: int, *, after: int) -> int | None:
    """The time step of this code, if newer than the last one used."""
    digits = _bare(code)
    if len(digits) != DIGITS or not digits.isascii() or not digits.isdigit():
        return None
    totp = _totp(secret)
    for step in range(now // STEP - DRIFT, now // STEP + DRIFT + 1):
        fits = hmac.compare_digest(totp.generate(step * STEP), digits.encode())
        if fits and step > after:
            return step
    return None


def _totp(secret: str) -> TOTP:
    # SHA-1 is what authenticator apps support; in HMAC it is not broken (RFC 6238 1.2).
    return TOTP(base64.b32decode(secret), DIGITS, SHA1(), STEP)  # noqa: S303


def _enrolment(secret: str, email: str) -> Enrolment:
    return Enrolment(secret, _totp(secret).get_provisioning_uri(email, ISSUER))


def _recovery_code() -> str:
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(12))
    return f"{letters[:4]}-{letters[4:8]}-{letters[8:]}"


def _bare(code: str) -> str:
    """Normalise typed codes: without blanks, hyphens or capitals."""
    return "".join(code.split()).replace("-", "").lower()


def owner_of(member_id: UUID) -> str:
    """The owner that an encrypted secret is bound to."""
    return f"second factor of member {member_id}"


async def _record_event(connection: Connection, event: str, by: Principal, member_id: UUID) -> None:
    await record(connection, [Event(event, by.actor, data={"member": str(member_id)})])
