"""Backups: what is put back equals what was there, whatever happened meanwhile; what is damaged is refused."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from messor.archive import garbage
from messor.archive.storage import Archive
from messor.errors import AuditFailedError, UnavailableError, UsageError
from messor.governance import erasure
from messor.ops.archive_audit import audit_sample
from messor.ops.backup import manifest as manifests
from messor.ops.backup.create import Installation, counted, create, prune
from messor.ops.backup.manifest import Manifest
from messor.ops.backup.place import BackupPlace, place_at
from messor.ops.backup.restore import restore
from messor.ops.backup.sealed_keys import seal, unseal
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import open_session
from tests.archive import stores
from tests.crawling import admit, at_work, crawl, eventually
from tests.little_web import LittleWeb, page
from tests.template_server import run_sql, with_database

PAGES = 30
FETCHED = "SELECT count(*) FROM messor.page_snapshots"
HASHES = """
SELECT encode(sha256(string_agg(encode(raw_hash, 'hex') || page_id, ',' ORDER BY id)::bytea), 'hex')
  FROM messor.page_snapshots
"""


def shop(folder: Path) -> LittleWeb:
    links = [f"/{n}" for n in range(PAGES)]
    return LittleWeb(
        folder, {"shop.test": {"/": page("start", *links), **{link: page(link) for link in links}}}
    )


def silent(_: str) -> None:
    """Progress that nobody reads."""


async def back_up(database: Database, dsn: str, settings: Settings, place: BackupPlace) -> Manifest:
    return await create(Installation(database, dsn, settings), place, actor="test", progress=silent)


async def crawled(database: Database, settings: Settings) -> None:
    await admit(database, "http://shop.test/")
    await crawl(settings, database)


@pytest.fixture
async def empty_dsn(server_dsn: str, dsn: str) -> AsyncIterator[str]:
    """An empty database to restore into."""
    name = f"{dsn.rpartition('/')[2]}_restored"
    await run_sql(server_dsn, f"CREATE DATABASE {name}")
    yield with_database(server_dsn, name)
    await run_sql(server_dsn, f"DROP DATABASE {name} WITH (FORCE)")


def fresh(settings: Settings, folder: Path, dsn: str | None = None) -> Settings:
    """Another machine: an empty data folder, and an empty database, given or a server's of its own."""
    return settings.model_copy(update={"data_dir": folder, "database_url": dsn})


