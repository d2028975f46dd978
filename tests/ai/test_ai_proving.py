"""What a model says becomes a value only through words that stand on the page."""

from __future__ import annotations

from typing import Any

import pytest

from messor.ai.ledger import Subject
from messor.ai.model_page import LocalModelPage
from messor.ai.prompt_files import prompt
from messor.ai.questions import KINDS, answer_schema, check_answer, kind_of
from messor.content.kinds import KINDS as DECLARED
from messor.content.records import unsupported
from messor.errors import UsageError
from messor.store.database import Database
from simweb.services.model import ModelStandIn
from tests.ai.ai_bench import KEY, bench, page

SUBJECT = Subject("spa.test", "job")
PROGRAM = (
    "<h1>Green&nbsp;Roof Fund</h1><p>The <b>City</b> of Bern gives up to CHF&#160;12&#8217;500 "
    "to owners of flat roofs in the canton of Bern. Apply by 30 September 2027.</p>"
    '<p>Questions? roofs@bern.test, +41 31 321 61 11</p><p><a href="/apply?a=1&amp;b=2">How to apply</a></p>'
)


async def said(
    database: Database, body: str, kind: str, *records: dict[str, str]
) -> tuple[list[dict[str, Any]], list[tuple[str, Any]]]:
    """The values that remain of a model's answer, and what was put aside."""
    mind = lambda *_: {kind: list(records)}  # noqa: E731 - a mind of one thought
    async with bench(database, ModelStandIn(api_key=KEY, mind=mind, obeys=False)) as b:
        view = page(body)
        reading = await b.reader.read(LocalModelPage(view), SUBJECT, [kind])
        for record in reading.records:
            assert unsupported(record, view.source.text) == []
            assert kind == "product" or DECLARED[record.kind].problems(record) == []
        values = [{n: f.value for n, f in record.fields.items()} for record in reading.records]
        return values, [(each.field, each.value) for each in reading.unverified]


async def test_any_kind_is_read_by_its_schema(database: Database) -> None:
    values, aside = await said(
        database,
        PROGRAM,
        "funding_program",
        {
            "name": "Green Roof Fund",
            "funder": "City of Bern",
            "amount": "CHF 12'500",
            "deadline": "30 September 2027",
            "eligibility": "owners of flat roofs",
            "region": "canton of Bern",
        },
    )
    assert values == [
        {
            "name": "Green Roof Fund",
            "funder": "City of Bern",
            "amount": 12_500,
            "currency": "CHF",
            "deadline": "2027-09-30",
            "eligibility": "owners of flat roofs",
            "region": "canton of Bern",
        }
    ]
    assert aside == []


async def test_a_name_is_no_amount_and_says_nothing_more_of_what_it_names(
    database: Database,
) -> None:
    body = "<h1>CANARY-33</h1><p>It pays 2500 a year.</p>"
    same = dict.fromkeys(("name", "funder", "amount", "region", "description"), "CANARY-33")
    values, aside = await said(database, body, "funding_program", same)
    assert values == [{"name": "CANARY-33"}]
    assert {field for field, _ in aside} == {"funder", "amount", "region", "description"}
    plain = {"name": "CANARY-33", "amount": "2500"}
    values, aside = await said(database, f"{body}<p>Ask us.</p>", "funding_program", plain)
    assert (values, aside) == ([plain | {"amount": 2500}], [])


async def test_contacts_are_normalised_from_what_is_written(database: Database) -> None:
    values, aside = await said(
        database, PROGRAM, "contact", {"email": "roofs@bern.test", "phone": "+41 31 321 61 11"}
    )
    assert values == [{"email": "roofs@bern.test", "phone": "+41313216111"}]
    assert aside == []


async def test_a_product_has_its_own_normalisers(database: Database) -> None:
    body = (
        "<h1>Oak table</h1><p>Brand: Lignum</p><p>EUR 1.249,00</p><p>In stock</p><p>SKU: OT-77</p>"
    )
    record = {
        "product_name": "Oak table",
        "brand": "Lignum",
        "price": "EUR 1.249,00",
        "currency": "EUR",
        "availability": "In stock",
        "sku": "OT-77",
    }
    values, aside = await said(database, body, "product", record)
    assert aside == []
    assert values == [
        {
            "product_name": "Oak table",
            "brand": "Lignum",
            "price": 1249,
            "currency": "EUR",
            "availability": "in_stock",
            "sku": "OT-77",
        }
    ]


