"""What every archive must do, on each kind of store: a folder, files, memory, moto and rclone."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from messor.archive import erased_bytes, garbage, relocation, warc
from messor.archive.block_cache import BlockCache
from messor.archive.compaction import compact
from messor.archive.erased_bytes import blank_waiting
from messor.archive.location import is_remote, located
from messor.archive.object_writer import ObjectWriter
from messor.archive.objects import ArchiveAwayError, ObjectStore, StoreOptions
from messor.archive.records import load
from messor.archive.relocation import relocate
from messor.archive.segments import Place, seal_abandoned
from messor.archive.snapshot_content import read_body
from messor.archive.status import status
from messor.archive.storage import Archive
from messor.archive.writer import Writer, open_writer
from messor.errors import NotFoundError, UnavailableError
from messor.politeness.lease import WorkerLease
from messor.store.database import Database
from tests.archive import stores
from tests.archive.stores import Fault
from tests.crawling import later

STORES = ("folder", "files", "memory", "moto", "rclone")
OBJECTS = STORES[1:]
BODY = b"<html><body>one page</body></html>" * 40


@pytest.fixture(scope="module")
def moto() -> Iterator[StoreOptions]:
    with stores.moto() as options:
        yield options


@pytest.fixture(scope="module")
def rclone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreOptions]:
    with stores.rclone(tmp_path_factory.mktemp("rclone")) as options:
        yield options


def open_kind(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore | None:
    if kind == "folder":
        return None
    if kind == "files":
        return stores.on_disk(tmp_path / "shared")
    return stores.in_memory() if kind == "memory" else stores.fresh(request.getfixturevalue(kind))


@pytest.fixture
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Archive:
    store = open_kind(request.param, request, tmp_path)
    return Archive(tmp_path / "archive", store=store)


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    opened = open_kind(request.param, request, tmp_path)
    assert opened is not None
    return opened


on_all = pytest.mark.parametrize("archive", STORES, indirect=True)
on_objects = pytest.mark.parametrize("archive", OBJECTS, indirect=True)


def page(number: int) -> tuple[str, bytes]:
    return f"http://one.test/{number}", BODY + str(number).encode()


def response(number: int) -> bytes:
    url, body = page(number)
    headers = ((b"Content-Type", b"text/html"),)
    return warc.response(url, 200, "OK", headers, body=body)


async def opened(database: Database, archive: Archive, name: str = "w") -> Writer:
    lease = await WorkerLease.take(database, name, 3600)
    return open_writer(archive, database, lease, name, 10**9)


async def flush(database: Database, writer: Writer, *numbers: int) -> list[Place]:
    """Pages whose bytes are stored before their rows commit, as a flush does."""
    await writer.ready()
    places = [writer.append(response(number)) for number in numbers]
    await writer.commit_bytes()
    for number, place in zip(numbers, places, strict=True):
        await commit(database, place, number)
    await writer.ready()
    return places


async def commit(database: Database, place: Place, page_id: int) -> None:
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


async def end_leases(database: Database) -> None:
    await database.fetch("UPDATE messor.worker_leases SET ended_at = messor.clock()")


async def name_of(database: Database, segment_id: int) -> str:
    name: str = await database.fetchval(
        "SELECT name FROM messor.segments WHERE id = $1", segment_id
    )
    return name


async def read(database: Database, archive: Archive, place: Place) -> bytes:
    name = await name_of(database, place.segment_id)
    return read_body(archive, name, place.offset, place.length)


async def every_page_reads(
    database: Database, archive: Archive, numbers: int, *, without: int | None = None
) -> None:
    rows = await database.fetch(
        """SELECT page_id, segment_id, segment_offset, segment_length FROM messor.page_snapshots
            ORDER BY page_id"""
    )
    assert [row["page_id"] for row in rows] == list(range(numbers))
    for row in rows:
        place = Place(row["segment_id"], row["segment_offset"], row["segment_length"])
        if row["page_id"] != without:
            assert await read(database, archive, place) == page(row["page_id"])[1]


# Objects


@pytest.mark.parametrize("store", OBJECTS, indirect=True)
def test_objects(store: ObjectStore) -> None:
    data = bytes(range(256)) * 5_000
    store.put("a/one", data)
    store.put("a/one", data)  # the answer to the first attempt was lost
    assert store.whole("a/one") == data
    assert store.size("a/one") == len(data)
    assert store.read("a/one", 300, 20) == data[300:320]
    assert store.read("a/one", len(data) - 5, 1_000) == data[-5:]
    assert store.read("a/one", len(data) + 5, 10) == b""
    assert store.size("a/two") is None
    with pytest.raises(FileNotFoundError):
        store.read("a/two", 0, 1)
    with pytest.raises(FileNotFoundError):
        store.whole("a/two")
    assert [(each.key, each.bytes) for each in store.listed()] == [("a/one", len(data))]
    store.delete(["a/one", "a/none"])
    assert [*store.listed()] == []


@pytest.mark.parametrize("store", ["files", "memory", "moto"], indirect=True)
def test_an_object_is_never_overwritten(store: ObjectStore) -> None:
    store.put("one", b"first")
    with pytest.raises(ArchiveAwayError):
        store.put("one", b"other")
    assert store.whole("one") == b"first"


def test_a_server_that_is_away_says_so() -> None:
    options = StoreOptions(endpoint="http://127.0.0.1:9", key_id="a", secret="b")
    from messor.archive import objects  # noqa: PLC0415 - patched here alone

    store = objects.open_store("s3://pages", options)
    with pytest.raises(ArchiveAwayError, match=r"s3://pages cannot be used"):
        store.put("one", b"data")


# Archives


@on_all
async def test_written_pages_are_read(database: Database, archive: Archive) -> None:
    writer = await opened(database, archive)
    places = await flush(database, writer, 0, 1, 2)
    places += await flush(database, writer, 3, 4)
    await writer.seal()
    await every_page_reads(database, archive, 5)
    name = await name_of(database, places[0].segment_id)
    record = load(archive, name, places[0].offset, places[0].length)
    assert (record.url, record.is_intact) == ("http://one.test/0", True)
    rows = await database.fetch("SELECT state, bytes FROM messor.segments WHERE bytes > 0")
    assert {row["state"] for row in rows} == {"sealed"}
    assert len(rows) == (1 if archive.store is None else 2)  # an object per flush


@on_objects
async def test_another_machine_reads_what_this_one_wrote(
    database: Database, archive: Archive, tmp_path: Path
) -> None:
    writer = await opened(database, archive)
    (place,) = await flush(database, writer, 0)
    other = Archive(
        tmp_path / "other", store=archive.store, cache=BlockCache(tmp_path / "c", 10**7)
    )
    name = await name_of(database, place.segment_id)
    assert read_body(other, name, place.offset, place.length) == page(0)[1]
    store = archive.store
    assert store is not None
    store.delete([store.key_of(name)])
    assert read_body(other, name, place.offset, place.length) == page(0)[1]  # from its cache
    other.forget(name)
    with pytest.raises(UnavailableError):
        read_body(other, name, place.offset, place.length)


@on_objects
async def test_a_writer_that_dies_leaves_nothing_uncommitted(
    database: Database, archive: Archive
) -> None:
    """It died before a put, between put and commit, and after the commit."""
    store = archive.store
    assert store is not None
    writer = await opened(database, archive)
    await flush(database, writer, 0)
    committed = writer.append(response(1))
    await writer.commit_bytes()
    await commit(database, committed, 1)
    writer.abandon()
    late = await opened(database, archive, "late")
    await late.ready()
    put = late.append(response(2))
    await late.commit_bytes()
    late.abandon()
    early = await opened(database, archive, "early")
    await early.ready()
    early.append(response(3))
    early.abandon()
    assert await seal_abandoned(archive, database) == 0  # they may still live
    await end_leases(database)
    await seal_abandoned(archive, database)
    assert await seal_abandoned(archive, database) == 0
    await every_page_reads(database, archive, 2)
    assert store.size(store.key_of(await name_of(database, put.segment_id))) is None
    assert len([*store.listed()]) == 2


@on_objects
async def test_missing_bytes_are_never_sealed_away(database: Database, archive: Archive) -> None:
    writer = await opened(database, archive)
    await writer.ready()
    place = writer.append(response(0))
    await commit(database, place, 0)  # what must never happen
    writer.abandon()
    await end_leases(database)
    await seal_abandoned(archive, database)
    row = await database.fetchrow(
        "SELECT state FROM messor.segments WHERE id = $1", place.segment_id
    )
    assert row is not None
    assert row["state"] == "open"


@on_objects
async def test_small_objects_become_one(
    database: Database, archive: Archive, tmp_path: Path
) -> None:
    store = archive.store
    assert store is not None
    writer = await opened(database, archive)
    for number in range(6):
        await flush(database, writer, number)
    await writer.seal()
    assert (await compact(archive, database, 10**9)).segments == 0  # young, and not enough
    done = await compact(archive, database, 10**9, wait_seconds=0)
    assert (done.segments, done.objects, done.damaged) == (6, 1, [])
    await every_page_reads(database, archive, 6)
    assert (await compact(archive, database, 10**9, wait_seconds=0)).segments == 0
    names = {row["name"] for row in await database.fetch("SELECT name FROM messor.segments")}
    (url,) = {located(name).url for name in names if "#" in name}
    content = store.whole(store.key_of(url))
    urls = [
        each.rec_headers["WARC-Target-URI"]
        for each in ArchiveIterator(BytesIO(content))
        if each.rec_type == "response"
    ]
    assert urls == [page(number)[0] for number in range(6)]
    index = store.whole(f"{store.key_of(url)}.cdxj").decode().splitlines()
    assert [line.split(" ")[0] for line in index] == [f"test,one)/{n}" for n in range(6)]
    # The small ones stay for an hour, for readers that know their old names.
    assert await garbage.collect(archive, database) == 0
    await database.fetch("UPDATE messor.dead_segments SET delete_after = messor.clock()")
    assert await garbage.collect(archive, database) == 6
    assert {each.key.rpartition("/")[2][:8] for each in store.listed()} == {"compact-"}
    await every_page_reads(database, archive, 6)


@on_objects
async def test_compaction_leaves_damaged_objects_alone(
    database: Database, archive: Archive
) -> None:
    store = archive.store
    assert store is not None
    writer = await opened(database, archive)
    places = [(await flush(database, writer, number))[0] for number in range(3)]
    await writer.seal()
    broken = await name_of(database, places[1].segment_id)
    store.delete([store.key_of(broken)])
    done = await compact(archive, database, 10**9, wait_seconds=0)
    assert (done.segments, done.damaged) == (2, [broken])
    assert await name_of(database, places[1].segment_id) == broken


@on_all
async def test_erased_bytes_stay_erased_through_compaction(
    database: Database, archive: Archive, tmp_path: Path
) -> None:
    writer = await opened(database, archive)
    places = [(await flush(database, writer, number))[0] for number in range(4)]
    await writer.seal()
    await end_leases(database)

    async def erase(number: int) -> str:
        place = places[number]
        await database.fetch("DELETE FROM messor.page_snapshots WHERE page_id = $1", number)
        await database.fetch(
            """INSERT INTO messor.blanks (segment_id, segment_offset, segment_length)
               VALUES ($1, $2, $3)""",
            place.segment_id,
            place.offset,
            place.length,
        )
        before = await name_of(database, place.segment_id)
        assert await blank_waiting(archive, database) == 1
        return before

    first = await erase(0)
    if archive.store is not None:
        await compact(archive, database, 10**9, wait_seconds=0)
    second = await erase(3)
    for place in (places[0], places[3]):
        with pytest.raises(NotFoundError):
            await read(database, archive, place)
    for number in (1, 2):
        assert await read(database, archive, places[number]) == page(number)[1]
    store = archive.store
    if store is None:
        return
    for name in (first, second):
        assert store.size(store.key_of(located(name).url)) is None
    url = located(await name_of(database, places[1].segment_id)).url
    index = store.whole(f"{store.key_of(url)}.cdxj").decode()
    assert [line.split(" ")[0] for line in index.splitlines()] == ["test,one)/1", "test,one)/2"]


async def ask_to_erase(database: Database, place: Place, number: int) -> None:
    await database.fetch("DELETE FROM messor.page_snapshots WHERE page_id = $1", number)
    await database.fetch(
        """INSERT INTO messor.blanks (segment_id, segment_offset, segment_length)
           VALUES ($1, $2, $3)""",
        place.segment_id,
        place.offset,
        place.length,
    )


def meanwhile(
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    name: str,
    act: Callable[[], Coroutine[Any, Any, Any]],
) -> None:
    """Have something else happen once, after a step that runs in a thread."""
    loop, step = asyncio.get_running_loop(), getattr(module, name)

    def both(*given: Any) -> Any:
        monkeypatch.setattr(module, name, step)
        done = step(*given)
        asyncio.run_coroutine_threadsafe(act(), loop).result(60)
        return done

    monkeypatch.setattr(module, name, both)


@on_objects
async def test_an_erasure_that_meets_a_compaction_is_made_up_for(
    database: Database, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = archive.store
    assert store is not None
    writer = await opened(database, archive)
    places = [(await flush(database, writer, number))[0] for number in range(3)]
    await writer.seal()
    await end_leases(database)
    await ask_to_erase(database, places[1], 1)
    meanwhile(
        monkeypatch,
        erased_bytes,
        "_write_without",
        lambda: compact(archive, database, 10**9, wait_seconds=0),
    )
    assert await blank_waiting(archive, database) == 0  # its object is no longer the one
    assert await blank_waiting(archive, database) == 1
    with pytest.raises(NotFoundError):
        await read(database, archive, places[1])
    for number in (0, 2):
        assert await read(database, archive, places[number]) == page(number)[1]
    await database.fetch("UPDATE messor.dead_segments SET delete_after = messor.clock()")
    await garbage.collect(archive, database)
    assert len([*store.listed()]) == 2  # one object with its index: no copy was left


@on_objects
async def test_erased_bytes_do_not_move(
    database: Database, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy made before an erasure is made anew."""
    before = Archive(archive.folder)
    writer = await opened(database, before)
    places = await flush(database, writer, 0, 1)
    await writer.seal()
    await end_leases(database)
    await ask_to_erase(database, places[0], 0)
    meanwhile(monkeypatch, relocation, "_put", lambda: blank_waiting(before, database))
    (moved,) = [each async for each in relocate(archive, database)]
    assert moved.new is not None
    with pytest.raises(NotFoundError):
        await read(database, archive, places[0])
    assert await read(database, archive, places[1]) == page(1)[1]
    store = archive.store
    assert store is not None
    assert len([*store.listed()]) == 1


