"""Rotation of the key that seals secrets: nothing is lost, whenever it is killed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from messor.access import members, second_factor
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role
from messor.errors import ConflictError
from messor.fetch.guard import AddressGuard
from messor.fetch.proxies import registry as proxies
from messor.fetch.proxies.proxy import understand
from messor.fetch.proxies.seal import KEY_FILE, Seal
from messor.ops import key_rotation
from messor.ops.key_rotation import SEALED, rotate_key
from messor.ops.webhooks import registry as webhooks
from messor.settings import AllowedNetworks
from messor.store.database import Connection, Database
from tests.fetch.test_proxies import TESTER, add

# Columns of bytes that hold no sealed secret: hashes and bodies.
PLAIN = {
    "body", "document", "fingerprint", "image", "words", "public_key",
    "commitments", "head", "previous", "salts", "signature",
}  # fmt: skip
URL = "http://ant@proxy.example:3128"


class KilledError(Exception):
    """The process ends here."""


async def no_wait(_: float) -> None:
    """Nobody writes meanwhile."""


async def rotate(database: Database, seal: Seal) -> key_rotation.Rotation:
    return await rotate_key(database, seal, actor=TESTER, wait=no_wait)


async def add_webhook(database: Database, seal: Seal) -> tuple[UUID, str]:
    async with database.transaction() as connection:
        made, secret = await webhooks.add(
            connection,
            seal,
            AddressGuard(AllowedNetworks()),
            url="https://example.com/hook",
            types=[],
            may_audit=True,
            actor=TESTER,
        )
    return made.id, secret


async def secrets_of(database: Database, seal: Seal) -> list[str]:
    """Every sealed secret, opened."""
    found = []
    for sealed in SEALED:
        rows = await database.fetch(
            f"SELECT {sealed.id} AS id, {sealed.columns}, {sealed.column} AS sealed"
            f" FROM messor.{sealed.table}"
        )
        found += [seal.open(bytes(row["sealed"]), sealed.owner(row)) for row in rows]
    return found


async def test_no_sealed_column_is_forgotten(database: Database) -> None:
    rows = await database.fetch(
        """SELECT c.relname::text AS table, a.attname::text AS column FROM pg_attribute a
             JOIN pg_class c ON c.oid = a.attrelid
            WHERE c.relnamespace = 'messor'::regnamespace AND c.relkind IN ('r', 'p')
              AND NOT c.relispartition AND a.atttypid = 'bytea'::regtype AND NOT a.attisdropped"""
    )
    others = {
        (row["table"], row["column"])
        for row in rows
        if not row["column"].endswith("hash") and row["column"] not in PLAIN
    }
    assert others == {(sealed.table, sealed.column) for sealed in SEALED}


async def test_everything_is_sealed_under_another_key(database: Database, tmp_path: Path) -> None:
    seal, running = Seal(tmp_path), Seal(tmp_path)
    await add(database, seal, URL, "hunter2")
    await add(database, seal, "http://free.example:3128")
    _, secret = await add_webhook(database, seal)
    old = (tmp_path / KEY_FILE).read_text()
    assert await secrets_of_proxies(database, running) == ["hunter2"]

    done = await rotate(database, seal)
    assert (done.resealed, done.unreadable) == (2, ())
    new = (tmp_path / KEY_FILE).read_text()
    assert new != old
    assert len(new.split()) == 1
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600
    for reader in (seal, running, Seal(tmp_path)):
        assert await secrets_of_proxies(database, reader) == ["hunter2"]
        assert secret in await opened_webhooks(database, reader)
    event = await database.fetchrow(
        "SELECT actor FROM messor.events WHERE type = 'secrets.rotated'"
    )
    assert event is not None
    # What a running process seals now is sealed under the new key, too.
    await add(database, running, "http://bee@proxy.example:3128", "hunter3")
    assert len(await secrets_of_proxies(database, Seal(tmp_path))) == 2


async def test_second_factors_go_on_working(database: Database, tmp_path: Path) -> None:
    seal = Seal(tmp_path)
    async with database.transaction() as connection:
        ada = await members.create(
            connection, email="ada@example.org", name="Ada", role=Role.ADMIN, by=LOCAL_ADMIN
        )
        begun = await second_factor.begin(connection, seal, ada)
    assert (await rotate(database, seal)).resealed == 1
    async with database.transaction() as connection:
        assert await second_factor.pending(connection, Seal(tmp_path), ada) == begun


async def secrets_of_proxies(database: Database, seal: Seal) -> list[str | None]:
    return [c.proxy.password for c in await proxies.active(database, seal) if c.proxy.password]


async def opened_webhooks(database: Database, seal: Seal) -> list[str]:
    rows = await database.fetch("SELECT id, secret FROM messor.webhooks")
    return [seal.open(bytes(row["secret"]), str(row["id"])) for row in rows]


@pytest.mark.parametrize("killed_at", ["_reseal", "_reseal_table", "record", "_finish"])
async def test_killed_at_any_point_nothing_is_lost_and_the_next_run_ends_it(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_at: str
) -> None:
    seal, running = Seal(tmp_path), Seal(tmp_path)
    await add(database, seal, URL, "hunter2")
    _, secret = await add_webhook(database, seal)
    first = (tmp_path / KEY_FILE).read_text()
    assert await secrets_of_proxies(database, running) == ["hunter2"]

    def die(*_: object, **__: object) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(key_rotation, killed_at, die)
        with pytest.raises(KilledError):
            await rotate(database, seal)
    for reader in (running, Seal(tmp_path)):
        assert await secrets_of_proxies(database, reader) == ["hunter2"]
        assert await opened_webhooks(database, reader) == [secret]

    await rotate(database, Seal(tmp_path))
    assert first.strip() not in (tmp_path / KEY_FILE).read_text()
    assert len((tmp_path / KEY_FILE).read_text().split()) == 1
    for reader in (running, Seal(tmp_path)):
        assert await secrets_of_proxies(database, reader) == ["hunter2"]
        assert await opened_webhooks(database, reader) == [secret]


async def test_what_is_being_added_meanwhile_is_sealed_anew_too(
    database: Database, tmp_path: Path
) -> None:
    seal, running = Seal(tmp_path), Seal(tmp_path)
    await add(database, seal, URL, "hunter2")
    sealed, written = asyncio.Event(), asyncio.Event()

    async def add_slowly(connection: Connection) -> None:
        endpoint, _ = understand("http://bee@proxy.example:3128")
        await proxies.add(connection, running, endpoint, "hunter3", actor=TESTER)
        sealed.set()
        await written.wait()

    async def slow() -> None:
        async with database.transaction() as connection:
            await add_slowly(connection)

    adding = asyncio.create_task(slow())
    await sealed.wait()
    rotating = asyncio.create_task(rotate(database, seal))
    await asyncio.sleep(0.2)
    assert not rotating.done()  # it waits for the one who writes
    written.set()
    await adding
    assert (await rotating).resealed == 2
    assert sorted(map(str, await secrets_of_proxies(database, Seal(tmp_path)))) == [
        "hunter2",
        "hunter3",
    ]


async def test_an_operators_secret_is_changed_by_naming_the_former_one(
    database: Database, tmp_path: Path
) -> None:
    await add(database, Seal(tmp_path), URL, "hunter2")
    from_file = Seal(tmp_path, "first")  # the file opens what it sealed
    assert (await rotate(database, from_file)).resealed == 1
    (tmp_path / KEY_FILE).unlink()
    assert await secrets_of_proxies(database, Seal(tmp_path, "first")) == ["hunter2"]
    assert (await rotate(database, Seal(tmp_path, "second", "first"))).resealed == 1
    assert await secrets_of_proxies(database, Seal(tmp_path, "second")) == ["hunter2"]
    assert (await rotate(database, Seal(tmp_path, "second"))).resealed == 0


async def test_a_secret_that_no_key_opens_is_named(database: Database, tmp_path: Path) -> None:
    await add(database, Seal(tmp_path / "lost"), URL, "hunter2")
    await add(database, Seal(tmp_path), "http://bee@proxy.example:3128", "hunter3")
    done = await rotate(database, Seal(tmp_path))
    assert (done.resealed, done.unreadable) == (1, (f"proxies: {URL}",))


async def test_without_a_key_there_is_nothing_to_rotate(database: Database, tmp_path: Path) -> None:
    with pytest.raises(ConflictError, match="There are no secrets yet"):
        await rotate(database, Seal(tmp_path))
    assert not Seal(tmp_path).file.exists()
