"""`messor corrections`: correct field values of records, and learn rankings from that."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from messor.archive.storage import Archive
from messor.cli.listing import list_options, show_list
from messor.cli.output import json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.errors import UsageError
from messor.extraction.learn_corrections import Taught, teach
from messor.records import corrections as store
from messor.records import rankings as rankings_store
from messor.records.correction_queries import CORRECTIONS, Correction
from messor.records.rankings import measured_as_json
from messor.settings import Settings
from messor.store.database import Connection
from messor.store.session import open_session


@click.group()
def corrections() -> None:
    """Correct extracted values and let parsers learn from the corrections.

    \b
    Example:
      messor corrections add 4711 price 19.90
      messor corrections learn
      messor corrections use 3
    """


@corrections.command()
@click.argument("record", type=click.IntRange(1))
@click.argument("field")
@click.argument("value", required=False)
@click.option("--confirm", is_flag=True, help="Confirm that the page's own value is correct.")
@click.option("--none", "is_none", is_flag=True, help="The page does not state the field.")
@click.option("--reason", help="Reason, shown beside the value.")
@json_option
def add(
    record: int,
    field: str,
    value: str | None,
    *,
    confirm: bool,
    is_none: bool,
    reason: str | None,
    as_json: bool,
) -> None:
    """Correct or confirm FIELD of a RECORD.

    The value takes effect at once in records, products, lists and exports, and holds until the
    page itself changes. Enter it as written on the page, or as JSON.

    \b
    Example:
      messor corrections add 4711 price 19.90 --reason "the page shows the price without tax"
      messor corrections add 4711 brand --confirm
      messor corrections add 4711 sku --none
    """
    if (value is not None) + confirm + is_none != 1:
        raise UsageError("Give exactly one of VALUE, --confirm and --none.")

    async def act(connection: Connection) -> Correction:
        if confirm:
            return await store.confirm(connection, record, field, actor=LOCAL_ADMIN, reason=reason)
        return await store.correct(
            connection, record, field, value, actor=LOCAL_ADMIN, reason=reason
        )

    made = run(transact(act))
    if as_json:
        print_json(asdict(made))
    elif made.state == "lesson":
        say(f"Confirmed: {field} of record {record} is {made.correct}, as the page states.")
    else:
        correct = made.correct or "not stated on the page"
        say(f"Correction {made.id} is in force: {field} of record {record} is {correct}.")


@corrections.command()
@click.argument("correction", type=click.IntRange(1))
@json_option
def withdraw(correction: int, as_json: bool) -> None:
    """Withdraw a CORRECTION in force; the page's own value applies again.

    \b
    Example:
      messor corrections withdraw 12
    """
    made = run(
        transact(lambda connection: store.withdraw(connection, correction, actor=LOCAL_ADMIN))
    )
    if as_json:
        print_json(asdict(made))
    else:
        own = "not stated" if made.found is None else made.found
        say(f"Withdrawn: {made.field} of record {made.record_id} is {own} again.")


@corrections.command("list")
@list_options(CORRECTIONS)
def list_(**given: Any) -> None:
    """List corrections, newest first.

    \b
    Example:
      messor corrections list --state in_force
      messor corrections list --record-id 4711
    """
    show_list(
        CORRECTIONS,
        given,
        ("id", "record", "domain", "field", "page states", "correct", "state", "by", "reason"),
        lambda one: (
            one.id, one.record_id, one.domain, one.field, one.found, one.correct, one.state,
            one.corrected_by, one.reason,
        ),
        empty="No corrections match. Add one: messor corrections add RECORD FIELD VALUE",
    )  # fmt: skip


@corrections.command()
@json_option
def learn(as_json: bool) -> None:
    """Learn a ranking of candidate values from all corrections, and measure it.

    The ranking is saved but not activated: `messor corrections use` activates it.

    \b
    Example:
      messor corrections learn --json
    """
    taught = run(_learn())
    if as_json:
        print_json(_as_json(taught))
        return
    if taught.version is None:
        say(
            f"{taught.lessons} corrections are too few to learn from: a field needs 20 of them from "
            "4 domains, on pages that offer more than one value."
        )
        return
    _print_measured({one.name: measured_as_json(one) for one in taught.learnt})
    say(f"Ranking {taught.version} was saved. Activate it: messor corrections use {taught.version}")


@corrections.command()
@json_option
def rankings(as_json: bool) -> None:
    """List learnt rankings, newest first, and mark the active one.

    \b
    Example:
      messor corrections rankings
    """
    found = run(with_database(rankings_store.versions))
    if as_json:
        print_json(found)
        return
    if not found:
        say("No rankings yet. Learn one: messor corrections learn")
    for one in found:
        say(f"Ranking {one['version']}{', active' if one['in_force'] else ''}")
        _print_measured(one["measured"])


@corrections.command()
@click.argument("version", metavar="VERSION|default")
@json_option
def use(version: str, as_json: bool) -> None:
    """Activate a learnt ranking, or `default` for the built-in order.

    It applies to pages extracted from now on; `messor replay` applies it to earlier ones.

    \b
    Example:
      messor corrections use 3
      messor corrections use default
    """
    if version != "default" and not version.isdecimal():
        raise UsageError(f"{version[:40]!r} is not a version; give a number or `default`.")
    number = None if version == "default" else int(version)
    run(transact(lambda connection: rankings_store.use(connection, number, actor=LOCAL_ADMIN)))
    if as_json:
        print_json({"in_force": number})
    else:
        say(f"Active: {'the default order' if number is None else f'ranking {number}'}.")


def _print_measured(measured: dict[str, Any]) -> None:
    rows = [
        (name, one["examples"], one["domains"], f"{one['usual']:.1%}", f"{one['learnt']:.1%}",
         "yes" if one["better"] else "no")
        for name, one in measured.items()
    ]  # fmt: skip
    print_table(("field", "examples", "domains", "default", "learnt", "better"), rows)


def _as_json(taught: Taught) -> dict[str, Any]:
    measured = {one.name: measured_as_json(one) for one in taught.learnt}
    return {
        "lessons": taught.lessons,
        "unreadable": taught.unreadable,
        "not_offered": taught.not_offered,
        "version": taught.version,
        "measured": measured,
    }


async def _learn() -> Taught:
    settings = Settings()
    async with open_session(settings, pool_size=1) as session:
        return await teach(
            session.database,
            Archive.of(settings),
            actor=LOCAL_ADMIN,
            progress=lambda done, all_: (
                say(f"{done} of {all_} pages read.") if done % 100 == 0 or done == all_ else None
            ),
        )
