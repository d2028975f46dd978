"""Whatever is deleted leaves a tombstone, by whichever statement; and nothing of what it said."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import messor
from messor.feed.queries import Change, ChangeFilter, read_feed
from messor.governance import erasure, purges
from messor.store.database import Database
from tests.crawling import suspend
from tests.harvested import Harvest, open_harvest, product_html
from tests.specs.rows import fill

SOURCE = Path(messor.__file__).parent
# Nouns of the feed, by table; whoever deletes their rows leaves tombstones.
NOUNS = {
    "pages": "page",
    "page_snapshots": "snapshot",
    "records": "record",
    "products": "product",
    "archived_products": "product",
    "candidates": "candidate",
    "organisations": "organisation",
    "serp_snapshots": "serp",
    "domains": "domain",
}
TRIGGERS = """
SELECT tgrelid::regclass::text AS place, encode(tgargs, 'escape') AS kind FROM pg_trigger
 WHERE tgfoid = 'messor.leave_tombstones'::regproc
"""
DELETES = re.compile(
    r"(?:DELETE\s+FROM|TRUNCATE(?:\s+TABLE)?)\s+(?:messor\.)?(%I|%s|\w+)", re.IGNORECASE
)
# Statements that name their table only when they run, and which tables those are.
DYNAMIC = {
    "forget_pages.001.sql": "every table that names a page or a snapshot",
    "forget_pages.023.sql": "the same",
    "forget_pages.029.sql": "the same",
    "delete_old_rows.001.sql": "logs",
    "delete_old_rows.029.sql": "logs",
    "make_partitions.001.sql": "logs, moved within",
}


async def tombstones(database: Database) -> list[Change]:
    return (await read_feed(database, ChangeFilter(state="erased"))).items


async def stocked(database: Database) -> Harvest:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html(price="49.90"), timedelta(days=2))
    await shop.see("/kettle", product_html(price="39.90"), timedelta(days=1))
    await shop.see("/cup", product_html("Cup", "9.90", sku="C-1"))
    return shop


async def everything(database: Database) -> dict[str, set[int]]:
    found = {}
    for table, kind in list(NOUNS.items())[:4]:
        rows = await database.fetch(f"SELECT id FROM messor.{table}")
        found[kind] = {row["id"] for row in rows}
    return found


def subjects(told: list[Change]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for one in told:
        if one.kind in ("page", "snapshot", "record", "product"):
            found.setdefault(one.kind, set()).add(int(one.subject.partition(":")[2]))
    return found


async def test_a_purge_leaves_one_for_each_thing(database: Database) -> None:
    shop = await stocked(database)
    kept = await everything(database)
    assert all(kept.values())
    await suspend(database, shop.domain)
    async with database.transaction() as connection:
        await purges.purge(connection, shop.name, actor="ann")
    told = await tombstones(database)
    assert subjects(told) == kept
    assert {one.domain for one in told} == {"shop.example"}
    assert not any(one.before or one.after or one.url for one in told)
    left = (await read_feed(database, ChangeFilter(kinds="page,product,record"))).items
    assert {one.state for one in left} == {"erased"}  # what they said went with them


async def test_an_erased_url_leaves_them_for_its_page_alone(database: Database) -> None:
    shop = await stocked(database)
    page_id = await database.fetchval("SELECT id FROM messor.pages WHERE url LIKE '%/cup'")
    async with database.transaction() as connection:
        await erasure.erase_url(
            connection, f"https://{shop.name}/cup", actor="ann", reason="asked to"
        )
    told = await tombstones(database)
    assert subjects(told)["page"] == {page_id}
    assert {one.page_id for one in told} == {page_id}
    assert {one.kind for one in told} == {"page", "snapshot", "record", "product"}


async def test_an_erased_domain_is_a_tombstone_itself(database: Database) -> None:
    await fill(database)
    async with database.transaction() as connection:
        await erasure.erase_domain(connection, "example.com", actor="ann", reason="asked to")
    told = await tombstones(database)
    assert {"domain", "candidate", "page", "record"} <= {one.kind for one in told}


async def test_every_noun_has_its_trigger(database: Database) -> None:
    rows = await database.fetch(TRIGGERS)
    found = {row["place"].rpartition(".")[2]: row["kind"].removesuffix("\\000") for row in rows}
    assert found == NOUNS


async def test_a_deleted_row_of_every_noun_is_told(database: Database) -> None:
    await fill(database)
    # An archived product is not in `products`: `records/test_old_products.py` has its tombstone.
    for table, kind in ((t, k) for t, k in NOUNS.items() if t != "archived_products"):
        ids = {
            str(row["id"])
            for row in await database.fetch(f"DELETE FROM messor.{table} RETURNING id")
        }
        told = {one.subject for one in await tombstones(database) if one.kind == kind}
        assert ids
        assert told == {f"{kind}:{one}" for one in ids}


def test_no_statement_deletes_a_noun_out_of_sight() -> None:
    """Triggers see every DELETE, but no TRUNCATE and no dropped partition."""
    dynamic = set()
    for path in [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.sql")]:
        if path.parent.name == "versions" or "test" in path.parts:
            continue
        for match in DELETES.finditer(path.read_text(encoding="utf-8")):
            if match[1] in ("%I", "%s"):
                dynamic.add(path.name)
            assert not (match[0].upper().startswith("TRUNCATE") and match[1] in NOUNS), path
    assert dynamic == set(DYNAMIC)
