"""Products: the filtered list, and one product with its prices over time."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import charts, evidence
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get
from messor.console.views.records import STATES
from messor.entities import queries as entity_queries
from messor.entities.queries import FullEntity
from messor.errors import NotFoundError
from messor.records import correction_queries, product_queries, queries
from messor.records.price_queries import PRICE_CHANGES
from messor.records.product_queries import PRODUCT_PRICES, PRODUCTS, PriceFilter

MAX_PRICES = 500  # in the chart
SHOWN_PRICES = 50  # in the table


async def show_all(call: ConsoleRequest) -> Response:
    listed = await list_of(call, PRODUCTS, "/products", labels={"state": STATES})
    return await call.page("products/list.html", listed=listed)


async def show_changes(call: ConsoleRequest) -> Response:
    listed = await list_of(call, PRICE_CHANGES, "/products/changes")
    return await call.page("products/changes.html", listed=listed)


async def show(call: ConsoleRequest) -> Response:
    database = call.context.database
    product = await product_queries.product(database, call.number("product_id"))
    wanted = PriceFilter(product_id=product.id)
    prices = (await PRODUCT_PRICES.read(database, wanted, limit=MAX_PRICES)).items
    try:
        record = await queries.record(database, product.record_id)
    except NotFoundError:
        fields, names = [], {}
    else:
        made = await correction_queries.of_record(database, record.id)
        fields = evidence.display_fields(record, made)
        names = await call.names({one.corrected_by for one in made})
    thing = await _thing(call, product.record_id)
    return await call.page(
        "products/product.html",
        product=product,
        thing=thing,
        elsewhere=[each for each in thing.members if each.product_id != product.id]
        if thing
        else [],
        prices=prices[:SHOWN_PRICES],
        chart=charts.prices(prices[::-1], datetime.now(UTC)),
        fields=fields,
        names=names,
        as_text=evidence.as_text,
        tone=evidence.tone,
    )


async def _thing(call: ConsoleRequest, record_id: int) -> FullEntity | None:
    """What the product is over all shops, if another states it too."""
    database = call.context.database
    for link in await entity_queries.of_record(database, record_id):
        if link.kind == "product" and link.statements > 1:
            return await entity_queries.entity(database, link.id)
    return None


SCREENS = (
    get("/products", Act.READ, show_all),
    get("/products/changes", Act.READ, show_changes),
    get("/products/{product_id:int}", Act.READ, show),
)
