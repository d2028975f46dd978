"""Exports of every noun in every format: complete, typed, safe, resumable."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import duckdb
import msgspec
import pytest

from messor.errors import UsageError
from messor.exports import batches, requests
from messor.exports.columns import FORMULA_STARTS
from messor.exports.formats import FORMATS
from messor.exports.nouns import NOUNS
from messor.exports.queries import Export
from messor.exports.requests import NewExport
from messor.exports.run import Folders, run
from messor.store.database import Database
from tests.exports.seeding import seed

TABLES = [name for name, made in FORMATS.items() if made.nouns is None]
SEEDED = {"pages": 60, "records": 120, "products": 60, "prices": 180, "events": 60, "fetches": 60}


@pytest.fixture
async def seeded(database: Database) -> Database:
    await seed(database)
    return database


async def export(
    database: Database, path: Path, noun: str, name: str, **wanted: Any
) -> tuple[Export, bytes]:
    given = NewExport(noun, name, wanted.pop("filters", {}), target=path, **wanted)
    async with database.transaction() as connection:
        begun = await requests.begin(connection, given, actor="test", may_audit=True)
    done = await run(database, Folders(path.parent, path.parent), begun.id)
    return done, path.read_bytes()  # noqa: ASYNC240 - small


async def test_every_noun_leaves_in_every_format(
    seeded: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "WINDOW", 25)
    for noun in NOUNS:
        for name in TABLES:
            done, content = await export(seeded, tmp_path / f"{noun}.{name}", noun, name)
            assert done.state == "done"
            assert done.file_bytes == len(content)
            mode = (tmp_path / f"{noun}.{name}").stat().st_mode
            assert mode & 0o077 == 0, f"others can read {noun}.{name}"
            if noun != "events":  # exports are events themselves
                assert done.rows == SEEDED.get(noun, 0), (noun, name)
    assert sorted(
        path.suffix
        for path in tmp_path.iterdir()  # noqa: ASYNC240 - a test
    ) == sorted(f".{name}" for name in TABLES for _ in NOUNS)


async def test_rows_come_once_in_the_order_of_their_key(
    seeded: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "WINDOW", 7)
    _, content = await export(seeded, tmp_path / "r.jsonl", "records", "jsonl")
    ids = [msgspec.json.decode(line)["id"] for line in content.splitlines()]
    assert ids == sorted(set(ids))
    assert len(ids) == 120


async def test_no_cell_of_a_csv_runs_as_a_formula(seeded: Database, tmp_path: Path) -> None:
    for noun in NOUNS:
        _, content = await export(seeded, tmp_path / f"{noun}.csv", noun, "csv")
        head, *rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
        assert head == [column.name for column in NOUNS[noun].columns]
        for row in rows:
            assert len(row) == len(head)
            assert not [cell for cell in row if cell.startswith(tuple(FORMULA_STARTS))]


async def test_parquet_is_typed_and_equal_to_the_json_lines(
    seeded: Database, tmp_path: Path
) -> None:
    _, content = await export(seeded, tmp_path / "p.jsonl", "products", "jsonl")
    await export(seeded, tmp_path / "p.parquet", "products", "parquet")
    with duckdb.connect() as connection:
        table = connection.read_parquet(str(tmp_path / "p.parquet"))
        types = dict(zip(table.columns, map(str, table.types), strict=True))
        assert types["id"] == "BIGINT"
        assert types["price"] == "DOUBLE"
        assert types["created_at"] == "TIMESTAMP WITH TIME ZONE"
        wanted = ("id", "product_name", "description", "price", "category", "brand")
        expected = [
            tuple(msgspec.json.decode(line)[n] for n in wanted) for line in content.splitlines()
        ]
        assert table.select(*wanted).fetchall() == expected


async def test_partitions_together_are_the_whole_file(seeded: Database, tmp_path: Path) -> None:
    for noun, key, parts in (("products", "domain_is", 2), ("prices", "seen_at_month", None)):
        await export(seeded, tmp_path / "p.parquet", noun, "parquet")
        _, first = await export(seeded, tmp_path / "p.parquet.zip", noun, "parquet_partitions")
        folder = tmp_path / noun
        with ZipFile(tmp_path / "p.parquet.zip") as package:
            package.extractall(folder)
        names = sorted(path.parent.name for path in folder.rglob("*.parquet"))
        assert all(name.startswith(f"{key}=") for name in names)
        assert parts is None or len(names) == parts
        with duckdb.connect() as connection:
            whole = connection.read_parquet(str(tmp_path / "p.parquet"))
            apart = connection.read_parquet(f"{folder}/*/*.parquet", hive_partitioning=True)
            assert apart.columns == [*whole.columns, key]
            assert apart.types[:-1] == whole.types
            first_column = whole.columns[:2]
            assert sorted(apart.select(*first_column).fetchall()) == sorted(
                whole.select(*first_column).fetchall()
            )
        _, again = await export(seeded, tmp_path / "p.parquet.zip", noun, "parquet_partitions")
        assert again == first
    with pytest.raises(UsageError, match="partitioned by domain"):
        await export(
            seeded, tmp_path / "q.parquet.zip", "products", "parquet_partitions", columns=["id"]
        )


async def test_a_very_long_text_fits_into_parquet(seeded: Database, tmp_path: Path) -> None:
    long = "a line\n" * 800_000
    await seeded.fetch("UPDATE messor.snapshot_texts SET markdown = $1 WHERE snapshot_id = 7", long)
    await export(seeded, tmp_path / "p.parquet", "pages", "parquet")
    with duckdb.connect() as connection:
        table = connection.read_parquet(str(tmp_path / "p.parquet"))
        assert table.filter("id = 7").select("markdown").fetchall() == [(long,)]
        assert table.shape[0] == 60


async def test_an_unknown_column_format_noun_or_filter_gets_a_sentence(
    database: Database, tmp_path: Path
) -> None:
    for given, said in (
        (NewExport("produkts", "csv", {}), "choose from: pages"),
        (NewExport("products", "xml", {}), "choose from: jsonl"),
        (NewExport("products", "csv", {"colour": "red"}), "colour"),
        (NewExport("products", "csv", {}, columns=["colour"]), "has no column 'colour'"),
        (NewExport("products", "csv", {}, since="yesterday-ish"), "neither an export nor a time"),
        (NewExport("products", "jsonl", {}, bom=True), "byte order mark"),
    ):
        with pytest.raises(UsageError, match=said):
            async with database.transaction() as connection:
                await requests.begin(connection, given, actor="test")
