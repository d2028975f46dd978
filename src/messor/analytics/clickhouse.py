"""ClickHouse: each table a ReplacingMergeTree by version, read with FINAL.

A batch may come twice: its rows have the same keys and versions. The state is written last, so that a
batch that was interrupted comes again. Deletes are rows that are marked as deleted, with a greater
version; what was erased is also removed from disk, by a mutation that is waited for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import msgspec

from messor.analytics.dialects import ClickHouseDialect
from messor.analytics.rows import NULL, RowBatch
from messor.analytics.store import (
    AnswerRefusedError,
    Limits,
    SqlAnswer,
    State,
    TableSize,
    shortened,
)
from messor.analytics.tables import TABLES, Table
from messor.errors import UnavailableError, UsageError
from messor.exports.columns import Column, Type

TYPES: dict[Type, str] = {
    "text": "String",
    "integer": "Int64",
    "number": "Float64",
    "boolean": "Bool",
    "time": "DateTime64(6, 'UTC')",
    "json": "String",
}
STATE = "analytics_state"
IDS = 5_000  # per statement
# What makes ClickHouse answer as SQL says.
ANSWERING: Mapping[str, Any] = {
    "final": 1,
    "join_use_nulls": 1,
    "aggregate_functions_null_for_empty": 1,
    "prefer_column_name_to_alias": 1,
}
INSERTING: Mapping[str, Any] = {
    "date_time_input_format": "best_effort",
    "format_csv_null_representation": NULL,
    "input_format_csv_empty_as_default": 0,
}
LIMIT_CODES = ("159", "160", "241", "306", "396")  # time, memory, depth, rows
# What is quoted, and comments.
_QUOTED = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*|/\*.*?\*/""", re.DOTALL
)
ABSENT = (
    "ClickHouse needs the package clickhouse-connect: pip install 'messor[clickhouse]', or unset "
    "MESSOR_CLICKHOUSE_URL to use DuckDB."
)


