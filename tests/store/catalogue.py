"""The schema `messor` as the server's catalogues state it: one line per fact, to be compared.

Monthly partitions appear with their bounds alone; what they inherit is named by the server.
"""

from __future__ import annotations

import asyncpg

TABLES = """
SELECT 'relation ' || c.relname || ' is ' || c.relkind::text || c.relpersistence::text
       || coalesce(' with ' || array_to_string(c.reloptions, ', '), '')
       || coalesce(' by ' || pg_get_partkeydef(c.oid), '')
  FROM pg_class c
 WHERE c.relnamespace = 'messor'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
   AND c.relname <> 'alembic_version'
"""
PARTITIONS = """
SELECT 'partition ' || c.relname || ' of ' || i.inhparent::regclass || ' is '
       || pg_get_expr(c.relpartbound, c.oid)
  FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid
 WHERE c.relnamespace = 'messor'::regnamespace AND c.relkind = 'r' AND c.relispartition
"""
COLUMNS = """
SELECT 'column ' || c.relname || '.' || a.attname || ' is '
       || row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum) || ' '
       || format_type(a.atttypid, a.atttypmod) || coalesce(' collate ' || l.collname, '')
       || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
       || ' identity "' || a.attidentity::text || '" generated "' || a.attgenerated::text || '"'
       || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  LEFT JOIN pg_collation l ON l.oid = a.attcollation AND l.collname <> 'default'
 WHERE c.relnamespace = 'messor'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
   AND c.relname <> 'alembic_version'
"""
CONSTRAINTS = """
SELECT 'constraint ' || n.conname || ' of ' || c.relname || ' is ' || pg_get_constraintdef(n.oid)
  FROM pg_constraint n JOIN pg_class c ON c.oid = n.conrelid
 WHERE c.relnamespace = 'messor'::regnamespace AND NOT c.relispartition AND n.contype NOT IN ('t', 'n')
   AND c.relname <> 'alembic_version'
"""
INDEXES = """
SELECT 'index ' || pg_get_indexdef(x.indexrelid) || CASE WHEN x.indisvalid THEN '' ELSE ' INVALID' END
  FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid
 WHERE c.relnamespace = 'messor'::regnamespace AND NOT c.relispartition AND c.relname <> 'alembic_version'
"""
STORAGE = """
SELECT 'storage ' || c.relname || '.' || a.attname || ' is ' || a.attstorage::text
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relnamespace = 'messor'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
   AND c.relname <> 'alembic_version'
"""
FUNCTIONS = """
SELECT 'function ' || pg_get_functiondef(p.oid)
  FROM pg_proc p WHERE p.pronamespace = 'messor'::regnamespace
"""
TRIGGERS = """
SELECT 'trigger ' || t.tgenabled::text || ' ' || pg_get_triggerdef(t.oid)
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
 WHERE c.relnamespace = 'messor'::regnamespace AND NOT t.tgisinternal AND NOT c.relispartition
"""
VIEWS = """
SELECT 'view ' || c.relname || ' is ' || pg_get_viewdef(c.oid)
  FROM pg_class c WHERE c.relnamespace = 'messor'::regnamespace AND c.relkind = 'v'
"""
DECLARED = (TABLES, COLUMNS, CONSTRAINTS, INDEXES)
EVERYTHING = (*DECLARED, PARTITIONS, STORAGE, FUNCTIONS, TRIGGERS, VIEWS)


async def catalogue(dsn: str, parts: tuple[str, ...] = EVERYTHING) -> set[str]:
    """The facts that these queries state about a database."""
    raw = await asyncpg.connect(dsn, ssl=False)
    try:
        return {row[0] for part in parts for row in await raw.fetch(part)}
    finally:
        await raw.close()
