"""Keywords in the console: the list, one with its ranks and gaps, and growing them."""

from __future__ import annotations

import re

from messor.scout import keyword_queries
from messor.scout.keyword_queries import KEYWORDS
from messor.store.database import Database
from tests.console.conftest import Visitor
from tests.console.found import seed
from tests.insight.making import apply_vertical
from tests.listed import listed


async def count(database: Database) -> int:
    found: int = await database.fetchval("SELECT count(*) FROM messor.keywords")
    return found


TEXTS = re.compile(r'href="/keywords/[0-9a-f-]+">([^<]+)</a>')


async def test_a_text_is_listed_on_each_profile(reviewer: Visitor, database: Database) -> None:
    await seed(database, weeks=2)
    page = await reviewer.get("/keywords?vertical=wellness&q=BOTOX%20%20singapore")
    assert "best botox singapore" in page.said
    assert "acne" not in page.text.partition('id="rows"')[2]
    for profile in ("sg-desktop", "sg-mobile"):
        assert profile in page.text.partition('id="rows"')[2]
    rows = await reviewer.get("/keywords?vertical=wellness&tier=A", **{"HX-Request": "true"})
    assert rows.text.lstrip().startswith('<div class="table-responsive">')
    assert TEXTS.findall(rows.text) == ["best botox singapore", "botox singapore"]


async def test_the_list_is_paged_whole(reviewer: Visitor, database: Database) -> None:
    await seed(database, weeks=1)
    seen: list[str] = []
    path = "/keywords?vertical=wellness&q=near"
    while path:
        page = await reviewer.get(path)
        seen += TEXTS.findall(page.text)
        onward = re.search(r'href="([^"]+)">Next', page.text)
        path = onward[1].replace("&amp;", "&") if onward else ""
    expected = await database.fetchval(
        "SELECT count(*) FROM messor.keywords WHERE keyword_text LIKE '%near%'"
    )
    assert len(seen) == expected
    assert seen == sorted(seen)


async def test_a_gap_is_a_gap_in_the_chart_and_never_a_rank(
    reviewer: Visitor, database: Database
) -> None:
    found = await seed(database)
    page = await reviewer.get(f"/keywords/{found.keywords[1]}")
    assert "8 result pages, 2 of them gaps" in page.said
    assert page.text.count('class="curve-gap"') == 2
    paths = re.findall(r'class="curve stroke-\w+" d="([^"]+)"', page.text)
    assert paths
    assert all(path.count("M") >= 3 for path in paths if path.count("L") >= 3), "broken at gaps"
    assert "no engine could be asked" in page.said
    other = await reviewer.get(f"/keywords/{found.keywords[0]}?domain=orchard-dental.test")
    assert "orchard-dental.test" in other.text.partition('class="tally')[2]


async def test_a_generation_is_previewed_then_written(
    reviewer: Visitor, database: Database
) -> None:
    await apply_vertical(database)
    page = await reviewer.get("/keywords/generate?vertical=wellness")
    for words in ("720", "3 profiles", "2,160", "{service} near {geo}", "dermatologist singapore"):
        assert words in page.said, words
    assert await count(database) == 0
    form = {"act": "generate", "vertical": "wellness"}
    answer = await reviewer.send("/keywords/generate", "/keywords/grow", form)
    assert answer.place == "/keywords?vertical=wellness"
    assert await count(database) == 2160
    again = await reviewer.get("/keywords/generate?vertical=wellness")
    assert "disabled" in again.text
    assert await count(database) == 2160


async def test_suggestions_are_shown_with_reasons_and_taken(
    reviewer: Visitor, database: Database
) -> None:
    await seed(database, weeks=1)
    page = await reviewer.get("/keywords/expand?vertical=wellness")
    assert "is botox safe in singapore" in page.said
    assert re.search(r"it drifts|its words are the vertical", page.said)
    before = await count(database)
    form = {"act": "expand", "vertical": "wellness"}
    await reviewer.send("/keywords/expand?vertical=wellness", "/keywords/grow", form)
    assert await count(database) >= before


async def test_tiers_are_previewed_then_given(reviewer: Visitor, database: Database) -> None:
    found = await seed(database)
    page = await reviewer.get("/keywords/tiers?vertical=wellness")
    assert "0.6 for" in page.said
    form = {"act": "tiers", "vertical": "wellness"}
    await reviewer.send("/keywords/tiers?vertical=wellness", "/keywords/grow", form)
    said = (await reviewer.get("/keywords?vertical=wellness")).said
    assert "4 keywords were measured" in said
    one = await keyword_queries.get(database, found.keywords[2])
    assert one.value is not None
    assert one.tier_reason is not None


async def test_a_keyword_by_hand(reviewer: Visitor, database: Database) -> None:
    await apply_vertical(database)
    form = {
        "vertical": "wellness",
        "text": "  Botox  ORCHARD road ",
        "tier": "A",
        "profile": "sg-mobile",
    }
    await reviewer.send("/keywords", "/keywords", form)
    rows = await listed(KEYWORDS, database)
    assert [(row.text, row.profile) for row in rows] == [("botox orchard road", "sg-mobile")]
    again = await reviewer.send("/keywords", "/keywords", form)
    assert "already exist" in (await reviewer.get(again.place)).said
    for bad in ({"text": " "}, {"text": "x", "profile": "nowhere"}):
        answer = await reviewer.send("/keywords", "/keywords", {"vertical": "wellness", **bad})
        assert "alert-danger" in (await reviewer.get(answer.place)).text
    assert (
        await reviewer.send("/keywords", "/keywords", {"vertical": "x", "text": "y"})
    ).status == 404
    form["tier"] = "Z"
    assert (await reviewer.send("/keywords", "/keywords", form)).status == 422


async def test_what_is_not_there_is_not_there(reviewer: Visitor, database: Database) -> None:
    await apply_vertical(database)
    for path in (
        "/keywords/x", "/keywords/00000000-0000-0000-0000-000000000001", "/keywords?vertical=nope",
        "/serps/x", "/serps/00000000-0000-0000-0000-000000000001", "/discovery/x",
        "/discovery/00000000-0000-0000-0000-000000000001", "/candidates?at=x",
        "/candidates?at=00000000-0000-0000-0000-000000000001", "/scores/x",
        "/scores/00000000-0000-0000-0000-000000000001", "/verticals/nope",
    ):  # fmt: skip
        assert (await reviewer.get(path)).status == 404, path


async def test_a_tier_is_set_by_hand_and_returned(admin: Visitor, database: Database) -> None:
    found = await seed(database, weeks=1)
    path = f"/keywords/{found.keywords[1]}"
    for tier in ("C", ""):
        assert (await admin.send(path, f"{path}/tier", {"tier": tier})).status == 303
        keyword = await keyword_queries.get(database, found.keywords[1])
        assert (keyword.tier, keyword.tier_set_by is None) == ("C", tier == "")
    assert (await admin.send(path, f"{path}/tier", {"tier": "Z"})).status == 422
