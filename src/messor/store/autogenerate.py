"""What `alembic revision --autogenerate` and `alembic check` compare a database with: all models.

The store lies below the rooms, so it finds their models by name and imports them when it is asked
to: for developers and tests. Nothing that runs Messor loads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from alembic.operations import MigrationScript
from sqlalchemy import Connection, MetaData, text

from messor.store.base import Base

ROOMS = Path(__file__).parents[1]


def metadata() -> MetaData:
    """Every table of every room: `models.py` of each room that has one."""
    for path in sorted(ROOMS.glob("*/models.py")):
        import_module(f"messor.{path.parent.name}.models")
    return Base.metadata


def options(connection: Connection) -> dict[str, Any]:
    """What Alembic's context needs to compare the connection's database with the models.

    A role named `messor` has that schema as its default, whose name Alembic would leave out.
    """
    connection.execute(text("SET search_path TO public"))
    connection.dialect.default_schema_name = "public"
    return {
        "target_metadata": metadata(),
        "include_schemas": True,
        "include_name": is_compared,
        "compare_server_default": True,
        "process_revision_directives": number,
    }


def is_compared(name: str | None, kind: str, _: Mapping[str, str | None]) -> bool:
    """Whether an object is looked at: if it is in schema `messor`, and no monthly partition."""
    if kind == "schema":
        return name == Base.metadata.schema
    log = re.sub(r"_(?:\d{4}_\d{2}|other)$", "", name or "") if kind == "table" else name
    return log == name or f"messor.{log}" not in Base.metadata.tables


def number(_: object, current: tuple[str], directives: list[MigrationScript]) -> None:
    """Name a new revision by the next number and its message, as `revisions` expects."""
    following = int(current[0].partition("_")[0]) + 1
    for script in directives:
        words = re.findall(r"\w+", (script.message or "unnamed").lower())
        script.rev_id = "_".join([f"{following:03}", *words])
