"""Where a product's readers take a shorter way, it leads to what the long way finds."""

from __future__ import annotations

import random
from decimal import Decimal
from urllib.parse import urlsplit

import pytest

from messor.content.evidence import Evidence, EvidencedField
from messor.content.memory import Memory
from messor.content.page import ParsedPage
from messor.content.products import pool
from messor.content.products.generic import gather
from messor.content.products.line_types import OTHER, STOCK, stock_notes_and_others
from messor.content.products.named import Parts, part_of
from messor.content.products.normalise import machine_amount, number
from messor.content.products.numbers import _path_and_query
from messor.content.products.survey import MAX_NAMES, WINDOW, Survey, judged
from messor.content.records import Record
from messor.parsers.page_findings import found_records

CLASSES = (
    "price", "Brand", "brand\ttop", 'stock"x', "stock\\x", "stock]x", "präsent stock", " sku ", "dull",
    "breadcrumb", "btn", "", "stock,brand", "in:stock", "stock'x", "x y z",
)  # fmt: skip
LINES = (
    "In stock", "\xa0In stock\u2003", "Sold out", "Similar products", "word", "another word", "x" * 301,
    "Related: in stock", "<script>In stock</script>", "<option>In stock", "<b>In stock</b>",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("noted", [0, 60])
def test_parts_are_told_by_their_classes_however_these_are_written(seed: int, noted: int) -> None:
    source = random.Random(seed)
    quoted = [each.replace('"', "&quot;") for each in CLASSES]
    names = source.sample(quoted, k=source.randrange(1, len(quoted)))
    tags = source.choices(("a", "p", "svg", "button"), k=40)
    made = [f'<{tag} class="{source.choice(names)}"></{tag}>' for tag in tags]
    page = ParsedPage.read("".join(made) + '<i id="dull"></i>' * noted)
    told = [(each, part_of(each.attr("class") or "")) for each in page.document.select("[class]")]
    parts = Parts(page.document, page.memory)
    kinds = {"s": parts.stocks, "n": parts.numbers, "t": parts.trails, "m": parts.brands}
    for kind, found in (*kinds.items(), ("p", parts.prices)):
        assert found == [each for each, tells in told if kind in tells], kind
    links = [each for each, tells in told if "b" in tells and each.tag == "a"]
    assert parts.buttons == page.document.select("button") + links


def test_a_page_of_very_many_telling_classes_is_read_as_any_other() -> None:
    page = ParsedPage.read("".join(f'<p class="stock{number}">' for number in range(100)))
    assert [each.attr("class") for each in Parts(page.document, page.memory).stocks] == [
        f"stock{number}" for number in range(100)
    ]


def test_parts_with_marks_are_found_among_few_and_among_many() -> None:
    for more in (0, 100):
        page = ParsedPage.read(
            '<b itemprop="brand">Acme</b><i data-test="stock">In</i>'
            + '<p id="dull" data-testid="dull">' * more
            + '<input id="q"><button itemprop="sku">x</button>'
        )
        parts = Parts(page.document, page.memory)
        assert [each.text for each in parts.brands] == ["Acme"]
        assert [each.text for each in parts.stocks] == ["In"]
        assert [each.tag for each in parts.buttons] == ["input", "button"]
        assert [each.tag for each in parts.numbers] == ["button"]


@pytest.mark.parametrize("seed", range(60))
def test_notes_on_stock_are_those_of_the_whole_window(seed: int) -> None:
    source = random.Random(seed)
    weights = [1, 1, 1, source.choice((0, 0.2)), 30, 30, 1, source.choice((0, 0.2)), 1, 1, 1]
    lines = [f"<p>{line}</p>" for line in source.choices(LINES, weights, k=140)]
    lines.insert(source.randrange(60), "<h1>A lamp</h1>")
    survey = Survey(ParsedPage.read("<title>A lamp</title>" + "".join(lines)), ["A lamp"])
    behind = [text for text, _ in survey.after(1 + WINDOW)[1:]]
    speaking = {text: stock_notes_and_others({text}, Memory()).get(text, "") for text in behind}
    end = next((at for at, text in enumerate(behind) if OTHER in speaking[text]), len(behind))
    expected = [(at, text) for at, text in enumerate(behind[:end]) if STOCK in speaking[text]]
    assert survey.notes == expected
    assert [text for text, _ in survey.window] == behind[:end]


def test_a_label_with_much_white_space_around_it_is_read() -> None:
    around = "\xa0" * 130
    for label in (f"{around}SKU: A-4711", f"SKU: A-4711{around}"):
        page = ParsedPage.read(f'<h1>Lamp</h1><p>{label}</p><p class="price">€ 4.50</p>')
        gathered = gather(page)
        assert gathered is not None
        assert "A-4711" in [made.value for made in gathered.pool.found["sku"]]
    too_long = "\xa0" * 300
    page = ParsedPage.read(f'<h1>Lamp</h1><p>{too_long}SKU: A-4711</p><p class="price">€ 4.50</p>')
    gathered = gather(page)
    assert gathered is not None
    assert not gathered.pool.found["sku"]


@pytest.mark.parametrize(
    "content, quote",
    [
        ("A lamp", "A lamp"), (" A lamp ", "A lamp"), ("A &amp; B", "A &amp; B"),
        ("A\nlamp", "A\nlamp"), ("A\r\nlamp", "A\r\nlamp"), ("A \ufffd lamp", "A \ufffd lamp"),
        ("<b>A</b> lamp", "<b>A</b> lamp"), ("Größe 5", "Größe 5"),
    ],
)  # fmt: skip
def test_a_meta_tag_is_quoted_as_it_is_written(content: str, quote: str) -> None:
    page = ParsedPage.read(
        f'<meta property="og:title" content="{content}"><meta property="og:price" content="4.50">'
    )
    gathered = gather(page)
    assert gathered is not None
    (made,) = gathered.pool.found["product_name"]
    assert made.evidence.quote == quote


def test_addresses_are_taken_apart_as_the_library_does() -> None:
    source = random.Random(1)
    for _ in range(5_000):
        url = source.choice(("http://", "https://", "HTTP://", "//", "ftp://")) + "".join(
            source.choices("ab1./?#:@[]%-;&=\\ é\t", k=source.randrange(14))
        )
        try:
            parts = urlsplit(url)
            expected = [each for each in parts.path.split("/") if each], parts.query
        except ValueError:
            expected = [], ""
        path, query = _path_and_query(url)
        assert ([each for each in path.split("/") if each], query) == expected, url


@pytest.mark.parametrize(
    "text",
    ["66.27", "66", "66.00", "0", "0.0", "007.50", "999999999.999999", "0.000001", "1.1234567",
     "12345678901", " 66.27 ", "-4"],
)  # fmt: skip
def test_what_programs_write_is_the_number_it_says(text: str) -> None:
    found = machine_amount(text)
    assert found == number(Decimal(text.strip()))
    assert type(found) is type(number(Decimal(text.strip())))


def test_evidence_that_no_database_takes_is_cleaned() -> None:
    fields = {
        "product_name": EvidencedField("Lamp", 0.91234, Evidence("text:text", "La\0mp", "h1")),
        "brand": EvidencedField("Acme", 0.5, Evidence("text:brand", "Ac\ud800me")),
    }
    (found,) = found_records([Record("product", 0.9, "test", "1", fields)])
    assert found.fields == {
        "product_name": {
            "confidence": 0.912,
            "evidence": {"method": "text:text", "quote": "Lamp", "path": "h1"},
        },
        "brand": {
            "confidence": 0.5,
            "evidence": {"method": "text:brand", "quote": "Acme", "path": ""},
        },
    }


def test_names_and_paths_out_of_proportion_are_not_kept_in_memory() -> None:
    long = "x" * 100_000
    page = ParsedPage.read(f'<i class="{long}" itemprop="{long}">In stock</i>')
    Parts(page.document, page.memory)
    Survey(page, []).verdict(page.document.select("i")[0])
    assert part_of(long[:MAX_NAMES]) == ""
    assert judged(long[:MAX_NAMES]) == (False, False, False)
    assert not page.memory.memo(part_of)
    assert not page.memory.memo(judged)
    assert pool.CandidatePool(page).add("sku", "text", "In stock 5", 0.5, path=long) is not None
    assert not page.memory.memo(pool._make)


@pytest.mark.parametrize(
    "text, found",
    [("1.25E7", 12_500_000), ("1.5e+3", 1_500), ("2.99E0", 2.99), ("1e400", None), ("1E+12", None)],
)
def test_powers_of_ten_are_what_programs_mean_by_them(text: str, found: float | None) -> None:
    assert machine_amount(text) == found
