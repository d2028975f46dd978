"""Search in the console: words are marked, facets are links, and empty pages teach."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlencode

import pytest
import pytest_asyncio

from messor.store.database import Database
from tests.console.conftest import Answer, Visitor
from tests.harvested import Harvest, open_harvest, product_html, stock_shop


@pytest_asyncio.fixture(loop_scope="session")
async def shop(database: Database) -> Harvest:
    return await stock_shop(database)


def titles(page: Answer) -> list[str]:
    return [
        unescape(one) for one in re.findall(r'class="hit-title" href="[^"]+">([^<]+)<', page.text)
    ]


def facet(page: Answer, label: str) -> str:
    """Where a value of a facet leads."""
    found = re.search(rf'<li>\s*<a href="([^"]+)"[^>]*>{re.escape(label)}[ <]', page.text)
    assert found, label
    return unescape(found[1])


async def test_words_are_found_and_marked(reviewer: Visitor, shop: Harvest) -> None:
    page = await reviewer.get("/search?q=boils+kettle")
    assert "Copper kettle" in titles(page)
    assert "<mark>boils</mark>" in page.text
    # What a page says is set in the direction of its own letters.
    assert page.text.count('dir="auto" class="hit-title"') == page.text.count("hit-title") > 0
    assert 'class="hit-text" dir="auto"' in page.text
    phrase = await reviewer.get("/search?q=%22copper+kettle%22")
    assert set(titles(phrase)) == {"Copper kettle"}
    beginning = await reviewer.get("/search?q=porcel*")
    assert "Porcelain Works" in beginning.said
    without = await reviewer.get("/search?q=kettle+-acme&kind=product")
    assert "Copper kettle" not in titles(without)


async def test_answers_lead_to_where_they_stand(reviewer: Visitor, shop: Harvest) -> None:
    product = await reviewer.get("/search?q=kettle&kind=product")
    record_id = await shop.record_id("product", "/kettle")
    assert f'class="hit-title" href="/records/{record_id}"' in product.text
    page = await reviewer.get("/search?q=kettle&kind=page")
    assert re.search(r'class="hit-title" href="/pages/\d+/snapshots/\d+#:~:text=', page.text)


async def test_facets_are_links_that_narrow_and_widen(reviewer: Visitor, shop: Harvest) -> None:
    page = await reviewer.get("/search?q=copper")
    products = await reviewer.get(facet(page, "product"))
    assert set(titles(products)) == {"Copper kettle", "Tea pot", "Cup"}
    for label, expected in (
        ("Zeta", {"Tea pot", "Cup"}),
        ("Kitchen > Pots", {"Tea pot"}),
        ("out of stock", {"Tea pot"}),
        ("EUR 25 to 50", {"Copper kettle"}),
        ("4 and more", {"Copper kettle", "Cup"}),
    ):
        narrowed = await reviewer.get(facet(products, label.replace(">", "&gt;")))
        assert set(titles(narrowed)) == expected, label
        assert 'aria-current="true"' in narrowed.text
        back = await reviewer.get(facet(narrowed, label.replace(">", "&gt;")))
        assert set(titles(back)) == set(titles(products)), label
        assert "Remove filter" in narrowed.text


async def test_the_answers_go_on(reviewer: Visitor, database: Database) -> None:
    shop = await open_harvest(database)
    for number in range(25):
        await shop.see(f"/{number}", product_html(f"Kettle {number}", sku=f"I-{number}"))
    await shop.index()
    seen: list[str] = []
    path: str | None = "/search?q=kettle&kind=product"
    while path:
        page = await reviewer.get(path)
        seen += titles(page)
        found = re.search(r'href="([^"]+cursor=[^"]+)">Next', page.text)
        path = unescape(found[1]) if found else None
    assert len(seen) == len(set(seen)) == 25


@pytest.mark.parametrize("q", ["-only", "a* OR b", "x*", "w" * 501])
async def test_questions_that_cannot_be_asked_are_told_why(q: str, reviewer: Visitor) -> None:
    page = await reviewer.get(f"/search?{urlencode({'q': q})}")
    assert page.status == 422
    assert 'role="alert"' in page.text


async def test_wrong_cursors_and_filters_are_told(reviewer: Visitor, shop: Harvest) -> None:
    for more in ("cursor=nonsense", "min_price=cheap", "min_price=9&max_price=1", "min_rating=inf",
                 "min_confidence=2", "min_confidence=sure"):  # fmt: skip
        assert (await reviewer.get(f"/search?q=kettle&{more}")).status == 422, more


async def test_results_are_narrowed_by_their_confidence(reviewer: Visitor, shop: Harvest) -> None:
    sure = await reviewer.get("/search?q=copper&kind=product&min_confidence=0.95")
    assert "Copper kettle" in titles(sure)
    assert re.search(r'name="min_confidence" [^>]*value="0\.95"', sure.text)
    surer = await reviewer.get("/search?q=copper&kind=product&min_confidence=0.96")
    assert "No results for copper" in surer.said


async def test_empty_pages_teach(reviewer: Visitor, shop: Harvest) -> None:
    start = await reviewer.get("/search")
    assert "Search everything that was crawled" in start.said
    for hint in ('"garden kettle"', "hydra*", "-used", "oak OR ash"):
        assert hint in start.said
    nothing = await reviewer.get("/search?q=umbrella+stand&kind=product")
    assert "No results for umbrella stand" in nothing.said
    assert "umbrella*" in nothing.said
    assert 'href="/search?q=umbrella+stand"' in nothing.text


async def test_what_was_asked_comes_back_as_text(reviewer: Visitor, shop: Harvest) -> None:
    word = '"><script>__ran()</script>'
    page = await reviewer.get(f"/search?{urlencode({'q': word, 'brand': word})}")
    assert "<script>__ran" not in page.text
    assert "&lt;script&gt;__ran" in page.text
