"""Exports under kills, changes, erasures and refusals: nothing twice, nothing missing, nothing kept."""

from __future__ import annotations

import asyncio
import errno
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from messor.archive.objects import StoreOptions
from messor.errors import ConflictError, NotFoundError, UnavailableError
from messor.exports import batches, queries, requests
from messor.exports import run as running
from messor.exports.places import Places
from messor.exports.queries import Export
from messor.exports.requests import NewExport
from messor.exports.run import Folders, run
from messor.exports.spool import Spool
from messor.rights.release import Purpose
from messor.store.database import Database
from tests.exports import killed
from tests.exports.seeding import seed


async def begin(database: Database, noun: str, name: str, **wanted: Any) -> Export:
    given = NewExport(noun, name, wanted.pop("filters", {}), **wanted)
    async with database.transaction() as connection:
        return await requests.begin(connection, given, actor="test")


async def whole(database: Database, folder: Path, noun: str, name: str, **wanted: Any) -> bytes:
    made = await begin(database, noun, name, **wanted)
    done = await run(database, Folders(folder, folder), made.id)
    return requests.file_of(folder, done).read_bytes()


def rows(content: bytes) -> list[Any]:
    return [msgspec.json.decode(line) for line in content.splitlines()]


@pytest.mark.parametrize("name", ["csv", "parquet"])
async def test_a_killed_export_continues_to_the_same_bytes(
    database: Database, dsn: str, tmp_path: Path, name: str
) -> None:
    await seed(database, pages=100, records=3)
    expected = await whole(database, tmp_path, "records", name)
    made = await begin(database, "records", name)
    for chunks in (2, 1, 3):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", killed.__name__, dsn, str(made.id), str(tmp_path), str(chunks)
        )
        assert await process.wait() == -signal.SIGKILL
        assert (await queries.get(database, made.id)).state == "running"
    done = await run(database, Folders(tmp_path, tmp_path), made.id)
    assert done.rows == 300
    assert requests.file_of(tmp_path, done).read_bytes() == expected
    assert {path.suffix for path in tmp_path.iterdir()} == {f".{name}"}  # noqa: ASYNC240 - a test


async def test_an_increment_has_what_changed_since_and_nothing_else(
    database: Database, tmp_path: Path
) -> None:
    await seed(database, pages=20)
    first = await begin(database, "products", "jsonl")
    await run(database, Folders(tmp_path, tmp_path), first.id)
    nothing = await whole(database, tmp_path, "products", "jsonl", since=str(first.id))
    assert nothing == b""
    await database.fetch("UPDATE messor.products SET price = 1 WHERE id IN (3, 5)")
    changed = await whole(database, tmp_path, "products", "jsonl", since=str(first.id))
    assert [row["id"] for row in rows(changed)] == [3, 5]
    assert rows(await whole(database, tmp_path, "products", "jsonl", since="2100-01-01")) == []
    assert len(rows(await whole(database, tmp_path, "products", "jsonl", since="1d"))) == 20


async def test_rows_of_a_log_are_in_one_increment_and_not_in_two(
    database: Database, tmp_path: Path
) -> None:
    """A transaction that was open when the export began is left to the next one."""
    await seed(database, pages=5)
    late = "INSERT INTO messor.product_prices (product_id, page_id, snapshot_id, seen_at) VALUES (1, 1, 1, $1)"
    moment = await database.fetchval("SELECT messor.clock()")
    async with database.transaction() as connection:
        await connection.execute(late, moment)
        first = await begin(database, "prices", "jsonl")
    done = await run(database, Folders(tmp_path, tmp_path), first.id)
    assert done.rows == 15
    found = rows(await whole(database, tmp_path, "prices", "jsonl", since=str(first.id)))
    assert [row["product_id"] for row in found] == [1]


