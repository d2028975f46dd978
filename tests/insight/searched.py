"""A site in several languages, and the documents that each query finds there, whoever answers it."""

from __future__ import annotations

from messor.store.database import Database
from tests.insight.making import Site, make_site


async def make_searched_site(database: Database) -> Site:
    """Eight pages to be indexed, and two records."""
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
