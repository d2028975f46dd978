"""SQL over the lake: one SELECT in a database of its own, which can open the lake's files only.

The configuration is locked before the statement runs, so no statement can widen it; what takes too
long is interrupted, what takes too much memory fails, and no more rows are fetched than allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event, Timer

import duckdb

from messor.analytics.store import AnswerRefusedError, Limits, SqlAnswer, shortened
from messor.errors import UnavailableError, UsageError

Views = Callable[[], dict[str, tuple[str, list[Path]]]]  # a table's query, and its files
ONE_SELECT = "Only one SELECT is answered, over: "


def run(views: Views, sql: str, limits: Limits) -> SqlAnswer:
    """SqlAnswer a query; the files are looked up again if they were replaced meanwhile."""
    tables = views()
    _require_select(sql, tables)
    try:
        return _answer(tables, sql, limits)
    except _UnreadableError as error:
        changed = views()
        if changed == tables:
            raise UnavailableError(
                f"A file cannot be read: {error}. To fill the tables anew: messor analytics rebuild"
            ) from error
        return _answer(changed, sql, limits)


class _UnreadableError(UnavailableError):
    """A file is missing or damaged."""


def _require_select(sql: str, tables: dict[str, tuple[str, list[Path]]]) -> None:
    try:
        found = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise UsageError(f"The SQL is wrong: {_first_line(error)}") from error
    if len(found) != 1 or found[0].type != duckdb.StatementType.SELECT:
        raise UsageError(f"{ONE_SELECT}{', '.join(tables)}.")


def _answer(tables: dict[str, tuple[str, list[Path]]], sql: str, limits: Limits) -> SqlAnswer:
    duck = duckdb.connect(":memory:", config={"threads": 2})
    is_late = Event()

    def stop() -> None:
        is_late.set()
        duck.interrupt()

    timer = Timer(limits.seconds, stop)
    try:
        _restrict(duck, tables, limits)
        timer.start()
        found = duck.execute(sql)
        names = [each[0] for each in found.description or ()]
        rows = found.fetchmany(limits.rows + 1)
    except duckdb.InterruptException as error:
        if not is_late.is_set():
            raise
        raise AnswerRefusedError(
            f"The query took longer than {limits.seconds:g} s; ask for less."
        ) from error
    except duckdb.OutOfMemoryException as error:
        raise AnswerRefusedError(
            f"The query needs more than {limits.memory_mb} MB of memory; ask for less."
        ) from error
    except duckdb.IOException as error:
        raise _UnreadableError(_first_line(error)) from error
    except duckdb.Error as error:
        raise UsageError(f"The SQL cannot be answered: {_first_line(error)}") from error
    finally:
        timer.cancel()
        duck.close()
    return SqlAnswer(names, shortened(rows[: limits.rows]), len(rows) > limits.rows)


def _restrict(
    duck: duckdb.DuckDBPyConnection, tables: dict[str, tuple[str, list[Path]]], limits: Limits
) -> None:
    """Views of the tables, then nothing but their files, for good."""
    files = [str(path) for _, paths in tables.values() for path in paths]
    listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    duck.execute("SET TimeZone = 'UTC'")
    duck.execute("SET autoinstall_known_extensions = false")
    duck.execute("SET autoload_known_extensions = false")
    duck.execute("SET allow_community_extensions = false")
    duck.execute(f"SET memory_limit = '{limits.memory_mb}MB'")
    duck.execute("SET temp_directory = ''")
    duck.execute(f"SET allowed_paths = [{listed}]")
    duck.execute("SET enable_external_access = false")
    try:
        for name, (source, _) in tables.items():
            duck.execute(f"CREATE VIEW {name} AS {source}")
    except duckdb.Error as error:
        raise _UnreadableError(_first_line(error)) from error
    duck.execute("SET lock_configuration = true")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
