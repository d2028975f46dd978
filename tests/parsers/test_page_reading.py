"""The one reading of a page: nothing is raised, one part's failure costs itself, cost is bounded."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from messor.content import page
from messor.content.records import Record, unsupported
from messor.content.view import PageView
from messor.parsers import BUILTIN, Parsers, page_reading
from messor.parsers.page_reading import read_records
from tests.content.test_hostile_pages import PIECES
from tests.content.views import corpus_pages

URL = "https://shop.example/kettle"
PRODUCT = """<!doctype html><html lang="en"><title>Kettle</title><h1>Kettle</h1>
<p>Call us: <a href="tel:+493012345678">030 12345678</a></p><p>It boils water, and boils it well.</p>
<script type="application/ld+json">{"@type": "Product", "name": "Kettle", "sku": "K-1",
"offers": {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR",
"availability": "https://schema.org/InStock"}}</script></html>"""


class Brittle:
    """A parser for one site that fails on every page."""

    name = "brittle"
    version = "1"
    kinds = frozenset(("product",))
    is_generic = False

    def accepts(self, page: PageView) -> bool:
        return page.url.startswith("https://shop.example/")

    def parse(self, page: PageView) -> list[Record]:
        raise KeyError(page.url)


class Own(Brittle):
    """A parser for one site that puts a record of its own in place of others'."""

    name = "own"

    def parse(self, page: PageView) -> list[Record]:
        product = BUILTIN[1].parse(page)[0]
        return [replace(product, parser=self.name, parser_version=self.version)]


def with_parser(parser: Brittle) -> Parsers:
    parsers = Parsers()
    parsers.add(parser)
    return parsers


def test_a_product_comes_first_and_every_field_is_supported() -> None:
    found = read_records(PRODUCT, URL)
    assert found.warnings == []
    assert found.records[0].kind == "product"
    product = found.records[0]
    assert (product.value("price"), product.value("currency")) == (19.9, "EUR")
    assert (product.value("sku"), product.value("availability")) == ("K-1", "in_stock")
    assert "contact" in {record.kind for record in found.records}
    assert all(unsupported(record, PRODUCT) == [] for record in found.records)
    assert found.page_type.name == "product"
    assert found.metadata.title == "Kettle"
    assert "boils water" in found.main.text
    assert {flag.name for flag in found.flags} >= {"product", "thin"}


def test_a_parser_that_fails_costs_its_own_records_alone() -> None:
    found = read_records(PRODUCT, URL, parsers=with_parser(Brittle()))
    assert found.records[0].parser == "products"
    assert len(found.warnings) == 1
    assert "brittle 1" in found.warnings[0]
    assert found.failed == ["brittle"]
    assert found.unread == set()  # another parser answered for its kinds


def test_what_no_parser_could_read_is_unread_not_missing() -> None:
    found = read_records(PRODUCT, URL, parsers=Parsers([Brittle()]))
    assert found.records == []
    assert found.unread == {"product"}


def test_a_site_s_parser_goes_first_unless_generic_ones_are_asked_for() -> None:
    parsers = with_parser(Own())
    assert read_records(PRODUCT, URL, parsers=parsers).records[0].parser == "own"
    assert read_records(PRODUCT, URL, parsers=parsers, generic=True).records[0].parser == "products"
    elsewhere = read_records(PRODUCT, "https://other.example/", parsers=parsers)
    assert elsewhere.records[0].parser == "products"


def test_an_error_page_states_nothing() -> None:
    found = read_records(PRODUCT, URL, status=404)
    assert (found.records, found.page_type.name) == ([], "error")


def test_a_page_out_of_proportion_says_so() -> None:
    for text in ("<div>" * 100_000, "x" * 7_000_000):
        found = read_records(text, URL)
        assert len(found.warnings) == 1
        assert "product" in found.unread
        assert found.as_json()["records"] == []


def test_how_deeply_a_page_nests_counts_unless_its_reader_may_die() -> None:
    deep = "<div>" * 600 + "<p>Call +49 30 901820 now.</p>"
    refused = read_records(deep, URL)
    assert refused.warnings == ["The page nests more than 480 elements."]
    found = read_records(deep, URL, may_die=True)
    assert (found.warnings, found.unread) == ([], set())
    assert "contact" in {record.kind for record in found.records}


def test_whose_reader_may_die_has_the_other_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_records("x" * 7_000_000, URL, may_die=True)
    assert found.warnings == ["The page has more than 6291456 characters."]
    monkeypatch.setattr(page, "_PARSE_BUDGET_SECONDS", -1.0)
    found = read_records("<p>x" * 20_000, URL, may_die=True)
    assert found.warnings == ["The page's parse tree grows out of proportion to its markup."]


def test_a_pin_to_a_version_that_is_not_there_takes_nothing_away() -> None:
    found = read_records(PRODUCT, URL, pins={"products": "99"})
    assert found.records == []
    assert "product" in found.unread
    assert "99" in found.warnings[0]


def test_no_further_reader_is_asked_when_a_page_took_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_reading, "BUDGET_SECONDS", -1.0)
    found = read_records(PRODUCT, URL)
    assert found.records == []
    assert found.unread >= {"product", "contact"}
    assert all("left out" in warning for warning in found.warnings)