@pytest.mark.parametrize(
    "field, value",
    [
        ("price", "EUR 19.90"),  # invented
        ("price", "9"),  # within a number
        ("price", "49"),  # part of a number
        ("discount_percent", "49.90"),  # there, and no percentage
        ("valid_until", "2026-06-30"),  # converted by the model
        ("code", "SPRING20"),  # invented
        ("description", "Frühlingsangebot"),  # translated
    ],
)
async def test_what_is_not_on_the_page_is_put_aside(
    database: Database, field: str, value: str
) -> None:
    body = "<h2>Spring offer</h2><p>Facial 49.90 EUR until 30 June 2026, in room 9a</p>"
    values, aside = await said(database, body, "offer", {"title": "Spring offer", field: value})
    assert values == [{"title": "Spring offer"}]
    assert aside == [(field, value)]
    kept = await database.fetchval("SELECT unverified::text FROM messor.ai_calls")
    assert value in kept or "reason" in kept


async def test_a_record_that_is_about_nothing_on_the_page_is_no_record(database: Database) -> None:
    record = {"title": "Winter offer", "price": "49.90 EUR"}
    values, aside = await said(database, "<p>Facial 49.90 EUR</p>", "offer", record)
    assert values == []
    assert ("title", "Winter offer") in aside
    values, _ = await said(database, "<p>Some tea</p>", "offer", {"description": "Some tea"})
    assert values == []


async def test_of_several_places_the_one_near_the_title_counts(database: Database) -> None:
    cards = "".join(f"<h2>Offer {n}</h2><p>only {n}0 EUR</p>" for n in (1, 2, 3))
    body = f"<p>From 20 USD</p>{'<p>filler</p>' * 200}{cards}<p>Up to 20 GBP</p>"
    values, _ = await said(database, body, "offer", {"title": "Offer 2", "price": "20"})
    assert values == [{"title": "Offer 2", "price": 20, "currency": "EUR"}]


async def test_a_link_is_the_pages_own(database: Database) -> None:
    record = {"label": "How to apply"}
    body = PROGRAM.replace("How to apply", "Apply now")
    values, _ = await said(database, body, "call_to_action", {"label": "Apply now"})
    assert values == [{"label": "Apply now", "action": "apply", "url": "/apply?a=1&b=2"}]
    values, _ = await said(database, PROGRAM, "call_to_action", {**record, "action": "book"})
    assert values == []


def test_every_kind_has_a_schema_that_endpoints_take() -> None:
    for kind in KINDS:
        schema = answer_schema([kind])
        items = schema["properties"][kind]["items"]
        assert items["additionalProperties"] is False
        assert items["required"] == list(items["properties"]) == list(kind_of(kind).asked_fields)
        assert not {"url", "logo", "profile", "form_action"} & set(kind_of(kind).asked_fields)
        assert check_answer([kind], {kind: [dict.fromkeys(kind_of(kind).asked_fields)]}) is None
    with pytest.raises(UsageError, match="no kind of record"):
        answer_schema(["spell"])


@pytest.mark.parametrize(
    "value",
    [
        None, [], "offer", {"product": []}, {"offer": {}}, {"offer": ["x"]}, {"offer": [{"url": "x"}]},
        {"offer": [{"price": 49}]}, {"offer": [{"title": "x" * 3_000}]}, {"offer": [{}] * 101},
    ],
)  # fmt: skip
def test_answers_of_another_shape_are_no_answers(value: Any) -> None:
    assert check_answer(["offer"], value) is not None


def test_prompts_are_files_with_versions() -> None:
    assert prompt("extract").version == "extract-1"
    assert prompt("relevance", 1).text.count("{mark}") == 2
    for name, number in (("extract", 99), ("spell", None)):
        with pytest.raises(UsageError, match="There is no"):
            prompt(name, number)