@on_objects
async def test_files_move_to_the_store(
    database: Database, archive: Archive, tmp_path: Path
) -> None:
    before = Archive(archive.folder)
    writer = await opened(database, before)
    await flush(database, writer, 0, 1)
    await writer.seal()
    await database.fetch(
        """INSERT INTO messor.segments (name, worker_id, state, bytes)
           VALUES ('2026/01/01/elsewhere-1-1-00001.warc.gz', 1, 'sealed', 10)"""
    )
    moved = [each async for each in relocate(archive, database)]
    assert [each.new is None for each in moved].count(True) == 1  # another machine's
    assert [each async for each in relocate(archive, database) if each.new] == []
    await every_page_reads(database, archive, 2)
    rows = await database.fetch("SELECT name FROM messor.segments")
    assert sum(is_remote(row["name"]) for row in rows) == 1
    assert len([*archive.folder.rglob("*.warc.gz")]) == 1
    await database.fetch("UPDATE messor.dead_segments SET delete_after = messor.clock()")
    assert await garbage.collect(archive, database) == 1
    assert [*archive.folder.rglob("*.warc.gz")] == []
    figures = await status(archive, database)
    assert {each["kind"]: each["segments"] for each in figures["segments"]} == {
        "file": 1,
        "object": 1,
        "compacted": 0,
        "open": 0,
    }


