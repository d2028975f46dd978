"""What a store of analytics can do: take batches that may come twice, and answer SQL within limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import msgspec

from messor.analytics.dialects import SqlDialect
from messor.analytics.rows import RowBatch
from messor.errors import UnavailableError

QUERY_SECONDS = 30.0
QUERY_MEMORY_MB = 512
QUERY_ROWS = 10_000
MAX_CELL = 1_000_000  # characters of a cell in an answer


class LogMark(msgspec.Struct, frozen=True):
    """How far a log was read: up to which time, and which transactions."""

    until: str
    tx: int


class State(msgspec.Struct):
    """How far a store is; it is stored with what it describes."""

    sequence: int = 0  # of the last batch; later versions of a row are greater
    tx: str = "0"
    number: str = "0"
    # Tables that are being filled, with the last id; one that is filled has none.
    filling: dict[str, str] = msgspec.field(default_factory=dict)
    logs: dict[str, LogMark] = msgspec.field(default_factory=dict)
    measured_on: str = ""

    @property
    def is_filled(self) -> bool:
        return self.sequence > 0 and not self.filling


@dataclass(frozen=True, slots=True)
class Limits:
    """What a query may take."""

    seconds: float = QUERY_SECONDS
    rows: int = QUERY_ROWS
    memory_mb: int = QUERY_MEMORY_MB


@dataclass(frozen=True, slots=True)
class SqlAnswer:
    """Rows of a query."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    is_cut: bool = False  # there are more rows than the limit


@dataclass(frozen=True, slots=True)
class TableSize:
    """A table of a store."""

    name: str
    rows: int
    bytes: int


class AnswerRefusedError(UnavailableError):
    """A query took more than its limits allow."""

    code = "query_limit"
    retryable = False


class Store(Protocol):
    """A store: DuckDB over Parquet, or ClickHouse. Its methods block."""

    @property
    def name(self) -> str: ...

    @property
    def dialect(self) -> SqlDialect: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...

    def state(self) -> State:
        """How far the store is; a new one is empty."""

    def write(self, batches: Sequence[RowBatch], state: State, *, erase: bool = False) -> None:
        """Write batches and the state after them, as a whole or so that they can be repeated.

        Rows take the place of those with their key. `erase` also removes from disk what ids of the
        batches had.
        """

    def fill(self, batch: RowBatch, state: State) -> None:
        """Write rows whose keys the store does not have."""

    def values_of(self, table: str, column: str, of: str, ids: Sequence[Any]) -> list[Any]:
        """The values of a column in the rows whose column `of` is one of the ids."""

    def tidy(self) -> None:
        """Merge what many batches left behind, if it is worth it."""

    def reset(self) -> None:
        """Delete everything."""

    def query(self, sql: str, limits: Limits) -> SqlAnswer:
        """SqlAnswer a SELECT; it can read these tables and nothing else."""

    def sizes(self) -> list[TableSize]:
        """The tables with their rows and bytes."""


def shortened(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Rows whose cells are short enough to be shown."""
    return [tuple(_cell(value) for value in row) for row in rows]


def _cell(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MAX_CELL:
        return value[:MAX_CELL]
    if isinstance(value, bytes):
        return value[:MAX_CELL].hex()
    return value
