"""`messor entities`: things merged over pages and sites, and decisions about what is one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from messor.cli.listing import list_options, show_list
from messor.cli.output import json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.entities import decisions, queries
from messor.entities.follow import follow
from messor.entities.queries import ENTITIES, PROPOSALS, FullEntity
from messor.store.database import Database

reason_option = click.option("--reason", help="Reason, shown with the decision.")


@click.group()
def entities() -> None:
    """Show organisations, products, programs, services and places, each merged over all its pages.

    \b
    Example:
      messor entities list --kind product --min-domains 2
      messor entities show 12
      messor entities proposals
    """


@entities.command()
@json_option
def update(as_json: bool) -> None:
    """Bring entities up to date with the records; `messor up` does this by itself.

    \b
    Example:
      messor entities update
    """
    read = run(with_database(_follow))
    if as_json:
        print_json({"records": read})
    else:
        say(f"{read} records read; entities are up to date.")


async def _follow(database: Database) -> int:
    read = 0
    while (batch := await follow(database)) is not None:
        read += batch
        say(f"{read} records read")
    return read


@entities.command("list")
@list_options(ENTITIES)
def list_(**given: Any) -> None:
    """List entities, recently changed first.

    \b
    Example:
      messor entities list --kind organisation --q "food bank"
      messor entities list --kind product --min-domains 2 --sort -domains
    """
    show_list(
        ENTITIES,
        given,
        ("id", "kind", "title", "domains", "statements", "records", "changed"),
        lambda one: (
            one.id, one.kind, one.title, one.domains, one.statements, one.records, one.updated_at,
        ),
        empty="No entities match. Bring them up to date: messor entities update",
    )  # fmt: skip


@entities.command()
@click.argument("entity", type=click.IntRange(1))
@json_option
def show(entity: int, as_json: bool) -> None:
    """Show an ENTITY: its fields, what each site states, and why they are one.

    \b
    Example:
      messor entities show 12
    """
    found = run(with_database(lambda database: queries.entity(database, entity)))
    _show(found, as_json)


@entities.command()
@list_options(PROPOSALS)
def proposals(**given: Any) -> None:
    """List pairs that may be one entity, surest first.

    \b
    Example:
      messor entities proposals --kind product --min-score 0.8
    """
    show_list(
        PROPOSALS,
        given,
        ("id", "kind", "score", "first", "at", "second", "at", "because"),
        lambda one: (
            one.id, one.kind, f"{one.score:.2f}", one.first_title, one.first_domain,
            one.second_title, one.second_domain, one.basis,
        ),
        empty="No proposals wait for a decision.",
    )  # fmt: skip


@entities.command()
@click.argument("proposal", type=click.IntRange(1))
@click.argument("verdict", type=click.Choice(("same", "different")))
@reason_option
@json_option
def decide(proposal: int, verdict: str, reason: str | None, as_json: bool) -> None:
    """Decide whether the two statements of a PROPOSAL are about the same thing.

    \b
    Example:
      messor entities decide 31 same
      messor entities decide 32 different --reason "another size"
    """
    found = run(
        transact(
            lambda connection: decisions.decide(
                connection, proposal, verdict, actor=LOCAL_ADMIN, reason=reason
            )
        )
    )
    _show(found, as_json)


@entities.command()
@click.argument("entity", type=click.IntRange(1))
@click.argument("other", type=click.IntRange(1))
@reason_option
@json_option
def merge(entity: int, other: int, reason: str | None, as_json: bool) -> None:
    """Make ENTITY and OTHER one.

    \b
    Example:
      messor entities merge 12 17 --reason "one shop under two names"
    """
    found = run(
        transact(
            lambda connection: decisions.merge(
                connection, entity, other, actor=LOCAL_ADMIN, reason=reason
            )
        )
    )
    _show(found, as_json)


@entities.command()
@click.argument("entity", type=click.IntRange(1))
@click.argument("statement", type=click.IntRange(1))
@reason_option
@json_option
def split(entity: int, statement: int, reason: str | None, as_json: bool) -> None:
    """Take a STATEMENT out of an ENTITY; `messor entities show` lists the statements.

    \b
    Example:
      messor entities split 12 88 --reason "another branch"
    """
    found = run(
        transact(
            lambda connection: decisions.split(
                connection, entity, statement, actor=LOCAL_ADMIN, reason=reason
            )
        )
    )
    _show(found, as_json)


def _show(found: FullEntity, as_json: bool) -> None:
    if as_json:
        print_json(asdict(found))
        return
    say(f"{found.kind.capitalize()} {found.id}: {found.title}")
    print_table(
        ("field", "value", "domains", "other values"),
        [
            (one.name, one.value, one.domains, "; ".join(str(other.value) for other in one.others))
            for one in found.fields
        ],
    )
    print_table(
        ("statement", "domain", "states", "price", "records", "page"),
        [
            (one.id, one.domain, one.title, _price(one.data), one.records, one.url)
            for one in found.members
        ],
    )
    for basis in found.bases:
        say(f"{basis.first} and {basis.second}: {basis.reason or basis.basis}")


def _price(data: dict[str, Any]) -> str:
    price = data.get("price")
    return "" if price is None else f"{price} {data.get('currency') or ''}".strip()
