"""A field's value is made of its quote, and whoever holds the page can check it."""

from __future__ import annotations

import json

import pytest

from messor.content.evidence import (
    MAX_QUOTE,
    Evidence,
    EvidencedField,
    Normalisers,
    make_field,
    supports,
)
from messor.content.page import ParsedPage
from messor.content.plain import from_html, from_json, one_space
from messor.content.records import Record, unsupported


def test_a_field_is_supported_by_the_page_it_was_read_from() -> None:
    page = '<p class="x">Caf&eacute; <b>au</b>&nbsp;lait</p>'
    made = make_field("text", "text", "Caf&eacute; <b>au</b>&nbsp;lait", confidence=0.9)
    assert made is not None
    assert made.value == "Café au lait"
    assert supports(made, page)
    assert not supports(made, page.replace("lait", "l&#97;it"))


def test_a_value_its_quote_does_not_say_is_not_supported() -> None:
    wrong = EvidencedField("Tea", 0.9, Evidence("text:text", "Coffee"))
    assert not supports(wrong, "<p>Coffee</p>")
    assert not supports(EvidencedField("", 0.9, Evidence("text:text", "")), "<p></p>")
    assert not supports(EvidencedField("Tea", 0.9, Evidence("text:unheard_of", "Tea")), "Tea")


@pytest.mark.parametrize("quote", ["", "   ", "<br>", "a\0b", "a\ud800"])
def test_quotes_that_say_nothing_or_cannot_be_stored_make_no_field(quote: str) -> None:
    assert make_field("text", "text", quote, confidence=1) is None


def test_long_quotes_are_cut() -> None:
    made = make_field("text", "long_text", "a " * MAX_QUOTE, confidence=1)
    assert made is not None
    assert len(made.evidence.quote) == MAX_QUOTE
    assert supports(made, "a " * MAX_QUOTE)


def test_a_record_names_what_is_not_supported_and_is_json() -> None:
    made = make_field("json_ld", "text", '"name": "A \\u0026 B"', confidence=0.9)
    assert made is not None
    assert made.value == "A & B"
    record = Record("thing", 0.5, "test", "1", {"name": made})
    assert unsupported(record, '{"name": "A \\u0026 B"}') == []
    assert unsupported(record, "{}") == ["name"]
    assert record.value("name") == "A & B"
    assert record.value("other") is None
    assert json.loads(json.dumps(record.as_json()))["fields"]["name"]["evidence"]["quote"]


def test_a_normaliser_keeps_its_name() -> None:
    known = Normalisers()
    known.add("upper", str.upper)
    known.add("upper", str.upper)
    with pytest.raises(ValueError, match="different normaliser"):
        known.add("upper", str.lower)


@pytest.mark.parametrize(
    "quote, text",
    [
        ("a<b>b</b>c", "abc"),
        ("<li>a</li><li>b</li>", "a b"),
        ('<i title="x > y">a</i>', "a"),
        ("a <!-- b > --> c", "a c"),
        ("<script>x</script>a<style>y", "a"),
        ("1 < 2 &lt; 3", "1 < 2 < 3"),
        ("a <b", "a"),
    ],
)
def test_html_is_undone(quote: str, text: str) -> None:
    assert one_space(from_html(quote)) == text


@pytest.mark.parametrize(
    "quote, text",
    [
        ("caf\\u00e9 \\/ bar", "café / bar"),
        ('"name": "Dune: Part Two"', "Dune: Part Two"),
        ("Dune: Part Two", "Dune: Part Two"),
        ("'price':'5'", "5"),
        ("&quot;price&quot;:5", "5"),
        ('\\"price\\":\\"5\\"', "5"),
        ("a \\q \\ud83d\\ude00", "a q 😀"),
        ("&lt;b&gt; &amp; <i>c</i>", "<b> & c"),
    ],
)
def test_json_is_undone(quote: str, text: str) -> None:
    assert from_json(quote) == text


def test_nodes_are_found_in_the_source_whatever_its_line_ends() -> None:
    html = (
        '\r\n<p>ä</p>\r\n<b title="x&amp;y" data-z=1 hidden>😀&lt;\r\n</b><ul><li> a\r\n<li>b</ul>'
    )
    page = ParsedPage.read(html)
    bold, item = page.document.find("b"), page.document.find("li")
    assert bold is not None
    assert item is not None
    assert page.inner(bold) == "😀&lt;\r\n"
    assert page.attribute(bold, "title") == "x&amp;y"
    assert page.attribute(bold, "data-z") == "1"
    assert page.attribute(bold, "hidden") == ""
    assert page.attribute(bold, "none") == ""
    assert html[page.start(bold) :].startswith("<b title")
    assert page.inner(item) == "a"
