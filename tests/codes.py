"""Codes of an authenticator app, at a time that does not run on: no test crosses a time step."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from messor.access import second_factor
from messor.store.database import Database

EPOCH = "extract(epoch FROM messor.clock())::bigint"
# The middle of a step, moved by the offset of the database's clock alone.
STANDING = "extract(epoch FROM messor.clock() - clock_timestamp())::bigint + 1800000015"


def stop_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have codes judged at the standing time."""
    assert EPOCH in second_factor.HELD
    monkeypatch.setattr(second_factor, "HELD", second_factor.HELD.replace(EPOCH, STANDING))


async def code_of(database: Database, secret: str, *, steps: int = 0) -> str:
    """What an authenticator app shows at the standing time, or steps from it."""
    now = await database.fetchval(f"SELECT {STANDING}")
    app = TOTP(base64.b32decode(secret), 6, SHA1(), 30)
    return app.generate(now + steps * 30).decode()
