"""Tables and views have the columns the specifications require, by row of docs/requirements.md.

Names, types and defaults are the settled ones. Only the schema is checked here; behaviour is
tested in the room of each table.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from messor.store.database import Database
from tests.docs.specified_tables import SPECIFIED

REQUIREMENTS = (Path(__file__).parents[2] / "docs" / "requirements.md").read_text(encoding="utf-8")

COLUMNS = """
SELECT c.relname AS place, a.attname AS name, format_type(a.atttypid, NULL) AS type, a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid) AS default_value
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
 WHERE c.relnamespace = 'messor'::regnamespace AND c.relkind IN ('r', 'p', 'v')
   AND NOT c.relispartition
"""
INDEXES = """
SELECT i.relname AS name, c.relname AS place, x.indisunique,
       (SELECT string_agg(pg_get_indexdef(x.indexrelid, n, true), ', ' ORDER BY n)
          FROM generate_series(1, x.indnkeyatts::int) AS n) AS columns
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
 WHERE c.relnamespace = 'messor'::regnamespace AND NOT c.relispartition
"""
CONSTRAINTS = """
SELECT c.relname AS place, n.contype::text AS kind, pg_get_constraintdef(n.oid) AS definition
  FROM pg_constraint n JOIN pg_class c ON c.oid = n.conrelid
 WHERE c.relnamespace = 'messor'::regnamespace AND NOT c.relispartition AND n.contype IN ('c', 'f')
"""
VIEWS = """
SELECT c.relname AS place, pg_get_viewdef(c.oid) AS definition FROM pg_class c
 WHERE c.relnamespace = 'messor'::regnamespace AND c.relkind = 'v'
"""
ONE_OF = re.compile(r"CHECK \(\((\w+) = ANY \(ARRAY\[(.*)\]\)\)\)")
REFERENCE = re.compile(r"FOREIGN KEY \((\w+)\) REFERENCES (?:messor\.)?(\w+)")


async def facts(database: Database) -> set[str]:
    """The schema as sentences, one per fact."""
    found: set[str] = set()
    for row in await database.fetch(COLUMNS):
        column = f"{row['place']}.{row['name']}"
        words = [column, row["type"].replace("timestamp with time zone", "timestamptz")]
        words += ["not null"] * row["attnotnull"]
        if row["default_value"] is not None:
            value = row["default_value"].removeprefix("messor.")
            words += ["default", re.sub(r"::[\w\[\] ]+$", "", value)]
        found |= {column, " ".join(words)}
    for row in await database.fetch(INDEXES):
        found.add(f"index {row['name']} on {row['place']} ({row['columns']})")
        if row["indisunique"]:
            found.add(f"unique {row['place']} ({row['columns']})")
    for row in await database.fetch(CONSTRAINTS):
        found |= _rule(row["place"], row["definition"])
    for row in await database.fetch(VIEWS):
        if distinct := re.search(r"DISTINCT ON \((.*?)\)", row["definition"]):
            columns = re.sub(r"\b\w+\.", "", distinct[1])
            found.add(f"unique {row['place']} ({columns})")
    return found


def _rule(place: str, definition: str) -> set[str]:
    if one_of := ONE_OF.fullmatch(definition):
        words = re.findall(r"'([^']*)'", one_of[2])
        return {f"{place}.{one_of[1]} is one of {', '.join(words)}"}
    if reference := REFERENCE.match(definition):
        return {f"{place}.{reference[1]} refers to {reference[2]}"}
    return set()


@pytest.fixture
async def schema(database: Database) -> set[str]:
    return await facts(database)


async def test_tables_are_as_specified(schema: set[str]) -> None:
    missing = {
        row: lost
        for row, wanted in SPECIFIED.items()
        if (lost := [line for line in wanted if line not in schema])
    }
    assert missing == {}


async def test_link_following_needs_no_list_of_urls(schema: set[str]) -> None:
    assert not [fact for fact in schema if fact.startswith("domain_scrape_urls")]


@pytest.mark.parametrize("row", sorted(SPECIFIED))
def test_every_row_is_a_requirement(row: str) -> None:
    assert f"| {row} |" in REQUIREMENTS