async def test_what_is_restored_equals_what_was_there(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    async with shop(tmp_path) as web:
        settings = web.settings(backup_passphrase="correct horse")
        await crawled(database, settings)
        (settings.data_dir / "secret.key").write_text("a key\n")
        place = place_at(str(tmp_path / "kept"), settings)
        made = await back_up(database, dsn, settings, place)
        expected, hashes = await counted(database), await database.fetchval(HASHES)
        shutil.rmtree(settings.data_dir)
    assert manifests.faults(place, made) == []
    there = fresh(settings, tmp_path / "new")
    done = await restore(there, place, manifests.newest(place), progress=silent)
    assert done.counts == made.counts
    assert (there.data_dir / "secret.key").read_text() == "a key\n"
    async with open_session(there) as session:
        found = await counted(session.database)
        assert found == expected  # without the event of the backup, with that of the restore
        assert await session.database.fetchval(HASHES) == hashes
        report = await audit_sample(session.database, Archive.of(there), 1000)
    assert (report.is_clean, report.elsewhere) == (True, 0), report.message
    assert report.examined == PAGES + 1
    with pytest.raises(UsageError, match="already has a database"):
        await restore(there, place, made, progress=silent)


async def test_a_backup_of_a_crawl_under_way_is_whole(
    database: Database, dsn: str, empty_dsn: str, tmp_path: Path
) -> None:
    """Pages are flushed while it is made: every row in it has its bytes."""
    async with shop(tmp_path) as web:
        settings = web.settings(flush_pages=1, flush_seconds=0.01)
        await admit(database, "http://shop.test/", delay=0.02)
        place = place_at(str(tmp_path / "kept"), settings)
        async with at_work(settings, database):
            await eventually(lambda: database.fetchval(f"{FETCHED} HAVING count(*) > 3"))
            made = await back_up(database, dsn, settings, place)
            await eventually(
                lambda: database.fetchval(
                    f"{FETCHED} HAVING count(*) > {made.counts['page_snapshots']}"
                )
            )
    assert 3 < made.counts["page_snapshots"] < PAGES + 1, "it must have been made in between"
    there = fresh(settings, tmp_path / "new", empty_dsn)
    await restore(there, place, made, progress=silent)
    async with open_session(there) as session:
        report = await audit_sample(session.database, Archive.of(there), 1000)
    assert (report.is_clean, report.elsewhere) == (True, 0), report.message
    assert report.examined == made.counts["page_snapshots"]


async def test_a_second_backup_copies_only_what_is_new(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    async with shop(tmp_path) as web:
        settings = web.settings()
        place = place_at(str(tmp_path / "kept"), settings)
        await crawled(database, settings)
        first = await back_up(database, dsn, settings, place)
        second = await back_up(database, dsn, settings, place)
        assert second.segments == first.segments
        pieces = place.names("archive/")
        assert len(pieces) == sum(len(each.pieces) for each in first.segments)
        assert await prune(Installation(database, dsn, settings), place, 1) == [first.name]
        assert [each.name for each in manifests.found_at(place)] == [second.name]
        assert place.names("archive/") == pieces  # the second needs them
        assert manifests.faults(place, second) == []
        gone = "SELECT name FROM messor.backups WHERE removed_at IS NOT NULL"
        assert await database.fetchval(gone) == first.name


@pytest.mark.parametrize("harm", ["changed", "cut", "missing"])
async def test_a_damaged_backup_is_refused_before_anything_is_written(
    database: Database, dsn: str, tmp_path: Path, harm: str
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=dsn)
    place = place_at(str(tmp_path / "kept"), settings)
    made = await back_up(database, dsn, settings, place)
    path = tmp_path / "kept" / made.files[0].name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    if harm == "missing":
        path.unlink()
    else:
        path.write_bytes(content if harm == "changed" else content[:-10])
    assert len(manifests.faults(place, made)) == 1
    with pytest.raises(AuditFailedError, match="is damaged"):
        await restore(fresh(settings, tmp_path / "new"), place, made, progress=silent)
    assert not (tmp_path / "new").exists()


async def test_nothing_is_restored_over_what_is_there(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=dsn)
    place = place_at(str(tmp_path / "kept"), settings)
    made = await back_up(database, dsn, settings, place)
    with pytest.raises(UsageError, match="not empty"):
        await restore(settings, place, made, progress=silent)


async def test_a_failed_backup_leaves_none_and_is_noted(
    database: Database, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=dsn)
    place = place_at(str(tmp_path / "kept"), settings)

    def refuse(*_: object) -> None:
        raise UnavailableError("The disk is gone.")

    monkeypatch.setattr("messor.ops.backup.create.copy_segments", refuse)
    with pytest.raises(UnavailableError, match="disk is gone"):
        await back_up(database, dsn, settings, place)
    assert manifests.found_at(place) == []
    with pytest.raises(UsageError, match="no complete backup"):
        manifests.newest(place)
    assert await database.fetchval("SELECT error FROM messor.backups") == "The disk is gone."


async def test_what_was_erased_is_erased_in_what_is_restored(
    database: Database, dsn: str, empty_dsn: str, tmp_path: Path
) -> None:
    """Its bytes are in the older piece; the list of erasures is in the newer dump."""
    async with shop(tmp_path) as web:
        settings = web.settings()
        await crawled(database, settings)
        place = place_at(str(tmp_path / "kept"), settings)
        await back_up(database, dsn, settings, place)
        async with database.transaction() as connection:
            await erasure.erase_url(connection, "http://shop.test/3", actor="t", reason="asked")
        made = await back_up(database, dsn, settings, place)
    there = fresh(settings, tmp_path / "new", empty_dsn)
    assert (await restore(there, place, made, progress=silent)).erased == 1
    bodies = b"".join(path.read_bytes() for path in (there.data_dir / "archive").rglob("*.gz"))
    assert bodies
    async with open_session(there) as session:
        urls = await session.database.fetchval(
            "SELECT count(*) FROM messor.pages WHERE url = 'http://shop.test/3'"
        )
        waiting = await session.database.fetchval(
            "SELECT count(*) FROM messor.blanks WHERE blanked_at IS NULL"
        )
    assert (urls, waiting) == (0, 0)


async def test_a_backup_goes_to_an_object_store_and_comes_back(
    database: Database, dsn: str, empty_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("messor.ops.backup.place.PART_BYTES", 20_000)  # several objects per file
    with stores.moto() as options:
        settings = Settings(
            data_dir=tmp_path / "data",
            database_url=dsn,
            archive_endpoint=options.endpoint,
            archive_key_id=options.key_id,
            archive_secret=SecretStr(options.secret or ""),
        )
        place = place_at(f"{stores.fresh(options).url}/backups", settings)
        made = await back_up(database, dsn, settings, place)
        assert manifests.faults(place, made) == []
        there = fresh(settings, tmp_path / "new", empty_dsn)
        done = await restore(there, place, manifests.newest(place), progress=silent)
    assert done.counts == made.counts


async def test_objects_that_a_backup_refers_to_are_not_deleted(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=dsn)
    place = place_at(str(tmp_path / "kept"), settings)
    await database.fetch(
        "INSERT INTO messor.dead_segments (name, noted_at, delete_after)"
        " VALUES ('before.warc.gz', '2020-01-01', '2020-01-01')"
    )
    made = await back_up(database, dsn, settings, place)
    await database.fetch(
        "INSERT INTO messor.dead_segments (name, delete_after)"
        " VALUES ('file:///nowhere/after.warc.gz', '2020-01-01'), ('file.warc.gz', '2020-01-01')"
    )
    (settings.data_dir / "archive").mkdir(parents=True)
    for name in ("before.warc.gz", "file.warc.gz"):
        (settings.data_dir / "archive" / name).touch()
    names = "SELECT array_agg(name ORDER BY name) FROM messor.dead_segments"
    await garbage.collect(Archive.of(settings), database)
    assert await database.fetchval(names) == ["file:///nowhere/after.warc.gz"]
    await database.fetch("UPDATE messor.backups SET removed_at = messor.clock()")
    assert made.name
    rows = await database.fetch(garbage.DUE, 10)
    assert [row["name"] for row in rows] == ["file:///nowhere/after.warc.gz"]


def test_keys_open_with_their_passphrase_alone() -> None:
    sealed = seal(b"the key", "one")
    assert b"the key" not in sealed
    assert unseal(sealed, "one") == b"the key"
    with pytest.raises(UsageError, match="another MESSOR_BACKUP_PASSPHRASE"):
        unseal(sealed, "two")


async def test_settings_in_a_backup_have_no_secrets(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    settings = Settings(
        data_dir=tmp_path / "data",
        database_url=dsn,
        secret_key=SecretStr("hush-hush"),
        mail_password=SecretStr("psst"),
    )
    place = place_at(str(tmp_path / "kept"), settings)
    made = await back_up(database, dsn, settings, place)
    kept = b"".join(place.read(f"{made.name}/settings.json"))
    assert b"data_dir" in kept
    for secret in (b"hush-hush", b"psst", dsn.rpartition("@")[0].rpartition(":")[2].encode()):
        assert secret not in kept
