"""Keys are sealed, rotated without a gap, and forgotten when they sign no more."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from messor.errors import ConflictError
from messor.fetch.identity import keys
from messor.fetch.identity.signer import LIFETIME_SECONDS
from messor.fetch.proxies.seal import Seal
from messor.ops.key_rotation import rotate_key
from messor.store.database import Database
from tests.crawling import TESTER, later

SWITCH = timedelta(seconds=keys.DIRECTORY_SECONDS)


async def test_the_first_key_is_made_once_and_stored_sealed(
    database: Database, tmp_path: Path
) -> None:
    seal = Seal(tmp_path)
    assert await keys.signing_key(database, seal) is None
    await keys.ensure(database, seal)
    await keys.ensure(database, seal)
    (key,) = await keys.all_keys(database)
    signing = await keys.signing_key(database, seal)
    assert signing is not None
    assert signing.name == key.thumbprint
    sealed = await database.fetchval("SELECT sealed_key FROM messor.identity_keys")
    assert signing.private.private_bytes_raw() not in bytes(sealed)


async def test_rotation_leaves_no_gap(database: Database, dsn: str, tmp_path: Path) -> None:
    seal = Seal(tmp_path)
    await keys.ensure(database, seal)
    (former,) = await keys.all_keys(database)
    async with database.transaction() as connection:
        await keys.rotate(connection, seal, actor=TESTER)
    newer = (await keys.all_keys(database))[0]

    async def after(by: timedelta) -> tuple[str | None, set[str]]:
        """Who signs, and which keys the directory names."""
        async with Database(later(dsn, by)) as moved:
            signing = await keys.signing_key(moved, seal)
            names = {key.thumbprint for key in await keys.published(moved)}
            return None if signing is None else signing.name, names

    both = {former.thumbprint, newer.thumbprint}
    assert await after(timedelta(0)) == (former.thumbprint, both)
    assert await after(SWITCH - timedelta(seconds=5)) == (former.thumbprint, both)
    assert await after(SWITCH + timedelta(seconds=1)) == (newer.thumbprint, both)
    # A worker that had not looked yet signed with the former key; that signature is still valid.
    slowest = SWITCH + timedelta(seconds=keys.RELOAD_SECONDS + LIFETIME_SECONDS)
    assert await after(slowest) == (newer.thumbprint, both)
    assert await after(SWITCH + keys.OVERLAP + timedelta(seconds=5)) == (
        newer.thumbprint,
        {newer.thumbprint},
    )


async def test_a_key_waits_for_the_one_before(database: Database, tmp_path: Path) -> None:
    seal = Seal(tmp_path)
    await keys.ensure(database, seal)
    async with database.transaction() as connection:
        await keys.rotate(connection, seal, actor=TESTER)
    with pytest.raises(ConflictError, match="signs from"):
        async with database.transaction() as connection:
            await keys.rotate(connection, seal, actor=TESTER)


async def test_a_compromised_key_is_withdrawn_at_once(database: Database, tmp_path: Path) -> None:
    seal = Seal(tmp_path)
    await keys.ensure(database, seal)
    async with database.transaction() as connection:
        await keys.rotate(connection, seal, actor=TESTER)
        await keys.rotate(connection, seal, actor=TESTER, at_once=True)
    found = await keys.all_keys(database)
    assert [key.is_published for key in found] == [True, False, False]
    assert found[0].is_active
    left = "SELECT count(*) FROM messor.identity_keys WHERE sealed_key IS NOT NULL"
    assert await database.fetchval(left) == 1


async def test_the_key_is_sealed_again_with_the_others(database: Database, tmp_path: Path) -> None:
    seal = Seal(tmp_path)
    await keys.ensure(database, seal)
    before = await keys.signing_key(database, seal)

    async def at_once(_: float) -> None:
        return None

    rotation = await rotate_key(database, seal, actor=TESTER, wait=at_once)
    assert (rotation.resealed, rotation.unreadable) == (1, ())
    after = await keys.signing_key(database, seal)
    assert before is not None
    assert after is not None
    assert before.name == after.name
