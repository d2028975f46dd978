"""Verticals in the database, and the organisations that belong to them."""

from __future__ import annotations

import pytest

from messor.errors import ConflictError, UsageError
from messor.store.database import Database
from messor.verticals import files, organisation_import, organisations, verticals
from messor.verticals.organisations import NewOrganisation
from messor.verticals.queries import ORGANISATIONS
from messor.verticals.verticals import Applied
from tests.listed import listed

WELLNESS = files.shipped("wellness")


async def apply(database: Database, file: files.VerticalFile = WELLNESS) -> Applied:
    async with database.transaction() as connection:
        applied, _ = await verticals.apply(connection, file, actor="test")
    return applied


async def test_a_vertical_fills_its_tables(database: Database) -> None:
    applied = await apply(database)
    count = "SELECT count(*) FROM messor.{} WHERE vertical_id = $1"
    vertical = WELLNESS.vertical
    for table, expected in {
        "vertical_services": len(vertical.services),
        "serp_profiles": len(vertical.profiles),
        "geo_sets": len(vertical.geo_sets),
        "keyword_templates": len(vertical.templates),
    }.items():
        assert await database.fetchval(count.format(table), applied.id) == expected
    row = await database.fetchrow(
        "SELECT gl, hl, device, location, uule FROM messor.serp_profiles WHERE name = 'sg-desktop'"
    )
    assert row is not None
    assert tuple(row) == ("sg", "en", "desktop", "Singapore", None)
    assert (await verticals.get(database, "wellness")).vertical == vertical


async def test_the_same_file_again_changes_nothing(database: Database) -> None:
    first = await apply(database)
    async with database.transaction() as connection:
        again, changes = await verticals.apply(connection, WELLNESS, actor="other")
    assert changes == []
    assert again == first


async def test_a_version_means_one_thing(database: Database) -> None:
    await apply(database)
    other = files.understand(WELLNESS.source.replace("Wellness clinics", "Other"), "w.toml")
    with pytest.raises(ConflictError, match="give the file a higher version"):
        await apply(database, other)


async def test_what_a_new_version_drops_is_switched_off(database: Database) -> None:
    before = await apply(database)
    first = WELLNESS.vertical.version
    source = WELLNESS.source.replace(f"version = {first}", f"version = {first + 1}", 1)
    source = source.replace('name = "botox"', 'name = "needles"', 1)
    source = source.replace("[profiles.sg-mobile]", "[profiles.sg-phone]", 1)
    after = await apply(database, files.understand(source, "w.toml"))
    assert after.id == before.id
    rows = await database.fetch(
        "SELECT service_name FROM messor.vertical_services WHERE NOT active"
    )
    assert [row[0] for row in rows] == ["botox"]
    rows = await database.fetch("SELECT name FROM messor.serp_profiles WHERE NOT active")
    assert [row[0] for row in rows] == ["sg-mobile"]
    versions = await verticals.history(database, after)
    assert [one.version for one in versions] == [first + 1, first]
    with pytest.raises(ConflictError):
        await apply(database)


async def test_all_five_live_side_by_side(database: Database) -> None:
    for name in files.SHIPPED:
        await apply(database, files.shipped(name))
    assert [one.vertical.name for one in await verticals.listing(database)] == list(files.SHIPPED)


CSV = """name,domains,location,external_id
Orchard Skin,https://www.orchardskin.example/about; skin.example.sg,Orchard,1
"Novena, Physio",physio.example,,
,nobody.example,,
Bad Address,not a domain!,,
Thief,orchardskin.example,,
orchard  SKIN,third.example,,
Orchard Skin,third.example,,
"""


async def test_a_csv_is_taken_line_by_line(database: Database) -> None:
    applied = await apply(database)
    reports = await organisation_import.import_csv(database, applied, CSV, actor="test")
    assert [(one.line, one.outcome) for one in reports] == [
        (2, "created"),
        (3, "created"),
        (4, "refused"),
        (5, "refused"),
        (6, "refused"),
        (7, "updated"),
        (8, "unchanged"),
    ]
    assert "Give the organisation a name" in reports[2].message
    assert "not" in reports[3].message
    assert "already belongs to Orchard Skin" in reports[4].message
    found = {one.name: one for one in await listed(ORGANISATIONS, database)}
    assert found["Orchard Skin"].domains == ["example.sg", "orchardskin.example", "third.example"]
    assert found["Novena, Physio"].location is None
    assert await database.fetchval("SELECT count(*) FROM messor.clinics") == 2


@pytest.mark.parametrize(
    "text,said",
    [
        ("", "first line must name the columns"),
        ("title\nx", "first line must name the columns"),
        ("name,colour\nx,red", "first line must name the columns"),
        ('name\n"x', "not valid CSV"),
    ],
)
async def test_what_is_no_csv_is_said(database: Database, text: str, said: str) -> None:
    applied = await apply(database)
    with pytest.raises(UsageError, match=said):
        await organisation_import.import_csv(database, applied, text, actor="test")


async def test_a_domain_may_have_an_owner_in_each_vertical(database: Database) -> None:
    for name in ("wellness", "products"):
        applied = await apply(database, files.shipped(name))
        async with database.transaction() as connection:
            given = NewOrganisation.understand("Both", ["both.example"])
            key, outcome = await organisations.put(connection, applied, given, actor="test")
            assert outcome == "created"
            assert await organisations.owner_of(connection, applied, "both.example") == key


@pytest.mark.parametrize(
    "filters,names",
    [
        ({}, ["Alder Clinic", "Birch Spa", "Shop"]),
        ({"q": "SPA"}, ["Birch Spa"]),
        ({"q": "%"}, []),
        ({"vertical": "wellness"}, ["Alder Clinic", "Birch Spa"]),
        ({"domain": "alder.example"}, ["Alder Clinic"]),
        ({"domain": "birch.example", "vertical": "products"}, []),
    ],
)
async def test_organisations_are_filtered_and_ordered(
    database: Database, filters: dict[str, str], names: list[str]
) -> None:
    for vertical, name, domain in (
        ("wellness", "Birch Spa", "birch.example"),
        ("wellness", "Alder Clinic", "alder.example"),
        ("products", "Shop", "shop.example"),
    ):
        applied = await apply(database, files.shipped(vertical))
        async with database.transaction() as connection:
            given = NewOrganisation.understand(name, [domain])
            await organisations.put(connection, applied, given, actor="test")
    found = await listed(ORGANISATIONS, database, order="name", **filters)
    assert [one.name for one in found] == names
    backwards = await listed(ORGANISATIONS, database, order="-name", **filters)
    assert [one.name for one in backwards] == names[::-1]
