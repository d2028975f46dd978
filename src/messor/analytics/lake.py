"""DuckDB over Parquet: a folder of files, and a manifest that says which of them count.

A table has base files, whose keys are distinct, and a few delta files with newer versions of rows and
with tombstones; what counts is the newest version of a key. Files are written first and count when the
manifest that names them replaces the one before, so that a batch counts as a whole or not at all, and
readers in other processes see a complete state. Files that no manifest names are deleted.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import duckdb
import msgspec

from messor.analytics import lake_query
from messor.analytics.dialects import DuckDialect
from messor.analytics.lake_files import (
    Files,
    LakeManifest,
    count,
    current,
    delta_of,
    read_batch,
)
from messor.analytics.rows import RowBatch
from messor.analytics.store import Limits, SqlAnswer, State, TableSize
from messor.analytics.tables import TABLES, Table
from messor.errors import ConflictError, UnavailableError

MANIFEST = "manifest.json"
MEMORY = "300MB"
MAX_DELTAS = 24  # files; more are merged
MAX_SHARE = 0.2  # of the rows in deltas; more are merged
MIN_MERGED = 50_000  # rows in deltas that are not worth a merge


class Lake:
    """The store in a folder."""

    name = "duckdb"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dialect = DuckDialect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def state(self) -> State:
        return self._manifest().state

    def write(self, batches: Sequence[RowBatch], state: State, *, erase: bool = False) -> None:
        with self._changing() as (before, duck):
            manifest = before
            for batch in batches:
                files = manifest.of(batch.table.name)
                file = self._file(batch.table, state.sequence, "delta")
                written = self._copy(
                    duck, delta_of(batch, self._paths(files), state.sequence), file
                )
                if written:
                    manifest = manifest.with_delta(batch.table.name, file.name, written)
                else:
                    file.unlink()
                if erase and batch.gone:
                    manifest = self._merged(duck, manifest, batch.table, state.sequence)
            self._commit(manifest, state)

    def fill(self, batch: RowBatch, state: State) -> None:
        with self._changing() as (before, duck):
            manifest = before
            if batch.rows:
                file = self._file(batch.table, state.sequence, "base")
                rows = f"SELECT {', '.join(batch.table.names)} FROM ({read_batch(batch)})"
                written = self._copy(duck, rows, file)
                manifest = manifest.with_base(batch.table.name, file.name, written)
            self._commit(manifest, state)

    def values_of(self, table: str, column: str, of: str, ids: Sequence[Any]) -> list[Any]:
        with self._reading() as (manifest, duck):
            source = current(TABLES[table], self._paths(manifest.of(table)))
            rows = duck.execute(
                f"SELECT DISTINCT {column} FROM ({source}) WHERE {of} IN (SELECT unnest(?))", [ids]
            ).fetchall()
        return [row[0] for row in rows]

    def tidy(self) -> None:
        with self._changing() as (before, duck):
            manifest = before
            for table in TABLES.values():
                if _is_worth_merging(manifest.of(table.name)):
                    manifest = self._merged(duck, manifest, table, manifest.state.sequence)
            if manifest is not before:
                self._commit(manifest, manifest.state)
            self._sweep(manifest)

    def reset(self) -> None:
        with self._locked():
            self._replace(LakeManifest())
            self._sweep(LakeManifest())

    def query(self, sql: str, limits: Limits) -> SqlAnswer:
        return lake_query.run(self._views, sql, limits)

    def sizes(self) -> list[TableSize]:
        with self._reading() as (manifest, duck):
            return [self._size(duck, table, manifest) for table in TABLES.values()]

    def _size(
        self, duck: duckdb.DuckDBPyConnection, table: Table, manifest: LakeManifest
    ) -> TableSize:
        files = self._paths(manifest.of(table.name))
        size = sum(path.stat().st_size for path in (*files.base, *files.delta))
        return TableSize(table.name, count(duck, current(table, files)), size)

    def _views(self) -> dict[str, tuple[str, list[Path]]]:
        """Each table as a query, and the files that it reads."""
        manifest = self._manifest()
        found = {}
        for table in TABLES.values():
            files = self._paths(manifest.of(table.name))
            found[table.name] = (current(table, files), [*files.base, *files.delta])
        return found

    def _merged(
        self, duck: duckdb.DuckDBPyConnection, manifest: LakeManifest, table: Table, sequence: int
    ) -> LakeManifest:
        """One base instead of base and deltas; what was replaced or erased is not in it."""
        source = current(table, self._paths(manifest.of(table.name)))
        file = self._file(table, sequence, "merged")
        rows = self._copy(duck, f"{source} ORDER BY {', '.join(table.key)}", file)
        names = (file.name,) if rows else ()
        if not rows:
            file.unlink()
        return manifest.with_files(table.name, Files(names, (), rows, 0))

    def _copy(self, duck: duckdb.DuckDBPyConnection, source: str, file: Path) -> int:
        """Write a query's rows to a file, durably; returns how many."""
        draft = file.with_suffix(".part")
        row = duck.execute(
            f"COPY ({source}) TO '{_quoted(draft)}' (FORMAT parquet, COMPRESSION zstd)"
        ).fetchone()
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.replace(file)
        return 0 if row is None else int(row[0])

    def _commit(self, manifest: LakeManifest, state: State) -> None:
        self._replace(msgspec.structs.replace(manifest, state=state))
        self._sweep(manifest)

    def _replace(self, manifest: LakeManifest) -> None:
        draft = self.folder / f"{MANIFEST}.part"
        with draft.open("wb") as file:
            file.write(msgspec.json.encode(manifest))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.folder / MANIFEST)
        directory = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def _sweep(self, manifest: LakeManifest) -> None:
        """Delete the files that do not count. Whoever reads one asks the manifest again."""
        named = {name for files in manifest.tables.values() for name in (*files.base, *files.delta)}
        for path in self.folder.glob("*.p*"):
            if path.suffix in (".parquet", ".part") and path.name not in named:
                path.unlink(missing_ok=True)

    def _manifest(self) -> LakeManifest:
        try:
            return msgspec.json.decode((self.folder / MANIFEST).read_bytes(), type=LakeManifest)
        except FileNotFoundError:
            return LakeManifest()
        except (OSError, msgspec.DecodeError) as error:
            raise UnavailableError(
                f"{self.folder / MANIFEST} cannot be read: {error}. To fill the tables anew: "
                "messor analytics rebuild"
            ) from error

    def _file(self, table: Table, sequence: int, part: str) -> Path:
        return self.folder / f"{table.name}-{sequence:012}-{part}.parquet"

    def _paths(self, files: Files) -> Files:
        return msgspec.structs.replace(
            files,
            base=tuple(self.folder / name for name in files.base),
            delta=tuple(self.folder / name for name in files.delta),
        )

    @contextmanager
    def _changing(self) -> Iterator[tuple[LakeManifest, duckdb.DuckDBPyConnection]]:
        with self._locked(), self._duck() as duck:
            yield self._manifest(), duck

    @contextmanager
    def _reading(self) -> Iterator[tuple[LakeManifest, duckdb.DuckDBPyConnection]]:
        with self._duck() as duck:
            yield self._manifest(), duck

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time, among all processes that see the folder."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ConflictError(
                    f"Another process is writing to {self.folder}; try again when it is done."
                ) from error
            yield

    @contextmanager
    def _duck(self) -> Iterator[duckdb.DuckDBPyConnection]:
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY,
            "threads": 1,
            "preserve_insertion_order": False,
            "temp_directory": str(self.folder / "spill"),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        duck = duckdb.connect(":memory:", config=config)
        try:
            duck.execute("SET TimeZone = 'UTC'")
            yield duck
        except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
            reason = str(error).splitlines()[0]
            raise UnavailableError(
                f"The tables in {self.folder} cannot be used: {reason}. If a file is missing or "
                "damaged: messor analytics rebuild"
            ) from error
        finally:
            duck.close()


def _is_worth_merging(files: Files) -> bool:
    if len(files.base) > MAX_DELTAS or len(files.delta) > MAX_DELTAS:
        return True
    return files.delta_rows > max(MIN_MERGED, MAX_SHARE * files.base_rows)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