@on_objects
async def test_orphans_are_found_when_they_are_old(database: Database, archive: Archive) -> None:
    store = archive.store
    assert store is not None
    writer = await opened(database, archive)
    await flush(database, writer, 0)
    store.put("2026/01/01/nobody.warc.gz", b"x")
    assert (await garbage.orphans(archive, database)).objects == []
    async with Database(later(database.dsn, timedelta(days=2))) as tomorrow:
        found = await garbage.orphans(archive, tomorrow)
    assert [each.key for each in found.objects] == ["2026/01/01/nobody.warc.gz"]
    await garbage.delete_orphans(archive, found)
    assert store.size("2026/01/01/nobody.warc.gz") is None
    await every_page_reads(database, archive, 1)


# Lies and outages


class Lying:
    """A store whose answers are tampered with."""

    def __init__(self, real: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
        import obstore  # noqa: PLC0415 - as where it is used

        self.real, self.patch, self.put = real, monkeypatch, obstore.put

    def on_put(self, act: Any) -> None:
        import obstore  # noqa: PLC0415 - as above

        self.patch.setattr(obstore, "put", act)


@pytest.mark.parametrize("archive", ["memory", "moto"], indirect=True)
@pytest.mark.parametrize("lie", ["forgets", "cuts", "garbles"])
async def test_a_put_that_lies_is_never_believed(
    database: Database, archive: Archive, lie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = archive.store
    assert store is not None
    lying = Lying(store, monkeypatch)
    writer = await opened(database, archive)
    await writer.ready()
    place = writer.append(response(0))
    told = {"forgets": None, "cuts": lambda d: d[:-1], "garbles": lambda d: d[:50] + b"?" + d[51:]}[
        lie
    ]

    def put(backend: Any, key: str, data: bytes, **options: Any) -> Any:
        if told is not None:
            lying.put(backend, key, told(bytes(data)), **options)
        return {"e_tag": None, "version": None}

    lying.on_put(put)
    with pytest.raises(ArchiveAwayError):
        await writer.commit_bytes()
    monkeypatch.undo()
    if told is None:
        await writer.commit_bytes()  # the bytes are still in memory
        assert await read(database, archive, place) == page(0)[1]


async def test_a_range_that_is_ignored_is_cut_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import obstore  # noqa: PLC0415 - as where it is used

    store = stores.in_memory()
    store.put("one", b"0123456789")
    monkeypatch.setattr(obstore, "get_range", lambda *_, **__: b"0123456789")
    assert store.read("one", 2, 3) == b"234"


def test_encryption_checksums_and_conditions_are_asked_for(moto: StoreOptions) -> None:
    sent: list[dict[str, str]] = []
    with stores.unsteady(moto, [], sent) as options:
        store = stores.fresh(replace(options, encryption="aws:kms", kms_key="a-key"))
        store.put("one", b"data")
        assert store.whole("one") == b"data"
    (headers,) = sent
    assert headers["x-amz-server-side-encryption"] == "aws:kms"
    assert headers["x-amz-server-side-encryption-aws-kms-key-id"] == "a-key"
    digest = base64.b64encode(hashlib.sha256(b"data").digest()).decode()
    assert headers["x-amz-checksum-sha256"] == digest
    assert headers["if-none-match"] == "*"


async def test_what_a_store_says_it_kept_and_did_not_is_noticed(
    database: Database, tmp_path: Path, moto: StoreOptions
) -> None:
    with stores.unsteady(moto, [("PUT", Fault.FORGOTTEN)]) as options:
        archive = Archive(tmp_path, store=stores.fresh(options))
        writer = await opened(database, archive)
        with pytest.raises(ArchiveAwayError, match="did not store what was written"):
            await flush(database, writer, 0)


@pytest.mark.parametrize("fault", [each for each in Fault if each is not Fault.FORGOTTEN])
async def test_a_bad_line_loses_nothing(
    database: Database, tmp_path: Path, moto: StoreOptions, fault: Fault
) -> None:
    """Puts and reads are tried again; a put whose answer was lost has happened once."""
    faults = [("PUT", fault), ("HEAD", fault), ("GET", fault)]
    with stores.unsteady(moto, faults) as options:
        archive = Archive(tmp_path, store=stores.fresh(options))
        writer = await opened(database, archive)
        (place,) = await flush(database, writer, 0)
        assert await read(database, archive, place) == page(0)[1]
        assert faults == []
        assert archive.store is not None
        assert len([*archive.store.listed()]) == 1


async def test_a_wrong_range_is_read_again(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it was cached: a store that returns other bytes costs a read of the whole."""
    import obstore  # noqa: PLC0415 - as where it is used

    cache = BlockCache(tmp_path / "cache", 10**7)
    archive = Archive(tmp_path, store=stores.in_memory(), cache=cache)
    writer = await opened(database, archive)
    (place,) = await flush(database, writer, 0)
    archive.forget(await name_of(database, place.segment_id))
    for wrong in (b"?" * 10_000, b"\x1f"):
        monkeypatch.setattr(obstore, "get_range", lambda *_, answer=wrong, **__: answer)
        archive.forget(await name_of(database, place.segment_id))
        assert await read(database, archive, place) == page(0)[1]
    assert await read(database, archive, place) == page(0)[1]


def test_the_cache_is_bounded(tmp_path: Path) -> None:
    cache = BlockCache(tmp_path, 4_000_000)
    for number in range(10):
        cache.put("s3://b/one", number, bytes(1_000_000))
    cache.sweep()
    assert sum(path.stat().st_size for path in tmp_path.rglob("*-*")) <= 4_000_000
    assert cache.get("s3://b/one", 9) is not None
    assert cache.get("s3://b/one", 0) is None


async def test_two_flushes_need_no_open_segment_between(database: Database, tmp_path: Path) -> None:
    """While one object is put, records go into the next."""
    archive = Archive(tmp_path, store=stores.in_memory())
    writer = await opened(database, archive)
    assert isinstance(writer, ObjectWriter)
    await writer.ready()
    first = writer.append(response(0))
    writer.cut({first.segment_id})
    writer.cut({first.segment_id})  # a batch that is written in halves
    second = writer.append(response(1))
    assert second.segment_id != first.segment_id
    writer.sync()
    assert await read(database, archive, first) == page(0)[1]
    with pytest.raises(UnavailableError):
        await read(database, archive, second)
    gzip.decompress(await _whole(database, archive, first))


async def _whole(database: Database, archive: Archive, place: Place) -> bytes:
    name = await name_of(database, place.segment_id)
    return archive.read(name, place.offset, place.length)