@pytest.mark.parametrize("seed", range(4))
def test_two_hundred_random_pages_raise_nothing(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(50):
        text = "".join(chance.choices(PIECES, k=chance.randrange(1, 150)))
        found = read_records(text, f"https://amazon.com/dp/B000000000?{seed}")
        assert not [warning for warning in found.warnings if "could not be read" in warning]
        assert all(unsupported(record, text) == [] for record in found.records)


@pytest.mark.parametrize("name", ["articles", "products"])
def test_every_field_of_the_external_pages_is_supported(name: str) -> None:
    products = 0
    for url, text in corpus_pages(name):
        found = read_records(text, url)
        assert found.warnings == []
        assert all(unsupported(record, text) == [] for record in found.records), url
        products += bool(found.records) and found.records[0].kind == "product"
    assert (products > 0) is (name == "products")


KETTLE = PRODUCT.replace(
    "</html>",
    """<img src="/kettle.jpg"><h2>How do I descale it?</h2>
<p>With vinegar.</p></html>""",
).replace('"sku"', '"image": "https://shop.example/k.jpg", "sku"')


class Silent(Brittle):
    """A parser that fails when it is asked anything."""

    name = "silent"

    def accepts(self, page: PageView) -> bool:
        raise LookupError(page.url)


@pytest.mark.parametrize(
    "kinds", [{"product"}, {"contact"}, {"image", "contact"}, {"event"}, {"nonsense"}, set()]
)
def test_where_kinds_are_named_their_records_alone_are_kept(kinds: set[str]) -> None:
    whole, part = read_records(KETTLE, URL), read_records(KETTLE, URL, kinds=frozenset(kinds))
    assert {"product", "image", "contact"} <= {record.kind for record in whole.records}
    assert part.records == [record for record in whole.records if record.kind in kinds]
    assert (part.warnings, part.unread) == ([], set())
    assert (part.main, part.metadata) == (whole.main, whole.metadata)


@pytest.mark.parametrize("parser", [Brittle(), Silent()])
def test_a_parser_of_unwanted_kinds_is_not_asked(parser: Brittle) -> None:
    parsers = Parsers([parser])
    asked = read_records(KETTLE, URL, parsers=parsers, kinds=frozenset(("product", "contact")))
    assert asked.unread == {"product"}
    assert len(asked.warnings) == 1
    spared = read_records(KETTLE, URL, parsers=parsers, kinds=frozenset(("contact",)))
    assert (spared.unread, spared.warnings) == (set(), [])


def test_what_a_site_s_parser_leaves_out_is_not_filled_in_for_being_wanted_alone() -> None:
    class Sparing(Own):
        kinds = frozenset(("product", "image"))

    parsers = with_parser(Sparing())
    images = read_records(KETTLE, URL, parsers=parsers, kinds=frozenset(("image",)))
    assert images.records == []
    assert "image" not in {each.kind for each in read_records(KETTLE, URL, parsers=parsers).records}


def test_only_wanted_kinds_of_a_page_out_of_proportion_are_unread() -> None:
    found = read_records("<b>" * 100_000, URL, kinds=frozenset(("contact", "nonsense")))
    assert found.unread == {"contact"}


def test_only_wanted_kinds_are_unread_where_a_pin_leads_nowhere() -> None:
    pins = {"products": "99"}
    found = read_records(PRODUCT, URL, pins=pins, kinds=frozenset(("contact",)))
    assert found.unread == {"contact"}


@pytest.mark.parametrize("price, kinds", [("0", ["event"]), ("25", ["product", "event"])])
def test_the_page_of_an_event_stays_one(price: str, kinds: list[str]) -> None:
    html = f"""<html><head><title>PyNight</title><script type="application/ld+json">
    {{"@type": "SocialEvent", "name": "PyNight", "startDate": "2027-02-03T19:00", "offers":
    {{"@type": "Offer", "price": "{price}", "priceCurrency": "USD"}}}}</script></head>
    <body><h1>PyNight</h1></body></html>"""
    found = read_records(html, "https://meet.example/e/1")
    assert found.page_type.name == "event"
    assert [record.kind for record in found.records] == kinds


def test_paragraphs_that_were_escaped_twice_are_text() -> None:
    html = """<html><head><title>Gardener</title><script type="application/ld+json">
    {"@type": "JobPosting", "title": "Gardener", "description":
    "&lt;p&gt;Dig, &amp;amp; sow.&lt;/p&gt;&lt;ul&gt;&lt;li&gt;x &amp;lt; 3&lt;/li&gt;&lt;/ul&gt;"}
    </script></head><body><h1>Gardener</h1></body></html>"""
    (job,) = read_records(html, "https://jobs.example/1").records
    assert job.value("description") == "Dig, & sow. x < 3"
    assert unsupported(job, html) == []


def test_the_type_of_a_product_s_page_is_as_sure_as_the_product() -> None:
    html = """<html><head><title>Stool</title></head><body><h1>Stool</h1><p class="price">1,290 ₪</p>
    <p>SKU: 7712</p><p class="stock">Sold out</p></body></html>"""
    found = read_records(html, "https://shop.example/product/stool")
    assert found.page_type.name == "product"
    assert found.page_type.confidence == found.records[0].confidence
    assert len(found.page_type.reasons) > 1
