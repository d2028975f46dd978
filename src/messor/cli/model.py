"""`messor model`: model calls, their cost, and values the pages do not confirm."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from messor.ai import queries
from messor.ai.queries import CALLS, ModelCall, Spent
from messor.cli.listing import list_options, read_list, show_list
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import with_database
from messor.core.terminal import say
from messor.settings import Settings

SPENT = ("scope", "calls", "tokens", "cost", "max tokens", "max cost")
HEAD = ("call", "sent", "domain", "purpose", "status", "tokens", "cost", "url")
UNVERIFIED = ("kind", "field", "value", "reason")
_limit = click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=50,
    show_default=True,
    help="Maximum number of rows.",
)


@click.group()
def model() -> None:
    """Show model calls, their cost, and values that the pages do not confirm.

    \b
    Example:
      messor model spent
      messor model calls --domain example.org --unverified
    """


@model.command()
@_limit
@json_option
def spent(limit: int, as_json: bool) -> None:
    """Show this month's usage, in total and by domain, and the limits.

    \b
    Example:
      messor model spent
    """
    found = run(with_database(lambda database: queries.spent(database, limit=limit)))
    if as_json:
        print_json([asdict(one) for one in found])
    elif found:
        settings = Settings()
        print_table(SPENT, [_spent_row(one, settings) for one in found])
    else:
        say("The model was not used this month.")


@model.command()
@list_options(CALLS)
def calls(**given: Any) -> None:
    """List model calls, newest first; with --unverified, the values that were not confirmed.

    \b
    Example:
      messor model calls --status refused
      messor model calls --domain example.org --unverified
    """
    empty = "No matching model calls."
    if given["as_json"] or not given["unverified"]:
        show_list(CALLS, given, HEAD, _call_row, empty=empty)
        return
    del given["as_json"]
    found, _ = run(with_database(lambda database: read_list(CALLS, database, given)))
    for one in found:
        _emit_unverified(one)
    if not found:
        say(empty)


def _spent_row(one: Spent, settings: Settings) -> tuple[Any, ...]:
    is_month = one.scope == "month"
    caps = (
        (settings.ai_monthly_tokens, settings.ai_monthly_budget)
        if is_month
        else (settings.ai_domain_tokens, settings.ai_domain_budget)
    )
    scope = f"{one.month:%Y-%m}" if is_month else one.key
    return (scope, one.calls, one.tokens, one.cost, *caps)


def _call_row(one: ModelCall) -> tuple[Any, ...]:
    return (
        one.id, one.asked_at, one.domain, one.purpose.partition(":")[0], one.ending, one.tokens,
        one.cost, one.url,
    )  # fmt: skip


def _emit_unverified(one: ModelCall) -> None:
    emit(f"Call {one.id}: {one.url or one.domain}")
    rows = [
        (value["kind"], value["field"] or None, _short(value["value"]), value["reason"])
        for value in one.unverified
    ]
    print_table(UNVERIFIED, rows)
    emit("")


def _short(value: Any) -> str | None:
    """Return a value, or the fields of a record, on one line."""
    if isinstance(value, dict):
        value = "; ".join(f"{name}: {text}" for name, text in value.items() if text)
    text = " ".join(str(value or "").split())
    return (text if len(text) <= 60 else f"{text[:59]}…") or None
