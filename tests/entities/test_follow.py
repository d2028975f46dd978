"""Entities follow records: new, changed, removed, purged; people's decisions hold and are learnt from."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from messor.entities import decisions, queries
from messor.entities.follow import follow
from messor.entities.lessons import lessons
from messor.entities.queries import ENTITIES, PROPOSALS, EntityFilter, FullEntity, ProposalFilter
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.records import corrections
from messor.store.database import Database
from tests.harvested import Harvest, open_harvest, product_html

ACTOR = "member:00000000-0000-0000-0000-000000000001"


async def caught_up(database: Database, limit: int = 1_000) -> None:
    while await follow(database, limit) is not None:
        pass


async def entities(database: Database, **filters: object) -> list[tuple[str, int, int]]:
    """Title, domains and statements of each."""
    found = await ENTITIES.read(database, EntityFilter.model_validate(filters), order="title")
    return [(one.title, one.domains, one.statements) for one in found.items]


async def only(database: Database, **filters: object) -> FullEntity:
    (one,) = (await ENTITIES.read(database, EntityFilter.model_validate(filters))).items
    return await queries.entity(database, one.id)


async def two_shops(database: Database) -> tuple[Harvest, Harvest]:
    one, other = (
        await open_harvest(database, "one.example"),
        await open_harvest(database, "two.example"),
    )
    await one.see("/k", product_html("Acme Copper Kettle KX-200B", "49.90", sku="1"))
    await one.see("/c", product_html("Acme Cup", "9.90", sku="2"))
    await other.see("/k", product_html("ACME kettle KX-200B, copper", "44.50", sku="77"))
    return one, other


def organisation_html(name: str, **more: object) -> str:
    data = {"@context": "https://schema.org", "@type": "Organization", "name": name, **more}
    return f"<!doctype html><title>{name}</title><h1>{name}</h1><p>{'We help. ' * 30}</p><script type='application/ld+json'>{json.dumps(data)}</script>"


async def test_one_product_of_two_shops_is_one_entity(database: Database) -> None:
    await two_shops(database)
    await caught_up(database)
    assert await entities(database, kind="product") == [
        ("Acme Copper Kettle KX-200B", 2, 2), ("Acme Cup", 1, 1),
    ]  # fmt: skip
    kettle = await only(database, kind="product", min_domains=2)
    assert {one.domain for one in kettle.members} == {"one.example", "two.example"}
    assert {float(one.data["price"]) for one in kettle.members} == {49.9, 44.5}
    assert [(one.basis, one.verdict) for one in kettle.bases] == [("number kx200b", None)]
    name = next(one for one in kettle.fields if one.name == "product_name")
    assert [other.value for other in name.others] == ["ACME kettle KX-200B, copper"]
    assert next(one for one in kettle.fields if one.name == "brand").domains == 2


async def test_batches_of_any_size_and_order_give_the_same(database: Database) -> None:
    one, _ = await two_shops(database)
    await caught_up(database, limit=1)
    await one.see("/d", product_html("Acme Kettle KX-200B", "48.90", sku="3"))
    await caught_up(database, limit=1)
    small = await entities(database)
    assert ("Acme Copper Kettle KX-200B", 2, 3) in small
    await database.fetch("UPDATE messor.entity_position SET filled_to = 0")
    await caught_up(database)
    assert await entities(database) == small


async def test_a_page_that_changes_moves_its_statement(database: Database) -> None:
    _, other = await two_shops(database)
    await caught_up(database)
    before = (await only(database, kind="product", min_domains=2)).id
    await other.see("/k", product_html("ACME kettle KX-300C, steel", "44.50", sku="77"))
    await caught_up(database)
    assert [title for title, domains, _ in await entities(database, kind="product") if domains == 1] == [
        "ACME kettle KX-300C, steel", "Acme Copper Kettle KX-200B", "Acme Cup",
    ]  # fmt: skip
    assert (await queries.entity(database, before)).title == "Acme Copper Kettle KX-200B"


async def test_what_was_removed_and_erased_is_gone(database: Database) -> None:
    one, other = await two_shops(database)
    await caught_up(database)
    await other.see("/k", None)
    await caught_up(database)
    assert ("Acme Copper Kettle KX-200B", 1, 1) in await entities(database, kind="product")
    pages = await database.fetchval(
        "SELECT array_agg(id) FROM messor.pages WHERE url LIKE '%one.example/%'"
    )
    await database.fetch("SELECT messor.forget_pages($1, false)", pages)
    await caught_up(database)
    assert await entities(database) == []
    left = await database.fetchval(
        """SELECT (SELECT count(*) FROM messor.entities) + (SELECT count(*) FROM messor.entity_statements)
                + (SELECT count(*) FROM messor.entity_keys) + (SELECT count(*) FROM messor.entity_pairs)"""
    )
    assert left == 0
    assert one.name == "one.example"


async def test_a_footer_on_every_page_is_one_statement(database: Database) -> None:
    site = await open_harvest(database, "river.example")
    for number in range(6):
        await site.see(
            f"/{number}", organisation_html("River Food Bank", telephone="+49 30 901820")
        )
    directory = await open_harvest(database, "help.example")
    await directory.see(
        "/river",
        organisation_html(
            "The River Food Bank e.V.", telephone="030 901820", url="https://river.example/"
        ),
    )
    await caught_up(database)
    bank = await only(database, kind="organisation")
    assert (bank.domains, bank.statements, bank.records) == (2, 2, 7)
    assert bank.data["name"] == "River Food Bank"


async def test_a_person_takes_apart_and_it_stays_apart(database: Database) -> None:
    _, other = await two_shops(database)
    await caught_up(database)
    kettle = await only(database, kind="product", min_domains=2)
    second = next(one for one in kettle.members if one.domain == "two.example")
    async with database.transaction() as connection:
        apart = await decisions.split(
            connection, kettle.id, second.id, actor=ACTOR, reason="a copy"
        )
    assert apart.id != kettle.id
    assert len(await entities(database, kind="product")) == 3
    await other.see("/k", product_html("ACME kettle KX-200B, real copper", "41.50", sku="77"))
    await caught_up(database)
    assert len(await entities(database, kind="product")) == 3
    told = await database.fetchval(
        "SELECT data->>'reason' FROM messor.events WHERE type = 'entity.split'"
    )
    assert told == "a copy"


async def test_a_person_joins_what_nothing_joined(database: Database) -> None:
    await two_shops(database)
    await caught_up(database)
    found = {one.title: one.id for one in (await ENTITIES.read(database, EntityFilter())).items}
    kettle, cup = found["Acme Copper Kettle KX-200B"], found["Acme Cup"]
    async with database.transaction() as connection:
        whole = await decisions.merge(connection, kettle, cup, actor=ACTOR)
    assert whole.statements == 3
    assert (await queries.entity(database, cup)).id == whole.id  # the old id leads there
    async with database.transaction() as connection:
        with pytest.raises(ConflictError, match="one entity already"):
            await decisions.merge(connection, kettle, cup, actor=ACTOR)


async def test_proposals_are_decided(database: Database) -> None:
    one, other = (
        await open_harvest(database, "one.example"),
        await open_harvest(database, "two.example"),
    )
    await one.see("/k", product_html("Acme Kettle KX-200B red", "49.90", sku="1"))
    await other.see("/k", product_html("Acme Kettle KX-200B", "44.50", sku="2"))
    await caught_up(database)
    (asked,) = (await PROPOSALS.read(database, ProposalFilter())).items
    assert asked.basis == "number kx200b, one names its colour"
    async with database.transaction() as connection:
        with pytest.raises(UsageError):
            await decisions.decide(connection, asked.id, "perhaps", actor=ACTOR)
        with pytest.raises(NotFoundError):
            await decisions.decide(connection, asked.id + 99, "same", actor=ACTOR)
        whole = await decisions.decide(connection, asked.id, "same", actor=ACTOR)
    assert whole.domains == 2
    assert (await PROPOSALS.read(database, ProposalFilter())).items == []
    assert whole.bases[0].verdict == "same"


async def test_a_rule_that_people_refuse_only_proposes(database: Database) -> None:
    await two_shops(database)
    await database.fetch(
        """INSERT INTO messor.entity_pairs (first, second, kind, score, rule, basis, verdict, decided_by, decided_at)
           SELECT -n - 1, -n, 'product', 0.96, 'number', 'number x', 'different', $1, messor.clock() + make_interval(secs => n)
             FROM generate_series(1, 10, 2) n""",
        ACTOR,
    )
    await caught_up(database)
    assert len(await entities(database, kind="product")) == 3
    assert len((await PROPOSALS.read(database, ProposalFilter())).items) == 1


async def test_a_correction_shows_in_the_entity(database: Database) -> None:
    one, _ = await two_shops(database)
    record_id = await one.record_id("product", "/k")
    await caught_up(database)
    async with database.transaction() as connection:
        await corrections.correct(
            connection, record_id, "product_name", "Acme Kettle KX-200B", actor=ACTOR
        )
    await caught_up(database)
    kettle = await only(database, kind="product", min_domains=2)
    assert kettle.title == "Acme Kettle KX-200B"
    assert next(each for each in kettle.fields if each.name == "product_name").is_corrected


async def test_next_years_call_is_the_same_program(database: Database) -> None:
    site = await open_harvest(database, "city.example")
    for year, deadline in ((2025, "2025-05-01"), (2026, "2026-05-01")):
        data = {"@context": "https://schema.org", "@type": "Grant", "name": f"Green Roofs Grant {year}",
                "funder": {"@type": "Organization", "name": "City of Bonn"}}  # fmt: skip
        text = f"<p>Deadline: {deadline}</p><p>{'Roofs. ' * 30}</p>"
        await site.see(
            f"/{year}",
            f"<!doctype html><title>Grant</title><h1>Green Roofs Grant {year}</h1>{text}"
            f"<script type='application/ld+json'>{json.dumps(data)}</script>",
            timedelta(days=700 - 365 * (year - 2025)),
        )
    await caught_up(database)
    program = await only(database, kind="program")
    assert (program.statements, program.records) == (1, 2)


async def test_one_refusal_answers_all_that_is_proposed_between_two_entities(
    database: Database,
) -> None:
    one, _ = await two_shops(database)
    await one.see("/r", product_html("Acme Kettle KX-200B red", "48.00", sku="9"))
    await caught_up(database)
    asked = (await PROPOSALS.read(database, ProposalFilter())).items
    assert len(asked) == 2
    async with database.transaction() as connection:
        await decisions.decide(connection, asked[0].id, "different", actor=ACTOR)
    assert (await PROPOSALS.read(database, ProposalFilter())).items == []
    assert len(await entities(database, kind="product")) == 3


async def test_a_statement_taken_out_of_many_is_one_lesson(database: Database) -> None:
    for number in range(7):
        shop = await open_harvest(database, f"shop{number}.example")
        await shop.see("/k", product_html("Acme Kettle KX-200B", "49.90", sku=str(number)))
    await caught_up(database)
    kettle = await only(database, kind="product")
    async with database.transaction() as connection:
        await decisions.split(connection, kettle.id, kettle.members[0].id, actor=ACTOR)
        counts = (await lessons(connection)).counts
    assert set(counts.values()) == {(0, 1)}
