"""What the specifications print of columns is compared with the views; docs/spec-names.md says the rest."""

from __future__ import annotations

import re
from pathlib import Path

from messor.store.database import Database
from tests.specs.columns import SPECIFIED_COLUMNS

PAGE = Path(__file__).parents[2] / "docs" / "spec-names.md"
EXCEPTION = re.compile(r"\| `([\w.]+)` \| (.*?) \| (.*?) \| .+ \|")

COLUMNS = """
SELECT n.nspname || '.' || c.relname || '.' || a.attname AS name, format_type(a.atttypid, NULL) AS type,
       t.typtype = 'e' AS is_enum, pg_get_expr(d.adbin, d.adrelid) AS default_value
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
 WHERE n.nspname IN ('wellness', 'forager', 'approval', 'funding', 'orbit') AND c.relkind = 'v'
"""
FAMILIES = {
    "smallint": "integer", "bigint": "integer", "character varying": "text", "numeric": "number",
    "double precision": "float", "real": "float", "timestamp with time zone": "timestamp",
    "jsonb": "json", "bytea": "bytes",
}  # fmt: skip
# A UUIDv7 is a random one that sorts by time; the clock is now() unless a test moves it.
SAME_DEFAULTS = {"new_id()": "gen_random_uuid()", "clock()": "NOW()"}


def default_of(expression: str) -> str:
    plain = re.sub(r"::[\w.\[\] ]+$", "", re.sub(r"^(messor|pg_catalog)\.", "", expression))
    return SAME_DEFAULTS.get(plain, plain)


def same(specified: str) -> str:
    """A specified column in the words of the comparison: booleans in one case."""
    return re.sub(r"= (TRUE|FALSE)$", lambda match: match[0].lower(), specified)


async def is_never_null(database: Database, column: str) -> bool:
    """Whether no row has NULL there; every view has rows."""
    view, _, name = column.rpartition(".")
    row = await database.fetchrow(f"SELECT count(*) AS rows, count({name}) AS values FROM {view}")
    assert row is not None
    assert row["rows"] > 0, view
    return bool(row["rows"] == row["values"])


async def found_columns(database: Database) -> dict[str, str]:
    """What the views have of each specified column, in the words of the specification."""
    found = {}
    for row in await database.fetch(COLUMNS):
        name = row["name"]
        if name not in SPECIFIED_COLUMNS:
            continue
        words = ["enum" if row["is_enum"] else FAMILIES.get(row["type"], row["type"])]
        if "not null" in SPECIFIED_COLUMNS[name] and await is_never_null(database, name):
            words.append("not null")
        if row["default_value"] is not None:
            words.append(f"= {default_of(row['default_value'])}")
        found[name] = " ".join(words)
    return found


async def test_columns_are_as_specified_but_for_what_is_listed(filled: Database) -> None:
    found = await found_columns(filled)
    assert SPECIFIED_COLUMNS.keys() - found.keys() == set()
    different = {
        name: (same(specified), found[name])
        for name, specified in SPECIFIED_COLUMNS.items()
        if same(specified) != found[name]
    }
    listed = {
        match[1]: (same(match[2].strip("`")), match[3].strip("`"))
        for match in EXCEPTION.finditer(PAGE.read_text(encoding="utf-8"))
    }
    assert different == listed
