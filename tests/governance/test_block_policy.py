"""What a vertical says of blocks is in force at its domains; a person's word stands above it."""

from __future__ import annotations

from messor.governance.block_policy import follow_verticals
from messor.registry import domains
from messor.store.database import Database
from messor.verticals import files, verticals
from tests.crawling import admit
from tests.insight.making import apply_vertical, own


async def follow(database: Database) -> int:
    async with database.transaction() as connection:
        return await follow_verticals(connection)


async def word(database: Database, name: str) -> str:
    return (await domains.get(database, name)).on_block


async def test_domains_follow_their_vertical(database: Database) -> None:
    await admit(database, "clinic.example")
    await admit(database, "other.example")
    applied = await apply_vertical(database, "wellness")
    await own(database, applied, "Clinic", "clinic.example")
    assert await follow(database) == 1
    assert await word(database, "clinic.example") == "failover"
    assert await word(database, "other.example") == "respect"
    assert await follow(database) == 0
    shipped = files.shipped("wellness")
    version = shipped.vertical.version
    milder = shipped.source.replace(f"version = {version}", f"version = {version + 1}")
    milder = milder.replace('"failover"', '"respect"')
    async with database.transaction() as connection:
        await verticals.apply(connection, files.understand(milder, "mine"), actor="test")
    assert await follow(database) == 1
    assert await word(database, "clinic.example") == "respect"


async def test_a_domain_that_leaves_its_vertical_is_respected_again(database: Database) -> None:
    await admit(database, "clinic.example")
    await own(database, await apply_vertical(database, "wellness"), "Clinic", "clinic.example")
    await follow(database)
    await database.fetch("DELETE FROM messor.organisations")
    assert await follow(database) == 1
    assert await word(database, "clinic.example") == "respect"


async def test_a_persons_word_stands(database: Database) -> None:
    applied = await apply_vertical(database, "wellness")
    await admit(database, "first.example", on_block="respect")
    later = await admit(database, "later.example")
    await own(database, applied, "Clinic", "first.example", "later.example")
    assert await follow(database) == 1
    async with database.transaction() as connection:
        await domains.configure(connection, later, actor="ada", on_block="respect")
    assert await follow(database) == 0
    assert (
        await word(database, "first.example") == await word(database, "later.example") == "respect"
    )
