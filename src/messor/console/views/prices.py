"""Prices: what sites ask for their pages, approvals to pay them, and payments."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, post
from messor.errors import ConflictError, UsageError
from messor.governance import prices
from messor.governance.price_queries import PAYMENTS, PRICES, AskedPriceFilter
from messor.registry import domains
from messor.registry.domains import Domain
from messor.web.quotes import Scheme

PATH = "/rights/prices"


async def show_all(call: ConsoleRequest) -> Response:
    listed = await list_of(call, PRICES, PATH, choices={"scheme": tuple(Scheme)})
    return await call.page("rights/prices.html", listed=listed)


async def show_payments(call: ConsoleRequest) -> Response:
    listed = await list_of(call, PAYMENTS, "/rights/payments")
    return await call.page("rights/payments.html", listed=listed)


async def show_one(call: ConsoleRequest) -> Response:
    return await _form(call, await domains.get(call.context.database, call.part("name")))


async def _form(
    call: ConsoleRequest, domain: Domain, *, wrong: str | None = None, status: int = 200
) -> Response:
    database = call.context.database
    asked = await PRICES.read(database, AskedPriceFilter(domain=domain.domain), limit=10)
    approval = await prices.in_force(database, domain.id)
    return await call.page(
        "rights/price.html", status=status, wrong=wrong, domain=domain, asked=asked.items,
        approval=approval, form=call.form, pays=call.context.settings.payment_adapter != "none",
        names=await call.names({approval.approved_by} if approval else set()),
    )  # fmt: skip


async def approve(call: ConsoleRequest) -> Response:
    """Approve paying up to a price per page and a budget per month."""
    form, found = call.form, await domains.get(call.context.database, call.part("name"))
    try:
        async with call.context.database.transaction() as connection:
            domain = await domains.lock(connection, found.domain)
            await prices.approve(
                connection, domain, page=form.text("page"), month=form.text("month"),
                reason=form.text("reason"), actor=call.actor,
            )  # fmt: skip
    except UsageError as error:
        return await _form(call, found, wrong=str(error), status=422)
    return call.go(PATH, f"Paying for pages of {found.domain} is approved.")


async def revoke(call: ConsoleRequest) -> Response:
    try:
        async with call.context.database.transaction() as connection:
            domain = await domains.lock(connection, call.part("name"))
            await prices.revoke(connection, domain, actor=call.actor)
    except ConflictError as error:
        return call.go(PATH, str(error), "warning")
    return call.go(PATH, f"Nothing more is paid for {domain.domain}.")


SCREENS = (
    get(PATH, Act.READ, show_all),
    get("/rights/payments", Act.READ, show_payments),
    get("/rights/prices/{name}", Act.READ, show_one),
    post("/rights/prices/{name}/approve", Act.DOMAINS_REVIEW, approve),
    post("/rights/prices/{name}/revoke", Act.DOMAINS_REVIEW, revoke),
)
