"""`messor model`: what a model was asked and what it cost, and what of its answers is not believed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from messor.ai import ReplyStatus, usage
from messor.ai.reply import NOT_ASKED
from messor.ai.usage import ModelCall, Spent
from messor.cli.domain_session import name_of, with_database
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.settings import Settings
from messor.store.database import Database

SPENT = ("for", "calls", "tokens", "cost", "most tokens", "most cost")
CALLS = ("call", "asked", "domain", "purpose", "ending", "tokens", "cost", "url")
DOUBTS = ("kind", "field", "value", "because")
ENDINGS = ["asked", "lost", *(ending.value for ending in ReplyStatus if ending not in NOT_ASKED)]
_limit = click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)


@click.group()
def model() -> None:
    """See what a model was asked, what it cost, and what of its answers is not believed.

    \b
    Example:
      messor model spent
      messor model calls --domain example.org --unverified
    """


@model.command()
@_limit
@json_option
def spent(limit: int, as_json: bool) -> None:
    """Tell what this month came to, in all and by domain, and the most that may be spent.

    \b
    Example:
      messor model spent
    """

    async def act(database: Database) -> list[Spent]:
        return await usage.spent(database, limit=limit)

    found = run(with_database(act))
    if as_json:
        print_json([asdict(one) for one in found])
    elif found:
        settings = Settings()
        print_table(SPENT, [_spent_row(one, settings) for one in found])
    else:
        say("Nothing was spent this month.")


@model.command()
@click.option("--domain", help="Only about pages of this domain.")
@click.option("--ending", type=click.Choice(ENDINGS), help="Only those that ended so.")
@click.option(
    "--unverified", is_flag=True, help="Only those with values that the page does not say."
)
@_limit
@json_option
def calls(
    domain: str | None, ending: str | None, unverified: bool, limit: int, as_json: bool
) -> None:
    """List questions to the model, the newest first, with what of their answers is not believed.

    \b
    Example:
      messor model calls --ending refused
      messor model calls --domain example.org --unverified
    """
    name = name_of(domain) if domain else None

    async def act(database: Database) -> list[ModelCall]:
        return await usage.calls(
            database, domain=name, ending=ending, is_doubted=unverified, limit=limit
        )

    found = run(with_database(act))
    if as_json:
        print_json([asdict(one) for one in found])
    elif not found:
        say("No such question was put to a model.")
    elif unverified:
        for one in found:
            _emit_doubts(one)
    else:
        print_table(CALLS, [_call_row(one) for one in found])


def _spent_row(one: Spent, settings: Settings) -> tuple[Any, ...]:
    is_month = one.scope == "month"
    caps = (
        (settings.ai_monthly_tokens, settings.ai_monthly_budget)
        if is_month
        else (settings.ai_domain_tokens, settings.ai_domain_budget)
    )
    whose = f"{one.month:%Y-%m}" if is_month else one.key
    return (whose, one.calls, one.tokens, one.cost, *caps)


def _call_row(one: ModelCall) -> tuple[Any, ...]:
    return (
        one.id, one.asked_at, one.domain, one.purpose.partition(":")[0], one.ending, one.tokens,
        one.cost, one.url,
    )  # fmt: skip


def _emit_doubts(one: ModelCall) -> None:
    emit(f"Call {one.id}: {one.url or one.domain}")
    rows = [
        (doubt["kind"], doubt["field"] or None, _short(doubt["value"]), doubt["reason"])
        for doubt in one.unverified
    ]
    print_table(DOUBTS, rows)
    emit("")


def _short(value: Any) -> str | None:
    """A value on one line; of a whole record what it states."""
    if isinstance(value, dict):
        value = "; ".join(f"{name}: {text}" for name, text in value.items() if text)
    text = " ".join(str(value or "").split())
    return (text if len(text) <= 60 else f"{text[:59]}…") or None
