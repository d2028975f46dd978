"""What a comparison of parsers tells of each field, everywhere and by domain."""

from __future__ import annotations

from typing import Any

import msgspec

from messor.extraction.compare import MOST_DOMAINS, MOST_EXAMPLES, ComparisonReport, StoredPage
from messor.extraction.parser_figures import FieldScore
from messor.parsers.page_findings import FoundPage, FoundRecord


def found(
    *records: dict[str, Any], rejected: tuple[str, ...] = (), unread: tuple[str, ...] = ()
) -> FoundPage:
    """A page as a candidate reads it; of rejected values the names are given."""
    made = [
        FoundRecord("product", str(number), 0.9, "products", "2rc1", _json(data), "{}", b"")
        for number, data in enumerate(records)
    ]
    reasons = [{"kind": "product", "field": name, "reason": "impossible"} for name in rejected]
    blank: dict[str, Any] = {"page_type": "product", "page_type_confidence": 0.9, "headline": "", "main_text": "",
             "markdown": "", "metadata_json": "{}", "flags_json": "[]", "warnings_json": "[]"}  # fmt: skip
    return FoundPage(
        **blank,
        rejected_json=_json(reasons),
        is_read=True,
        unread=list(unread),
        records=made,
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def stored(domain: str, *records: dict[str, Any], rejected: tuple[str, ...] = ()) -> StoredPage:
    known = {("product", str(number)): data for number, data in enumerate(records)}
    reasons = [{"kind": "product", "field": name, "reason": "impossible"} for name in rejected]
    return StoredPage(domain, f"https://{domain}/", known, reasons)


def test_each_field_is_told_everywhere_and_by_domain() -> None:
    report = ComparisonReport()
    kettle = {"price": 5, "brand": "Alba", "sku": "1"}
    report.add(
        stored("one.example", kettle), found({"price": 6, "brand": "Alba", "gtin": "2"}), None
    )
    report.add(stored("two.example", kettle), found(kettle), None)
    told = report.as_json()
    price = told["fields"]["product.price"]
    assert (price["same"], price["different"], price["agreement"]) == (1, 1, 0.5)
    assert told["fields"]["product.gtin"]["gained"] == 1
    assert told["fields"]["product.sku"]["lost"] == 1
    assert list(told["domains"]) == ["one.example", "two.example"]  # the most differences first
    one, two = told["domains"].values()
    assert (one["pages"], one["fields"]["product.price"]["agreement"]) == (1, 0.0)
    assert (two["pages"], two["fields"]["product.price"]["agreement"]) == (1, 1.0)
    assert {each["field"] for each in told["examples"]} == {
        "product.price", "product.gtin", "product.sku",
    }  # fmt: skip


def test_what_is_not_believed_counts_against_whoever_read_it() -> None:
    report = ComparisonReport()
    page = stored("one.example", {"name": "Kettle"}, rejected=("price",))
    report.add(page, found({"name": "Kettle", "price": 5}, rejected=("price", "price", "")), None)
    told = report.as_json()
    assert told["rejected"] == 3
    price = FieldScore.of("product.price", told["fields"]["product.price"])
    assert (price.invalid, price.invalid_before) == (2, 1)
    assert price.validity == 1 / 3
    assert price.validity_before == 0.0
    whole = FieldScore.of("product", told["fields"]["product"])
    assert (whole.invalid, whole.coverage, whole.validity) == (1, None, 0.0)


def test_kinds_that_are_not_compared_or_not_read_count_for_nothing() -> None:
    report = ComparisonReport()
    page = stored("one.example", {"price": 5}, rejected=("price",))
    report.add(page, found(rejected=("price",), unread=("product",)), frozenset({"product"}))
    assert (report.unreadable, report.pages, report.rejected) == (1, 0, 0)
    report.add(page, found({"price": 5}, rejected=("price",)), frozenset({"faq"}))
    told = report.as_json()
    assert (told["pages"], told["rejected"], told["fields"]) == (1, 0, {})


def test_a_report_stays_small() -> None:
    report = ComparisonReport()
    for number in range(MOST_DOMAINS + 5):
        page = stored(f"shop-{number:03}.example", {"price": 5})
        report.add(page, found({"price": 5 if number < 100 else 6}), None)
    told = report.as_json()
    assert (len(told["domains"]), told["more_domains"]) == (MOST_DOMAINS, 5)
    assert len(told["examples"]) == MOST_EXAMPLES
    assert next(iter(told["domains"])) == "shop-100.example"
    assert told["pages"] == MOST_DOMAINS + 5
