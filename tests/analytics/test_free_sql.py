"""SQL that a person gave: it sees the tables and nothing else, within its limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from messor.analytics.lake import Lake
from messor.analytics.rows import RowBatch
from messor.analytics.store import AnswerRefusedError, Limits, State, Store
from messor.analytics.tables import TABLES
from messor.errors import ConflictError, MessorError, UnavailableError, UsageError
from tests.analytics.stores import STORES, open_store

ROWS = 300
FEW = Limits(seconds=2.0, rows=100, memory_mb=100)


def fill(store: Store, folder: Path) -> None:
    """A table of pages; the state says that the store is filled."""
    path = folder / "pages.csv"
    path.write_text(
        "".join(
            f"{n},shop.example,shop.example,https://shop.example/p/{n},/p/,1,link,2026-01-02 03:04:05+00,1\n"
            for n in range(ROWS)
        )
    )
    store.fill(RowBatch(TABLES["pages"], path, ROWS), State(sequence=1))


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with open_store(request.param, tmp_path) as opened:
        opened.state()
        fill(opened, tmp_path)
        yield opened


def test_a_query_is_answered_up_to_its_rows(store: Store) -> None:
    found = store.query("SELECT id, domain FROM pages ORDER BY id;", FEW)
    assert (found.columns, len(found.rows), found.is_cut) == (["id", "domain"], 100, True)
    assert found.rows[7] == (7, "shop.example")
    whole = store.query("SELECT count(*) AS n FROM pages WHERE id >= 250", FEW)
    assert (whole.rows, whole.is_cut) == ([(50,)], False)


# What reaches a file, a server or the store itself; in the words of both stores.
ESCAPES = (
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_parquet('http://127.0.0.1:1/x.parquet')",
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')",
    "SELECT * FROM remote('127.0.0.1', 'system.one')",
    "COPY pages TO '{folder}/out.csv'",
    "SELECT * FROM pages INTO OUTFILE '{folder}/out.csv'",
    "ATTACH '{folder}/other.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CREATE TABLE copied AS SELECT * FROM pages",
    "CREATE TABLE copied ENGINE = Memory AS SELECT * FROM pages",
    "DROP VIEW pages",
    "DROP TABLE pages",
    "TRUNCATE TABLE pages",
    "DELETE FROM pages",
    "SET memory_limit = '10GB'",
    "SET enable_external_access = true",
    "SELECT 1 SETTINGS readonly = 0, max_execution_time = 1000",
    "PRAGMA database_list",
    "SELECT 1; DROP VIEW pages",
    "SELECT getenv('HOME')",
    "",
    "SELEKT 1",
    "SELECT nothing FROM pages",
    "SELECT * FROM nowhere",
)


@pytest.mark.parametrize("sql", ESCAPES)
def test_nothing_else_is_within_reach(store: Store, tmp_path: Path, sql: str) -> None:
    given = sql.replace("{folder}", str(tmp_path))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises((UsageError, UnavailableError)) as refused:
        store.query(given, FEW)
    assert "root:" not in str(refused.value)
    assert sorted(tmp_path.rglob("*")) == before
    assert store.query("SELECT count(*) FROM pages", FEW).rows == [(ROWS,)]


def test_time_and_memory_are_limited(store: Store) -> None:
    endless = "SELECT count(*) FROM {} a CROSS JOIN {} b CROSS JOIN {} c CROSS JOIN {} d WHERE a.id + b.id + c.id < d.id * 2"
    with pytest.raises(AnswerRefusedError, match=r"longer than 2 s|limits"):
        store.query(endless.format(*["pages"] * 4), FEW)
    numbers = "range(100000000) t(number)" if store.name == "duckdb" else "numbers(100000000)"
    aggregate = "list" if store.name == "duckdb" else "groupArray"
    with pytest.raises(AnswerRefusedError, match=r"memory|limits"):
        store.query(f"SELECT length({aggregate}(number)) FROM {numbers}", Limits(60.0, 100, 64))


def test_a_writer_keeps_others_out_and_readers_go_on(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    fill(lake, tmp_path)
    with lake._locked():
        with pytest.raises(ConflictError, match="Another process"):
            lake.write([], State(sequence=2))
        assert lake.query("SELECT count(*) FROM pages", FEW).rows == [(ROWS,)]


def test_a_damaged_lake_says_what_to_do(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    fill(lake, tmp_path)
    (file,) = lake.folder.glob("pages-*.parquet")
    file.write_bytes(b"PAR1")
    with pytest.raises(MessorError, match="messor analytics rebuild"):
        lake.query("SELECT count(*) FROM pages", FEW)
    (lake.folder / "manifest.json").write_text("{")
    with pytest.raises(UnavailableError, match="messor analytics rebuild"):
        lake.state()


def test_files_that_do_not_count_are_deleted(tmp_path: Path) -> None:
    """What a killed writer left behind is neither read nor kept."""
    lake = Lake(tmp_path / "lake")
    fill(lake, tmp_path)
    (lake.folder / "pages-000000000002-delta.parquet").write_bytes(b"half")
    (lake.folder / "pages-000000000003-delta.part").write_bytes(b"half")
    assert lake.query("SELECT count(*) FROM pages", FEW).rows == [(ROWS,)]
    lake.write([], State(sequence=2))
    assert sorted(path.name for path in lake.folder.glob("*.p*")) == [
        "pages-000000000001-base.parquet"
    ]
