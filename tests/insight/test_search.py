"""Search: stems by language, folded accents, phrases, beginnings, highlights, facets, cursors."""

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
    made = await make_site(database, "shop.test")
    english, german, french = "en-GB", "de", "fr"
    await made.page("We treat running injuries in our clinic.", title="en", language=english)
    await made.page("Unsere Häuser liegen am Fluß.", title="de", language=german)
    await made.page("Le café est fermé. Crème brûlée.", title="fr", language=french)
    await made.page("Gdzie jest łódka? running", title="none")
    page = await made.page("A kettle.", title="kettle", language=english)
    await made.record(
        page, "product", product_name="Copper kettle", brand="Acme", category="Kitchen",
        price="49.90", currency="EUR", rating="4.5", availability="in_stock",
        description="Boils water for a clinic",
    )  # fmt: skip
    await made.record(
        page, "product", product_name="Steel kettle", brand="Zeta", category="Kitchen", price=120.0,
        currency="EUR", rating=3.2, availability="out_of_stock",
    )  # fmt: skip
    await made.page("この急須は手作りです。緑茶をいれる、り。", title="ja", language="ja")
    await made.page("إبريق شَاي نحاسي", title="ar", language="ar")
    await made.page("Herbal tea. Gieß\u00adkanne, zero\u200bwidth", title="thin", language="de")
    assert await index(database) == 8
    assert await index(database) == 0
    return made


ANSWERS: dict[str, set[str]] = {
    "run injury": {"en"},  # stems of the page's language
    "running": {"en", "none"},  # plainly where the language is not known
    "runs": {"en"},
    "haus": {"de"},
    "hauser fluss": {"de"},
    "HÄUSER": {"de"},
    "cafe": {"fr"},
    "CRÈME brulee": {"fr"},
    "lodka": {"none"},
    '"running injuries"': {"en"},
    '"injuries running"': set(),
    "clinic -water": {"en"},
    "injuries OR haus": {"en", "de"},
    "inj*": {"en"},
    "clin* copp*": {"Copper kettle"},
    "kettle -copp*": {"kettle", "Steel kettle"},
    "der*": set(),
    "her*": {"thin"},
    "clinic her*": set(),
    "cl* -the*": {"en", "Copper kettle"},
    "急須": {"ja"},
    "急須 緑茶": {"ja"},
    "須急": set(),
    "手*": {"ja"},
    "緑茶* OR haus": {"ja", "de"},
    "haus OR herbal -緑": {"de", "thin"},
    "ابريق": {"ar"},
    "شاي": {"ar"},
    "giesskanne": {"thin"},
    "zerowidth": {"thin"},
    "herbal\u200b": {"thin"},
    "the": set(),
    "nowhere": set(),
}


async def test_what_answers(
    database: Database,
    site: Site,
) -> None:
    assert {typed: await titles(database, typed) for typed in ANSWERS} == ANSWERS


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


async def test_filters_and_facets(
    database: Database,
    site: Site,
) -> None:
    other = await make_site(database, "other.test")
    await other.page("Another kettle", title="other", language="en")
    await index(database)
    everything = await search.facets(database, "kettle")
    assert (everything.total, everything.is_exact) == (4, True)
    assert everything.by["domain"] == {"shop.test": 3, "other.test": 1}
    assert everything.by["kind"] == {"page": 2, "product": 2}
    assert everything.by["brand"] == {"Acme": 1, "Zeta": 1}
    assert everything.by["category"] == {"Kitchen": 2}
    assert everything.by["price"] == {"EUR 100 to 250": 1, "EUR 25 to 50": 1}
    assert everything.by["rating"] == {"3": 1, "4": 1}
    assert everything.by["availability"] == {"in_stock": 1, "out_of_stock": 1}
    one = {"Copper kettle"}
    for filters in (
        SearchFilters(brands=("Acme",)),
        SearchFilters(availability=("in_stock",)),
        SearchFilters(min_price=Decimal(40), max_price=Decimal(50), currency="EUR"),
        SearchFilters(min_rating=Decimal(4)),
    ):
        assert await titles(database, "kettle", filters) == one
        assert (await search.facets(database, "kettle", filters)).total == 1
    assert await titles(database, "kettle", SearchFilters(domains=("other.test",))) == {"other"}


async def test_a_cursor_goes_through_everything_once(database: Database) -> None:
    site = await make_site(database, "many.test")
    for number in range(7):
        await site.page(f"tea {'tea ' * (number % 3)}", title=str(number), language="en")
    await index(database)
    seen: list[str | None] = []
    after = None
    while True:
        found = await search.search(database, "tea", after=after, limit=3)
        seen += [hit.title for hit in found.hits]
        after = found.next
        if after is None:
            break
    assert sorted(map(str, seen)) == [str(number) for number in range(7)]
    first = await search.search(database, "tea", limit=3)
    with pytest.raises(UsageError, match="another query"):
        await search.search(database, "coffee", after=first.next)
    for bad in ("x", "é", "W10", "WzFlMzAwLDEsImEiXQ"):
        with pytest.raises(UsageError, match="cursor"):
            await search.search(database, "tea", after=bad)


async def test_documents_follow_their_pages(database: Database) -> None:
    site = await make_site(database, "a.test")
    page_id, _ = page = await site.page("apple", title="page", language="en")
    record = await site.record(page, "faq", question="Which pear?")
    await index(database)
    assert await titles(database, "apple OR pear") == {"page", "Which pear?"}
    await database.fetch("UPDATE messor.records SET state = 'removed' WHERE id = $1", record)
    await database.fetch("UPDATE messor.extractions SET records = 0")
    await index(database)
    assert await titles(database, "apple OR pear") == {"page"}
    await database.fetch(
        "INSERT INTO messor.page_changes VALUES ($1, messor.clock(), NULL, 'removed')", page_id
    )
    await database.fetch("UPDATE messor.extractions SET snapshot_id = NULL")
    await index(database)
    assert await titles(database, "apple OR pear") == set()


async def test_forgotten_pages_are_not_found(database: Database) -> None:
    site = await make_site(database, "a.test")
    page_id, _ = page = await site.page("secret", language="en")
    await site.record(page, "faq", question="secret?")
    await index(database)
    await site.page("waits")
    await database.fetch("SELECT messor.forget_pages(ARRAY[$1::bigint], false)", page_id)
    assert await titles(database, "secret") == set()
    assert await database.fetchval("SELECT count(*) FROM messor.search_documents") == 0
    assert await database.fetchval("SELECT count(*) FROM messor.search_due") == 1


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
