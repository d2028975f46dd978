"""What was taken of a page and what was left out, read where a page cannot do harm."""

from __future__ import annotations

import pytest

from messor.content.main import read_main
from messor.content.main.parts import read_parts
from messor.errors import UnavailableError
from messor.parsers.page_parts import parts_of

URL = "https://a.example/rivers"
SENTENCE = "The river rose by two metres in the night and the lower town had to be left in boats."
PAGE = f"""<title>The flood | News</title><nav><ul><li><a href=/>Home</a><li><a href=/b>Sport</a></ul></nav>
<article><h1>The flood</h1>{"".join(f"<p>{SENTENCE} Day {day}.</p>" for day in range(9))}</article>
<footer><p>Imprint</p></footer>"""


def test_parts_are_the_whole_page_in_order() -> None:
    found = read_parts(PAGE, URL)
    left_out = [part.text for part in found.parts if not part.is_taken]
    assert left_out == ["Home", "Sport", "Imprint"]
    taken = [part for part in found.parts if part.is_taken]
    assert "\n".join(part.text for part in taken) == read_main(PAGE, URL).text
    assert {part.kind for part in taken} == {"h1", "p"}
    assert found.share == round(100 * found.taken / (found.taken + found.left_out))
    assert not found.is_elsewhere


def test_content_that_no_part_holds_is_told() -> None:
    body = " ".join(f"{SENTENCE} Day {day}." for day in range(9))
    data = f'<script type="application/ld+json">{{"@type": "Article", "articleBody": "{body}"}}</script>'
    assert read_parts(f"{data}<p>Loading</p>", URL).is_elsewhere


def test_a_page_is_read_in_a_child() -> None:
    assert parts_of(PAGE.encode(), "text/html", URL) == read_parts(PAGE, URL)


def test_a_page_that_cannot_be_read_says_so() -> None:
    with pytest.raises(UnavailableError, match="cannot be read"):
        parts_of(b"<div>" * 100_000, "text/html", URL)
