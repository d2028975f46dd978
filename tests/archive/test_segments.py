"""Segments on a real disk: rotation, durability, and what is done with what the dead left."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from messor.archive import segments, warc
from messor.archive.segments import Place, SegmentWriter, read_record, seal_abandoned
from messor.errors import UnavailableError
from messor.store.database import Database

RECORD = warc.response("http://one.test/", 200, "OK", (), body=b"body" * 50)


ENDED, ALIVE = 1, 2  # worker leases


@pytest.fixture(autouse=True)
async def leases(dsn: str) -> None:
    """One lease that has ended, one that has not."""
    async with Database(dsn, pool_size=1) as database:
        for ended in ("messor.clock()", "NULL"):
            await database.fetch(
                f"""INSERT INTO messor.worker_leases (name, expires_at, ended_at)
                    VALUES ('w', messor.clock() + interval '1 h', {ended})"""
            )


def writer(
    folder: Path,
    database: Database,
    name: str = "w",
    *,
    limit: int = 10**9,
    worker_id: int = ALIVE,
) -> SegmentWriter:
    return SegmentWriter(
        folder, database, worker_id=worker_id, name=name, limit=limit, software="Messor/1"
    )


async def commit(database: Database, place: Place, page_id: int = 1) -> None:
    """A snapshot row that points at a record."""
    await database.fetch(
        """INSERT INTO messor.page_snapshots (page_id, content_hash, data_hash, raw_hash,
             reader_version, segment_id, segment_offset, segment_length, size, status_code,
             crawled_at)
           VALUES ($1, '', '', '', 1, $2, $3, $4, 0, 200, messor.clock())""",
        page_id,
        place.segment_id,
        place.offset,
        place.length,
    )


async def segment_rows(database: Database) -> Sequence[asyncpg.Record]:
    return await database.fetch("SELECT * FROM messor.segments ORDER BY id")


async def path_of(database: Database, folder: Path, place: Place) -> Path:
    name = await database.fetchval(
        "SELECT name FROM messor.segments WHERE id = $1", place.segment_id
    )
    return folder / str(name)


async def test_a_record_is_on_disk_after_the_sync(database: Database, tmp_path: Path) -> None:
    archive = writer(tmp_path, database)
    await archive.ready()
    place = archive.append(RECORD)
    path = await path_of(database, tmp_path, place)
    assert path.stat().st_size == 0
    archive.sync()
    name = str(path.relative_to(tmp_path))
    assert read_record(tmp_path, name, place.offset, place.length) == RECORD
    await archive.seal()
    (row,) = await segment_rows(database)
    assert (row["state"], row["bytes"]) == ("sealed", path.stat().st_size)


async def test_bytes_are_written_before_they_are_synced(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = writer(tmp_path, database)
    await archive.ready()
    archive.append(RECORD)
    acts: list[str] = []
    write, sync_data = os.write, segments._sync_data

    def note_write(file: int, data: bytes) -> int:
        acts.append("write")
        return write(file, data)

    def note_sync(file: int) -> None:
        acts.append("sync")
        sync_data(file)

    monkeypatch.setattr(os, "write", note_write)
    monkeypatch.setattr(segments, "_sync_data", note_sync)
    archive.sync()
    archive.sync()  # nothing gathered: the disk is left alone
    assert acts == ["write", "sync"]
    archive.abandon()


async def test_short_writes_are_continued(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = writer(tmp_path, database)
    await archive.ready()
    place = archive.append(RECORD)
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    archive.sync()
    path = await path_of(database, tmp_path, place)
    assert path.read_bytes()[place.offset :] == RECORD
    archive.abandon()


async def test_a_full_segment_is_sealed_and_the_next_begun(
    database: Database, tmp_path: Path
) -> None:
    archive = writer(tmp_path, database, limit=len(RECORD) * 2)
    places = []
    for _ in range(6):
        await archive.ready()
        places.append(archive.append(RECORD))
    await archive.seal()
    rows = await segment_rows(database)
    assert len(rows) > 1
    assert {row["state"] for row in rows} == {"sealed"}
    for place in places:
        path = await path_of(database, tmp_path, place)
        data = path.read_bytes()[place.offset : place.offset + place.length]
        assert gzip.decompress(data) == gzip.decompress(RECORD)


async def test_a_torn_tail_of_a_dead_writer_is_cut_off(database: Database, tmp_path: Path) -> None:
    dead = writer(tmp_path, database, worker_id=ENDED)
    await dead.ready()
    kept, torn = dead.append(RECORD), dead.append(RECORD)
    dead.sync()
    await commit(database, kept)
    path = await path_of(database, tmp_path, kept)
    os.truncate(path, torn.offset + 11)
    dead.abandon()
    assert await seal_abandoned(tmp_path, database) == 1
    assert path.stat().st_size == kept.offset + kept.length
    (row,) = await segment_rows(database)
    assert (row["state"], row["bytes"]) == ("sealed", kept.offset + kept.length)
    assert await seal_abandoned(tmp_path, database) == 0


@pytest.mark.parametrize("worker_id", [ALIVE, ENDED])
async def test_a_segment_that_is_being_written_is_left_alone(
    database: Database, tmp_path: Path, worker_id: int
) -> None:
    alive = writer(tmp_path, database, worker_id=worker_id)
    await alive.ready()
    place = alive.append(RECORD)
    alive.sync()
    assert await seal_abandoned(tmp_path, database) == 0
    assert (await path_of(database, tmp_path, place)).stat().st_size == place.offset + place.length
    await alive.seal()


async def test_a_segment_of_a_lease_that_may_still_commit_is_left_alone(
    database: Database, tmp_path: Path
) -> None:
    """Its process may be dead and its last COMMIT still on the way."""
    dead = writer(tmp_path, database, worker_id=ALIVE)
    await dead.ready()
    place = dead.append(RECORD)
    dead.sync()
    dead.abandon()
    assert await seal_abandoned(tmp_path, database) == 0
    assert (await path_of(database, tmp_path, place)).stat().st_size == place.offset + place.length


async def test_a_segment_that_is_elsewhere_is_left_alone(
    database: Database, tmp_path: Path
) -> None:
    await database.fetch(
        "INSERT INTO messor.segments (name, worker_id) VALUES ('another/machine.warc.gz', 1)"
    )
    assert await seal_abandoned(tmp_path, database) == 0
    assert (await segment_rows(database))[0]["state"] == "open"


class Interleaved(Database):
    """A database that lets something happen right after the abandoned were listed."""

    async def fetch(self, sql: str, *args: Any) -> Sequence[asyncpg.Record]:
        rows = await super().fetch(sql, *args)
        if sql == segments.ABANDONED:
            await self.meanwhile()
        return rows

    async def meanwhile(self) -> None:
        raise NotImplementedError


async def test_a_writer_that_seals_meanwhile_loses_nothing(dsn: str, tmp_path: Path) -> None:
    async with Interleaved(dsn) as database:
        archive = writer(tmp_path, database)
        await archive.ready()
        place = archive.append(RECORD)

        async def finish() -> None:
            archive.sync()
            await commit(database, place)
            await archive.seal()

        database.meanwhile = finish  # type: ignore[method-assign]
        await seal_abandoned(tmp_path, database)
        path = await path_of(database, tmp_path, place)
        assert path.stat().st_size == place.offset + place.length


class Busy(Database):
    """A database whose answers take so long that a visit appends a record meanwhile."""

    async def meanwhile(self, sql: str) -> None:
        """Replaced by the test."""

    async def fetch(self, sql: str, *args: Any) -> Sequence[asyncpg.Record]:
        await self.meanwhile(sql)
        return await super().fetch(sql, *args)

    async def fetchval(self, sql: str, *args: Any) -> Any:
        await self.meanwhile(sql)
        return await super().fetchval(sql, *args)


@pytest.mark.parametrize("moment", [segments.SEAL, segments.OPEN], ids=["seal", "open"])
async def test_a_record_that_comes_while_segments_change_is_kept_or_refused(
    dsn: str, tmp_path: Path, moment: str
) -> None:
    async with Busy(dsn) as database:
        archive = writer(tmp_path, database, limit=1)
        await archive.ready()
        places = [archive.append(RECORD)]

        async def append(sql: str) -> None:
            if sql == moment:
                with contextlib.suppress(UnavailableError):
                    places.append(archive.append(RECORD))

        database.meanwhile = append  # type: ignore[method-assign]
        await archive.ready()
        archive.sync()
        for place in places:
            name = str((await path_of(database, tmp_path, place)).relative_to(tmp_path))
            assert read_record(tmp_path, name, place.offset, place.length) == RECORD
        archive.abandon()


async def test_two_cleaners_at_once_agree(database: Database, tmp_path: Path) -> None:
    for number in range(4):
        dead = writer(tmp_path, database, name=f"dead{number}", worker_id=ENDED)
        await dead.ready()
        dead.sync()
        dead.abandon()
    sealed = await asyncio.gather(*(seal_abandoned(tmp_path, database) for _ in range(3)))
    assert sum(sealed) >= 4
    assert {row["state"] for row in await segment_rows(database)} == {"sealed"}


async def test_a_full_disk_is_one_sentence_and_nothing_is_believed_written(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = writer(tmp_path, database)
    await archive.ready()
    archive.append(RECORD)

    def full(_: int, __: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(UnavailableError, match="cannot be written"):
            archive.sync()
    # Whoever asks again must not hear that all is well: the record never reached the disk.
    with pytest.raises(UnavailableError):
        archive.sync()
    archive.abandon()


async def test_a_record_that_the_disk_took_half_of_is_cut_off(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies in the archive ends with a whole record, also while its writer lives on."""
    archive = writer(tmp_path, database)
    await archive.ready()
    archive.append(RECORD)
    archive.sync()
    (row,) = await segment_rows(database)
    file = tmp_path / row["name"]
    whole = file.stat().st_size
    archive.append(RECORD)
    write = os.write

    def half(descriptor: int, data: memoryview) -> int:
        if len(data) < len(RECORD):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[: len(data) // 2])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(UnavailableError, match="cannot be written"):
            archive.sync()
    assert file.stat().st_size == whole
    archive.abandon()


async def test_a_folder_that_cannot_be_written_is_one_sentence(
    database: Database, tmp_path: Path
) -> None:
    (tmp_path / "archive").write_text("a file where the folder should be")
    with pytest.raises(UnavailableError, match="cannot be written"):
        await writer(tmp_path / "archive", database).ready()


async def test_a_writer_without_a_segment_takes_nothing(database: Database, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError):
        writer(tmp_path, database).append(RECORD)
