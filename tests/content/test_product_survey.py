"""What a product's readers look for is found in part, and as a walk over the whole page finds it."""

from __future__ import annotations

import random

import pytest
from turbohtml import Element, Text

from messor.content.page import ParsedPage
from messor.content.products.named import Parts, part_of
from messor.content.products.survey import Survey
from messor.content.products.texts import MAX_LINE, MAX_LINES, Texts

UNSEEN = ("script", "style", "noscript", "template", "option", "textarea", "iframe")
PIECES = (
    "<p>", "</p>", "word", "SKU: 4711", "Cart", " ", "\n", "<!-- c -->", "<script>var cart</script>",
    "<option>cart", "</option>", "<textarea>cart</textarea>", "<template>t<i>cart</i>", "</template>",
    "<h1>Lamp</h1>", "<h2>Other</h2>", "<div>", "</div>", "<noscript><b>n</b>", "</noscript>", "x" * 301,
    "<style>cart{}</style>", "<svg><text>s</text></svg>", "<select>", "</select>", "<b></b>", "after",
)  # fmt: skip
NAMES = (
    "price", "Product-PRICE", "old-price stock", "brand", "btn buy", "x", "", "breadcrumb", "sku",
    "l" * 395 + " price", "l" * 395,
)  # fmt: skip


def walked(page: ParsedPage) -> tuple[list[str], dict[Element, int]]:
    """All lines that are seen, and at which of them each heading begins."""
    lines: list[str] = []
    headings: dict[Element, int] = {}
    unseen = False
    body = page.document.find("body")
    for node in body.descendants if body is not None else ():
        if isinstance(node, Text):
            if not unseen and len(node.data) <= MAX_LINE and not node.data.isspace():
                lines.append(node.data.strip())
                if len(lines) == MAX_LINES:
                    break
        elif isinstance(node, Element):
            unseen = node.tag in UNSEEN
            if node.tag in ("h1", "h2"):
                headings[node] = len(lines)
    return lines, headings


def texts_of(page: ParsedPage) -> Texts:
    return Texts(page.document.find("body"))


def random_page(seed: int) -> ParsedPage:
    source = random.Random(seed)
    return ParsedPage.read("<body>" + "".join(source.choices(PIECES, k=60)))


@pytest.mark.parametrize("seed", range(60))
def test_lines_around_a_heading_are_those_of_a_whole_walk(seed: int) -> None:
    page = random_page(seed)
    lines, headings = walked(page)
    texts = texts_of(page)
    assert texts.headings() == list(headings)
    assert [text for text, _ in texts.after(None, 7)] == lines[:7]
    for heading, first in headings.items():
        for limit in (3, 12):
            assert [text for text, _ in texts.after(heading, limit)] == lines[first:][:limit]
            before = [text for text, _ in texts.before(heading, limit)]
            assert before == lines[max(0, first - limit) : first]


@pytest.mark.parametrize("seed", range(60))
def test_a_text_is_seen_as_a_whole_walk_sees_it(seed: int) -> None:
    page = random_page(seed)
    lines, _ = walked(page)
    texts = texts_of(page)
    shown = [place for place, text in enumerate(texts.all) if text.strip() and texts.is_seen(place)]
    assert [texts.all[place].strip() for place in shown] == lines
    assert [texts.following(place) for place in shown] == [*lines[1:], ""][: len(lines)]
    assert texts.mention(("cart",)) == ("cart" in "\n".join(lines).lower())


def test_a_page_is_read_up_to_as_many_lines_as_are_ever_read() -> None:
    many = "<h1>Early</h1>" + "<p>a<p>b" * (MAX_LINES // 2) + "<h1>Late</h1>"
    page = ParsedPage.read(f"<title>Late</title>{many}")
    survey = Survey(page, ["Late"])
    assert survey.heading is not None
    assert survey.heading.text == "Early"
    assert len(survey.texts.all) == MAX_LINES
    assert len(survey.texts.after(survey.heading, 2 * MAX_LINES)) == MAX_LINES


@pytest.mark.parametrize("seed", range(30))
def test_parts_are_those_whose_class_and_id_together_say_so(seed: int) -> None:
    source = random.Random(seed)
    made = [
        f'<a class="{source.choice(NAMES)}" id="{source.choice(NAMES)}">' for _ in range(30)
    ] + ['<i data-test="price"></i><b itemprop="brand"></b>']
    page = ParsedPage.read("".join(made))
    elements = page.document.select("a")
    told = [
        (each, part_of(f"{each.attr('class')} {each.attr('id')}".rstrip(" "))) for each in elements
    ]
    for _ in range(2):  # what is remembered of the names changes nothing
        parts = Parts(page.document, page.memory)
        for kind, found in (("s", parts.stocks), ("n", parts.numbers), ("t", parts.trails)):
            assert found == [each for each, kinds in told if kind in kinds]
        assert parts.prices[:-1] == [each for each, kinds in told if "p" in kinds]
        assert parts.brands[:-1] == [each for each, kinds in told if "m" in kinds]
        assert parts.buttons == [each for each, kinds in told if "b" in kinds]
