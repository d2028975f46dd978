"""`messor parsers compare` and what follows: candidates that are compared, and people's decisions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import click

from messor.cli.comparison import print_comparison
from messor.cli.domains import LOCAL_ADMIN
from messor.cli.output import json_option, print_json, print_table, run
from messor.cli.parser_choice import DOMAIN, RESTART, domain_id_of, named, with_database
from messor.cli.progress_line import end_line, progress_line
from messor.core.terminal import say
from messor.errors import NotFoundError
from messor.extraction import shadow_trials
from messor.extraction.compare import compare_archive
from messor.parsers import trials
from messor.parsers.page_reading import installed_parsers
from messor.settings import Settings
from messor.store.session import open_session

TRIALS = (
    "trial", "parser", "version", "where", "state", "pages", "agreement", "values lost", "gained",
)  # fmt: skip
MOST = click.option(
    "--most",
    default=1000,
    show_default=True,
    type=click.IntRange(1, 10_000_000),
    help="Pages to compare at most.",
)


@click.command()
@click.argument("parser")
@DOMAIN
@MOST
@click.option("--processes", type=click.IntRange(1, 256), help="Reading processes.")
@json_option
def compare(
    parser: str, domain: str | None, most: int, processes: int | None, as_json: bool
) -> None:
    """Read stored pages with a candidate, NAME=VERSION, and compare; nothing changes.

    \b
    Example:
      messor parsers compare products=2rc1 --domain shop.example
    """
    name, version = named(parser)
    found = run(_compare(name, version, domain, most, processes))
    if as_json:
        print_json(found)
        return
    _print_trials([found])
    print_comparison(found["report"], candidate=parser)
    say(f"To decide: messor parsers promote {found['id']}, or reject it.")


@click.command()
@click.argument("parser")
@DOMAIN
@MOST
@json_option
def shadow(parser: str, domain: str | None, most: int, as_json: bool) -> None:
    """Have a candidate, NAME=VERSION, read pages as they come in; nothing changes.

    It reads each page right after the parsers in use, and is compared with them. Everywhere or on a
    domain, until it has read --most pages or is promoted or rejected.

    \b
    Example:
      messor parsers shadow products=2rc1 --domain shop.example --most 500
    """
    name, version = named(parser)
    found = run(_shadow(name, version, domain, most))
    if as_json:
        print_json(found)
        return
    _print_trials([found])
    say(RESTART)
    say(f"How it fares: messor parsers trials. To decide: messor parsers promote {found['id']}.")


@click.command(name="trials")
@json_option
def list_trials(as_json: bool) -> None:
    """List candidates that were compared, or shadow what reads, the newest first.

    \b
    Example:
      messor parsers trials
    """
    found = run(with_database(trials.listing))
    if as_json:
        print_json(found)
    else:
        _print_trials(found)


def _deciding(name: str, state: str, words: str) -> click.Command:
    """A command by which a person decides on a trial."""

    def command(trial: UUID, reason: str | None) -> None:
        decided = run(_decide(trial, state, reason))
        say(f"{decided} was {state.replace('_', ' ')}.")
        if state == "promoted":
            say(RESTART)

    command.__doc__ = f'{words}\n\n\b\nExample:\n  messor parsers {name} TRIAL --reason "..."'
    option = click.option("--reason", help="Why, for the record.")
    return click.command(name=name)(click.argument("trial", type=click.UUID)(option(command)))


promote = _deciding("promote", "promoted", "Have a candidate of a trial read from now on.")
reject = _deciding("reject", "rejected", "Have nothing more to do with a candidate.")
roll_back = _deciding("roll-back", "rolled_back", "Undo a promotion: what read before reads again.")


def _print_trials(rows: list[dict[str, Any]]) -> None:
    print_table(TRIALS, [_trial_row(row) for row in rows])


def _trial_row(row: dict[str, Any]) -> tuple[Any, ...]:
    fields = row["report"]["fields"].values()
    same, other, lost, gained = (
        sum(field[name] for field in fields) for name in ("same", "different", "lost", "gained")
    )
    agreement = f"{same / (same + other):.3f}" if same + other else None
    return (
        row["id"], row["parser"], row["version"], row["domain"] or "everywhere", row["state"],
        _pages(row), agreement, lost, gained,
    )  # fmt: skip


def _pages(row: dict[str, Any]) -> str:
    return f"{row['pages']} of {row['most']}" if row["state"] == "shadowing" else str(row["pages"])


async def _shadow(name: str, version: str, domain: str | None, most: int) -> dict[str, Any]:
    async with open_session(Settings(), pool_size=1) as session:
        domain_id = await domain_id_of(session.database, domain)
        async with session.database.transaction() as connection:
            await shadow_trials.begin(
                connection, name, version, domain_id=domain_id, most=most, actor=LOCAL_ADMIN
            )
            return (await trials.listing(connection, 1))[0]


async def _compare(
    name: str, version: str, domain: str | None, most: int, processes: int | None
) -> dict[str, Any]:
    settings = Settings()
    async with open_session(settings) as session:
        database = session.database
        domain_id = await domain_id_of(database, domain)
        report = await compare_archive(
            database,
            settings.data_dir / "archive",
            processes=processes,
            domain_id=domain_id,
            kinds=frozenset(installed_parsers().get(name, version).kinds),
            pin=f"{name}={version}",
            most=most,
            progress=progress_line(lambda pages: f"{pages} pages compared"),
        )
        end_line()
        if not report.looked_at:
            raise NotFoundError("There is nothing to compare: no page there was extracted yet.")
        async with database.transaction() as connection:
            await trials.add(
                connection, name, version, report.as_json(), domain_id=domain_id, actor=LOCAL_ADMIN
            )
            return (await trials.listing(connection, 1))[0]


async def _decide(trial: UUID, state: str, reason: str | None) -> str:
    async with (
        open_session(Settings(), pool_size=1) as session,
        session.database.transaction() as connection,
    ):
        return await trials.decide(connection, trial, state, actor=LOCAL_ADMIN, reason=reason)