class ClickHouse:
    """The store at a server; the client is given or made from the URL."""

    name = "clickhouse"

    def __init__(self, client: Any, database: str = "messor", *, owns: bool = False) -> None:
        self._client = client
        self._owns = owns  # the client, and closes it
        self.database = database
        self.dialect = ClickHouseDialect()

    @classmethod
    def at(cls, url: str) -> ClickHouse:
        """The server of a URL such as http://user:password@host:8123/messor."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                "MESSOR_CLICKHOUSE_URL must be a URL such as http://user:password@host:8123/messor."
            )
        try:
            from clickhouse_connect import get_client  # noqa: PLC0415 - an optional package
        except ImportError as error:
            raise UnavailableError(ABSENT) from error
        with _translated(parts.hostname):
            client = get_client(
                host=parts.hostname,
                port=parts.port or (8443 if parts.scheme == "https" else 8123),
                username=unquote(parts.username or "default"),
                password=unquote(parts.password or ""),
                secure=parts.scheme == "https",
                connect_timeout=5,
                send_receive_timeout=300,
                autogenerate_session_id=False,
            )
        return cls(client, parts.path.strip("/") or "messor", owns=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._owns:
            self._client.close()

    def state(self) -> State:
        with self._asking():
            self._prepare()
            found = self._client.query(
                f"SELECT state FROM {self.database}.{STATE} FINAL WHERE id = 1"
            ).result_rows
        return msgspec.json.decode(found[0][0], type=State) if found else State()

    def write(self, batches: Sequence[RowBatch], state: State, *, erase: bool = False) -> None:
        with self._asking():
            for batch in batches:
                for part in _parts(batch.gone):
                    self._mark_gone(batch, part, state.sequence)
                self._insert(batch)
                for part in _parts(batch.gone if erase else ()):
                    self._erase(batch, part)
            self._save(state)

    def fill(self, batch: RowBatch, state: State) -> None:
        with self._asking():
            self._insert(batch)
            self._save(state)

    def values_of(self, table: str, column: str, of: str, ids: Sequence[Any]) -> list[Any]:
        found = []
        with self._asking():
            for part in _parts(ids):
                sql = f"SELECT DISTINCT {column} FROM {self._name(table)} FINAL WHERE {of} IN ({self._list(part)})"
                found += [row[0] for row in self._client.query(sql).result_rows]
        return found

    def tidy(self) -> None:
        """ClickHouse merges by itself."""

    def reset(self) -> None:
        with self._asking():
            for name in (STATE, *TABLES):  # the state first: an interrupted reset is repeated
                self._client.command(f"DROP TABLE IF EXISTS {self._name(name)} SYNC")
            self._prepare()

    def query(self, sql: str, limits: Limits) -> SqlAnswer:
        # `readonly` comes last: nothing can be set after it, and table functions that reach files
        # or other servers are refused.
        settings = {
            **ANSWERING,
            "max_execution_time": limits.seconds,
            "max_memory_usage": limits.memory_mb * 1_000_000,
            "max_result_rows": 0,
            "limit": limits.rows + 1,
            "readonly": 1,
        }
        with self._asking(is_given=True):
            self._client.database = self.database
            found = self._client.query(_one_select(sql), settings=settings)
        rows = [tuple(row) for row in found.result_rows]
        return SqlAnswer(
            list(found.column_names), shortened(rows[: limits.rows]), len(rows) > limits.rows
        )

    def sizes(self) -> list[TableSize]:
        with self._asking():
            self._prepare()
            return [self._size(name) for name in TABLES]

    def _size(self, name: str) -> TableSize:
        rows = self._client.query(f"SELECT count() FROM {self._name(name)} FINAL").result_rows
        parts = self._client.query(
            "SELECT sum(bytes_on_disk) FROM system.parts WHERE active "
            f"AND database = {self.dialect.text(self.database)} AND table = {self.dialect.text(name)}"
        ).result_rows
        return TableSize(name, int(rows[0][0]), int(parts[0][0] or 0))

    def _prepare(self) -> None:
        self._client.command(f"CREATE DATABASE IF NOT EXISTS {self.database}")
        self._client.command(
            f"CREATE TABLE IF NOT EXISTS {self._name(STATE)} (id UInt8, state String, version UInt64)"
            " ENGINE = ReplacingMergeTree(version) ORDER BY id"
        )
        for table in TABLES.values():
            cells = ", ".join(_declared(each, table) for each in table.columns)
            self._client.command(
                f"CREATE TABLE IF NOT EXISTS {self._name(table.name)} ({cells}, _version UInt64, "
                "_gone UInt8 DEFAULT 0) ENGINE = ReplacingMergeTree(_version, _gone) "
                f"ORDER BY ({', '.join(table.key)})"
            )

    def _insert(self, batch: RowBatch) -> None:
        """The rows of a batch in one insert."""
        if not batch.rows:
            return
        with batch.path.open("rb") as file:
            self._client.raw_insert(
                self._name(batch.table.name),
                [*batch.table.names, "_version"],
                insert_block=file,
                fmt="CSV",
                settings=dict(INSERTING),
            )

    def _mark_gone(self, batch: RowBatch, ids: Sequence[Any], sequence: int) -> None:
        table, keys = batch.table, ", ".join(batch.table.key)
        self._client.command(
            f"INSERT INTO {self._name(table.name)} ({keys}, _version, _gone) "
            f"SELECT {keys}, {2 * sequence}, 1 FROM {self._name(table.name)} FINAL "
            f"WHERE {batch.column} IN ({self._list(ids)})"
        )

    def _erase(self, batch: RowBatch, ids: Sequence[Any]) -> None:
        self._client.command(
            f"ALTER TABLE {self._name(batch.table.name)} DELETE "
            f"WHERE {batch.column} IN ({self._list(ids)})",
            settings={"mutations_sync": 2},
        )

    def _save(self, state: State) -> None:
        encoded = self.dialect.text(msgspec.json.encode(state).decode())
        self._client.command(
            f"INSERT INTO {self._name(STATE)} VALUES (1, {encoded}, {state.sequence})"
        )

    def _name(self, table: str) -> str:
        return f"{self.database}.{table}"

    def _list(self, ids: Sequence[Any]) -> str:
        return ", ".join(
            str(one) if isinstance(one, int) else self.dialect.text(str(one)) for one in ids
        )

    @contextmanager
    def _asking(self, *, is_given: bool = False) -> Iterator[None]:
        with _translated("ClickHouse", is_given=is_given):
            yield


@contextmanager
def _translated(server: str, *, is_given: bool = False) -> Iterator[None]:
    """Errors of the client as sentences; SQL that a person gave may be wrong itself."""
    from clickhouse_connect.driver.exceptions import ClickHouseError  # noqa: PLC0415 - optional

    try:
        yield
    except ClickHouseError as error:
        message = " ".join(str(error).split())
        if is_given and any(f"Code: {code}." in message for code in LIMIT_CODES):
            raise AnswerRefusedError(f"The query exceeds its limits: {message[:300]}") from error
        if is_given and "Code:" in message:
            raise UsageError(f"The SQL cannot be answered: {message[:500]}") from error
        raise UnavailableError(
            f"ClickHouse ({server}) cannot be used: {message[:300]}. Check MESSOR_CLICKHOUSE_URL."
        ) from error


def _one_select(sql: str) -> str:
    """The statement; a server refuses a second one and files itself, an embedded one may not."""
    given = sql.strip().rstrip(";")
    words = _QUOTED.sub(" ", given).upper()
    if not words.lstrip("( \n").startswith(("SELECT", "WITH")) or ";" in words:
        raise UsageError(f"Only one SELECT is answered, over: {', '.join(TABLES)}.")
    if "OUTFILE" in words:
        raise UsageError("A query cannot write files.")
    return given


def _declared(column: Column, table: Table) -> str:
    kind = TYPES[column.type]
    return f"{column.name} {kind if column.name in table.key else f'Nullable({kind})'}"


def _parts(ids: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(ids), IDS):
        yield ids[start : start + IDS]
