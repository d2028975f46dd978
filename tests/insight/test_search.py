"""Search in PostgreSQL: highlights, the making of documents, folding; `tests/search_server` has the rest."""

from __future__ import annotations

from decimal import Decimal

import pytest

from messor.errors import UsageError
from messor.insight import search
from messor.insight.highlights import fold, fragments
from messor.insight.questions import understand
from messor.insight.search import SearchFilters
from messor.insight.search_index import catch_up, index_waiting
from messor.store.database import Database
from tests.insight.making import Site, make_site
from tests.insight.searched import make_searched_site


async def index(database: Database) -> int:
    async with database.transaction() as connection:
        return await index_waiting(connection, 1000)


async def titles(
    database: Database, typed: str, filters: SearchFilters = search.NO_FILTERS
) -> set[str]:
    found = await search.search(database, typed, filters)
    return {hit.title or "" for hit in found.hits}


@pytest.fixture
async def site(database: Database) -> Site:
    made = await make_searched_site(database)
    assert await index(database) == 8
    assert await index(database) == 0
    return made


async def test_a_hit_shows_where_in_the_letters_of_the_text(
    database: Database,
    site: Site,
) -> None:
    (hit,) = (await search.search(database, "cafe brulee")).hits
    (piece,) = hit.fragments
    assert piece.shown("[", "]") == "Le [café] est fermé. Crème [brûlée]."
    (record,) = (await search.search(database, "copper", SearchFilters(kinds=("product",)))).hits
    assert record.record_id is not None
    assert (record.price, record.currency, record.rating) == (
        Decimal("49.90"),
        "EUR",
        Decimal("4.5"),
    )
    assert "[Copper]" in record.fragments[0].shown("[", "]")
    site_menu = (
        '[![Acme *inc*](/logo.png)](/) - [Home](/home "x") - [Teapots](/teapots) # A [teapot]'
    )
    await site.page(site_menu, title="menu", language="en")
    assert await index(database) == 1
    (hit,) = (await search.search(database, "teapot")).hits
    assert hit.fragments[0].shown("<", ">") == (
        'Acme *inc* - [Home](/home "x") - <Teapots> # A [<teapot>]'
    )
    (hit,) = (await search.search(database, "手作り")).hits
    assert hit.fragments[0].shown("[", "]") == "この急須は[手作り]です。緑茶をいれる、り。"


async def test_catching_up_finds_what_was_never_indexed(database: Database) -> None:
    site = await make_site(database, "a.test")
    await site.page("one")
    await site.page("two")
    await database.fetch("DELETE FROM messor.search_due")
    async with database.transaction() as connection:
        assert await catch_up(connection) == 2
        assert await catch_up(connection) == 0
    assert await index(database) == 2
    async with database.transaction() as connection:
        assert await catch_up(connection) == 0


async def test_only_one_indexes_at_a_time(database: Database) -> None:
    site = await make_site(database, "a.test")
    await site.page("one")
    async with database.transaction() as first, database.transaction() as second:
        assert await index_waiting(first) == 1
        assert await index_waiting(second) == 0


async def test_hostile_texts_are_indexed(database: Database) -> None:
    site = await make_site(database, "a.test")
    many = " ".join(f"w{number:x}é" for number in range(60_000))
    await site.page(many, title="many words", language="fr")
    await site.page("x" * 300_000, title="long word", language="xx-nonsense; DROP")
    await site.page("\x02needle\x03 ﬁne Å", title="marks", language="de")
    assert await index(database) == 3
    assert await titles(database, "title OR many OR long") == {"many words", "long word"}
    (hit,) = (await search.search(database, "needle fine a")).hits
    assert hit.fragments[0].shown("[", "]").strip() == "[needle] [ﬁne] [Å]"


@pytest.mark.parametrize(
    "typed, said",
    [
        ("", "The query is empty"), ("  -only -these ", "The query is empty"), ("!!! ()", "The query is empty"),
        ("a*", "is too short"), ("tea OR cof*", "combined with OR"), ("x" * 600, "at most"),
        (" ".join(f"ab{n}*" for n in range(11)), "10 prefixes"),
    ],
)  # fmt: skip
def test_questions_that_ask_nothing(typed: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        understand(typed)


async def test_no_question_breaks_the_search(database: Database, site: Site) -> None:
    for typed in (
        "a & b | !c",
        "x:* <-> y",
        '"open phrase',
        "it's \\ back",
        "\x00nul tea",
        "%_ a:b",
        "ﷺﷺ*",
        "tea -⑴⑵*",
        "㈱㈱* ½½* __*",
        "急*須 -日本*",
        '急"須',
    ):
        await search.search(database, typed)
        await search.facets(database, typed)


async def test_python_and_the_database_fold_alike(database: Database) -> None:
    for text in (
        "Ångström œuvre Łódź straße ǆ ﬁ ① İı ΐ Ệ e\u0301\u0327",
        "한국어 日本語 ｱ",
        "Ðæ",
        "ガラス が𠮷々〆、か\u3099",
        "שָׁלוֹם إِبْرِيق ـ",
        "so\u00adft ze\u200bro \ufeff\u2067x",
    ):
        assert await database.fetchval("SELECT messor.fold($1)", text) == fold(text)


def test_marks_are_carried_to_uneven_letters() -> None:
    original = "Die Straße, e\u0301te\u0301 œuvre"
    marked = fold(original).replace("Strasse", "\x02Strasse\x03").replace("ete", "\x02ete\x03")
    (piece,) = fragments(original, marked)
    assert piece.shown("[", "]") == "Die [Straße], [e\u0301te\u0301] œuvre"
