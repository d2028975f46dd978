"""What becomes of records between two readings of a page, and what validation makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from messor.content.evidence import Evidence, EvidencedField
from messor.content.records import Record
from messor.content.validation import validated
from messor.parsers.page_findings import FoundRecord, clean, found_records
from messor.records.changes import KnownRecord, compare


def record(kind: str = "product", **values: Any) -> Record:
    fields = {
        name: EvidencedField(value, 0.9, Evidence("html:text", str(value)))
        for name, value in values.items()
    }
    return Record(kind, 0.9, "products", "1", fields)


def found(*records: Record) -> list[FoundRecord]:
    return found_records(records)


def known(one: FoundRecord, state: str = "current") -> KnownRecord:
    return KnownRecord(1, one.kind, one.identity, state, one.content_hash, one.data_json)


def test_new_same_changed_and_removed() -> None:
    (kettle,) = found(record(price=10.0, product_name="Kettle"))
    assert [each.kind for each in compare([], [kettle]).new] == ["product"]
    assert not compare([known(kettle)], [kettle])
    (dearer,) = found(record(price=12.0, product_name="Kettle"))
    (change,) = compare([known(kettle)], [dearer]).changed
    assert [(c.name, c.before, c.after) for c in change.fields] == [("price", 10.0, 12.0)]
    assert [each.id for each in compare([known(kettle)], []).removed] == [1]


def test_no_answer_is_not_a_zero() -> None:
    (kettle,) = found(record(price=10.0))
    assert not compare([known(kettle)], [], unread={"product"})
    assert compare([known(kettle)], [], unread={"contact"}).removed


def test_what_was_removed_comes_back_once_and_goes_once() -> None:
    (kettle,) = found(record(price=10.0))
    (change,) = compare([known(kettle, "removed")], [kettle]).changed
    assert (change.state, change.fields) == ("returned", [])
    assert not compare([known(kettle, "removed")], [])


def test_a_page_s_product_stays_itself_under_another_name() -> None:
    first, second = (
        found(record(product_name="A", sku="1")),
        found(record(product_name="B", sku="2")),
    )
    assert first[0].identity == second[0].identity


def test_records_alike_are_numbered_and_long_identities_cut() -> None:
    same = [record("image", url="/a.jpg"), record("image", url="/a.jpg")]
    assert [each.identity for each in found(*same)] == ["/a.jpg", "/a.jpg#2"]
    long = found(record("faq", question="x" * 900, answer="y"), record("faq", question="x" * 901))
    assert len({each.identity for each in long}) == 2
    assert all(len(each.identity) <= 200 for each in long)


def test_the_order_of_fields_does_not_matter() -> None:
    (one,), (two,) = found(record(a=1, b=2)), found(record(b=2, a=1))
    assert one.content_hash == two.content_hash


def test_what_a_database_refuses_is_taken_out() -> None:
    assert clean({"a\0": ["\ud800x", 1, None, ("\0",)]}) == {"a": ["x", 1, None, [""]]}


def test_no_record_holds_what_a_database_refuses() -> None:
    (spoilt,), (plain,) = found(record(product_name="a\0\ud800b")), found(record(product_name="ab"))
    assert (spoilt.data, spoilt.content_hash) == ({"product_name": "ab"}, plain.content_hash)
    assert spoilt.fields["product_name"]["evidence"]["quote"] == "ab"
    (numbered,) = found(record(product_name="ab", sizes={1: ("S", "M")}))
    assert numbered.data["sizes"] == {"1": ["S", "M"]}


def test_kinds_that_nobody_looked_for_stand() -> None:
    (kettle,) = found(record(price=10.0))
    assert [each.kind for each in compare([known(kettle)], [], kinds={"faq"}).unread] == ["product"]
    assert compare([known(kettle)], [], kinds={"product"}).removed


def test_what_cannot_be_true_is_dropped_with_a_reason() -> None:
    given = record(price=-5.0, currency="euro", product_name="Kettle", rating=4.5, sku="K")
    (good,), reasons = validated([given])
    assert set(good.fields) == {"product_name", "rating", "sku"}
    assert good.confidence < given.confidence
    assert {reason.field for reason in reasons} == {"price", "currency"}
    assert all(reason.reason.endswith(".") for reason in reasons)


def test_prices_lie_between_nothing_and_a_hundred_million() -> None:
    for price, is_good in ((0, True), (-0.01, False), (100_000_000, True), (100_000_001, False)):
        (good,), _ = validated([record(product_name="Kettle", sku="K", price=price)])
        assert ("price" in good.fields) == is_good, price


def test_each_field_that_is_dropped_costs_confidence() -> None:
    given = record(price=-5.0, currency="euro", product_name="Kettle", sku="K")
    (good,), _ = validated([given])
    assert good.confidence == pytest.approx(given.confidence * 0.85**2)


def test_what_says_nothing_is_rejected_whole() -> None:
    kept, reasons = validated([record(price=float("nan")), record("image", alt="x")])
    assert kept == []
    assert [reason.kind for reason in reasons if not reason.field] == ["product", "image"]


@pytest.mark.parametrize("kind", ["product", "listed_product"])
def test_a_product_has_a_name_and_a_price_or_number(kind: str) -> None:
    for number in ("price", "sku", "gtin", "mpn"):
        assert len(validated([record(kind, product_name="Kettle", **{number: 7})])[0]) == 1
    kept, reasons = validated([record(kind, product_name="Kettle"), record(kind, price=7)])
    assert kept == []
    assert [each.reason for each in reasons] == [
        "It has none of price, sku, gtin, mpn.",
        "It has no product_name.",
    ]


def test_ratings_lie_between_0_and_5() -> None:
    for rating, is_good in ((0, True), (5, True), (5.01, False), (-0.01, False)):
        (good,), _ = validated([record(product_name="Kettle", price=7.0, rating=rating)])
        assert ("rating" in good.fields) == is_good


def test_a_record_that_breaks_its_schema_is_rejected() -> None:
    kept, (reason,) = validated([record("faq", question="Why?")])
    assert kept == []
    assert "answer" in reason.reason


def test_a_field_out_of_form_costs_itself_alone() -> None:
    (good,), (reason,) = validated([record("offer", title="Summer sale", currency="euro")])
    assert set(good.fields) == {"title"}
    assert reason.field == "currency"
    assert good.confidence < 0.9
