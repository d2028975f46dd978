"""`messor prices`: what sites ask for their pages, what may be paid, and receipts."""

from __future__ import annotations

from typing import Any

import click

from messor.cli.domain_session import name_of
from messor.cli.listing import list_options, show_list
from messor.cli.output import json_option, print_item, print_json, run
from messor.cli.session import LOCAL_ADMIN, transact
from messor.core.terminal import say
from messor.governance import prices as approvals
from messor.governance.payment import adapter_of
from messor.governance.price_queries import PAYMENTS, PRICES, AskedPrice, Payment
from messor.governance.prices import Approval
from messor.registry import domains as registry
from messor.settings import Settings
from messor.store.database import Connection

HEAD = ("domain", "by", "asks", "times", "last", "may pay", "this month", "such as")
PAID_HEAD = ("time", "domain", "by", "offered", "charged", "adapter", "receipt", "page")
APPROVAL_HEAD = ("currency", "per page", "per month", "reason")
NO_ADAPTER = (
    "Nothing is paid: MESSOR_PAYMENT_ADAPTER is none. The approval counts once an adapter is set."
)


@click.group()
def prices() -> None:
    """Show what sites ask for their pages, approve what may be paid, and see receipts.

    Nothing is ever paid without an approval and a payment adapter.

    \b
    Example:
      messor prices list
      messor prices approve news.example --page "USD 0.01" --month "USD 20" --reason "Contract 12"
      messor prices payments --domain news.example
    """


@prices.command("list")
@list_options(PRICES)
def list_prices(**given: Any) -> None:
    """List the newest price that each domain asks, and what is approved.

    \b
    Example:
      messor prices list --approved false
    """
    show_list(PRICES, given, HEAD, _row, empty="No site has asked for payment.")


def _row(one: AskedPrice) -> tuple[Any, ...]:
    asks = one.text if one.amount is None else f"{one.currency} {one.amount:f}"
    may = f"{one.approved_currency} {one.per_page:f} a page" if one.per_page else None
    spent = f"{one.spent:f} of {one.per_month:f}" if one.per_month else None
    return one.domain, one.scheme.value, asks, one.times, one.asked_at, may, spent, one.example


@prices.command()
@click.argument("domain")
@click.option("--page", required=True, help="Maximum price of a page, such as 'USD 0.01'.")
@click.option("--month", required=True, help="Budget of the domain per month, such as 'USD 20'.")
@click.option("--reason", required=True, help="Reason; kept with the approval.")
@json_option
def approve(domain: str, page: str, month: str, reason: str, as_json: bool) -> None:
    """Approve paying for a DOMAIN's pages, up to a price per page and a budget per month.

    A new approval replaces the former one. Pages that named a price are due again.

    \b
    Example:
      messor prices approve news.example --page "USD 0.01" --month "USD 20" --reason "Contract 12"
    """

    async def act(connection: Connection) -> Approval:
        found = await registry.lock(connection, name_of(domain))
        return await approvals.approve(
            connection, found, page=page, month=month, reason=reason, actor=LOCAL_ADMIN
        )

    made = run(transact(act))
    print_item(
        made, as_json, APPROVAL_HEAD,
        lambda one: (one.currency, f"{one.per_page:f}", f"{one.per_month:f}", one.reason),
    )  # fmt: skip
    if adapter_of(Settings()) is None:
        say(NO_ADAPTER)


@prices.command()
@click.argument("domain")
@json_option
def revoke(domain: str, as_json: bool) -> None:
    """Pay nothing more for a DOMAIN's pages.

    \b
    Example:
      messor prices revoke news.example
    """

    async def act(connection: Connection) -> str:
        found = await registry.lock(connection, name_of(domain))
        await approvals.revoke(connection, found, actor=LOCAL_ADMIN)
        return found.domain

    name = run(transact(act))
    if as_json:
        print_json({"domain": name, "approved": None})
    else:
        say(f"Nothing more is paid for {name}.")


@prices.command()
@list_options(PAYMENTS)
def payments(**given: Any) -> None:
    """List payments and their receipts, newest first.

    One without a settlement was offered by a request whose end is not known: it counts as paid.

    \b
    Example:
      messor prices payments --domain news.example --json
    """
    show_list(PAYMENTS, given, PAID_HEAD, _payment_row, empty="Nothing was paid.")


def _payment_row(one: Payment) -> tuple[Any, ...]:
    charged = None if one.charged is None else f"{one.currency} {one.charged:f}"
    return (
        one.begun_at, one.domain, one.scheme.value, f"{one.currency} {one.amount:f}", charged,
        one.adapter, one.receipt, one.url,
    )  # fmt: skip