async def test_a_page_that_may_not_leave_is_left_out(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await seed(database, pages=10)
    purposes = set()

    async def refuse(_: Any, purpose: Purpose, pages: list[int], *__: Any) -> list[int]:
        purposes.add(purpose)
        return [page for page in pages if page != 4]

    monkeypatch.setattr(batches, "release", refuse)
    for noun in ("pages", "records", "products", "prices", "fetches", "events"):
        content = await whole(database, tmp_path, noun, "jsonl")
        column = "id" if noun == "pages" else "page_id"
        pages = {row[column] for row in rows(content)}
        assert pages - {None} == set(range(1, 11)) - {4}, noun
    assert purposes == {Purpose.EXPORT}


async def test_an_erasure_removes_files_that_may_contain_it(
    database: Database, tmp_path: Path
) -> None:
    await seed(database, pages=3)
    made = await begin(database, "pages", "csv")
    done = await run(database, Folders(tmp_path, tmp_path), made.id)
    async with database.transaction() as connection:
        path = await requests.download(connection, tmp_path, done, actor="test")
        assert path.name == f"{made.id}.csv"
        await connection.execute(
            """INSERT INTO messor.erasures (id, kind, key, reason, erased_by)
               VALUES (gen_random_uuid(), 'domain', 'shop1.example', 'asked', 'test')"""
        )
        with pytest.raises(NotFoundError, match="no longer kept"):
            await requests.download(connection, tmp_path, done, actor="test")
    assert await requests.remove_outdated(database, tmp_path, Places({}, StoreOptions())) == 1
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 - a test
    assert (await queries.get(database, made.id)).state == "removed"


async def test_a_full_disk_is_a_sentence_and_the_export_continues(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await seed(database, pages=100, records=3)
    monkeypatch.setattr(batches, "WINDOW", 50)
    expected = await whole(database, tmp_path, "records", "jsonl")
    made = await begin(database, "records", "jsonl")
    left = [3]

    class FullSpool(Spool):
        def sync(self) -> int:
            left[0] -= 1
            if left[0] == 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().sync()

    monkeypatch.setattr(running, "Spool", FullSpool)
    with pytest.raises(UnavailableError, match=r"the disk is full. The export continues"):
        await run(database, Folders(tmp_path, tmp_path), made.id)
    failed = await queries.get(database, made.id)
    assert (failed.state, failed.rows) == ("failed", 100)
    done = await run(database, Folders(tmp_path, tmp_path), made.id)
    assert requests.file_of(tmp_path, done).read_bytes() == expected


async def test_two_processes_do_not_write_one_file(database: Database, tmp_path: Path) -> None:
    await seed(database, pages=3)
    made = await begin(database, "pages", "csv")
    draft = requests.file_of(tmp_path, made).with_name(f"{made.id}.csv.part")
    with Spool(draft, 0), pytest.raises(ConflictError, match="Another process"):
        await run(database, Folders(tmp_path, tmp_path), made.id)


async def test_a_cancelled_export_stops(database: Database, tmp_path: Path) -> None:
    await seed(database, pages=3)
    made = await begin(database, "pages", "csv")
    async with database.transaction() as connection:
        await requests.cancel(connection, made, actor="test")
    with pytest.raises(ConflictError, match="cancelled"):
        await run(database, Folders(tmp_path, tmp_path), made.id)
    with pytest.raises(ConflictError, match="only an unfinished one"):
        async with database.transaction() as connection:
            await requests.cancel(connection, made, actor="test")


async def test_a_person_has_few_unfinished_exports(database: Database) -> None:
    for _ in range(requests.MAX_WAITING):
        await begin(database, "pages", "csv")
    with pytest.raises(ConflictError, match="unfinished"):
        await begin(database, "pages", "csv")


async def test_who_exported_what_is_an_event(database: Database, tmp_path: Path) -> None:
    made = await begin(database, "products", "csv", filters={"currency": "EUR"})
    await run(database, Folders(tmp_path, tmp_path), made.id)
    found = await database.fetch(
        "SELECT type, actor, data::text FROM messor.events WHERE type LIKE 'export.%' ORDER BY id"
    )
    assert [(row[0], row[1]) for row in found] == [
        ("export.started", "test"),
        ("export.finished", "test"),
    ]
    assert msgspec.json.decode(found[0][2])["filters"] == {"currency": "EUR", "state": "current"}
