"""`messor parsers compare`, `shadow`, `trials`, `promote`, `reject` and `roll-back`."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import UUID

import click

from messor.archive.storage import Archive
from messor.cli.comparison import print_comparison
from messor.cli.domain_session import domain_id_of
from messor.cli.listing import list_options, show_list
from messor.cli.output import end_line, json_option, print_json, print_table, progress_line, run
from messor.cli.session import LOCAL_ADMIN, transact
from messor.core.terminal import say
from messor.errors import NotFoundError, UsageError
from messor.extraction import shadow_trials, trial_queries
from messor.extraction.compare import compare_archive
from messor.extraction.trial_queries import TRIALS
from messor.parsers import trials
from messor.parsers.page_reading import installed_parsers
from messor.settings import Settings
from messor.store.database import Connection
from messor.store.session import open_session

RESTART = "If the parser was installed while workers were running, restart them: they load parsers at start."

DOMAIN = click.option("--domain", help="Only for pages of this domain; default: all domains.")


HEAD = (
    "trial", "parser", "version", "domain", "state", "pages", "agreement", "values lost", "gained",
)  # fmt: skip
MAX_PAGES = click.option(
    "--max-pages",
    default=1000,
    show_default=True,
    type=click.IntRange(1, 10_000_000),
    help="Maximum number of pages to compare.",
)


def parse_parser(parser: str) -> tuple[str, str]:
    """Split NAME=VERSION and check that this parser is installed."""
    name, _, version = parser.partition("=")
    if not version:
        raise UsageError(f"The version is missing; give {name}=VERSION.")
    installed_parsers().get(name, version)
    return name, version


@click.command()
@click.argument("parser")
@DOMAIN
@MAX_PAGES
@click.option("--processes", type=click.IntRange(1, 256), help="Number of reader processes.")
@json_option
def compare(
    parser: str, domain: str | None, max_pages: int, processes: int | None, as_json: bool
) -> None:
    """Compare a candidate, NAME=VERSION, with the current parsers on stored pages; nothing changes.

    \b
    Example:
      messor parsers compare products=2rc1 --domain shop.example
    """
    name, version = parse_parser(parser)
    found = run(_compare(name, version, domain, max_pages, processes))
    if as_json:
        print_json(found)
        return
    _print_trials([found])
    print_comparison(found["report"], candidate=parser)
    trial = found["id"]
    say(f"To decide: messor parsers promote {trial}, or messor parsers reject {trial}")


@click.command()
@click.argument("parser")
@DOMAIN
@MAX_PAGES
@json_option
def shadow(parser: str, domain: str | None, max_pages: int, as_json: bool) -> None:
    """Run a candidate, NAME=VERSION, on incoming pages beside the current parsers.

    Its results are compared with theirs and not stored as records. The trial ends after
    --max-pages pages, or when the candidate is promoted or rejected.

    \b
    Example:
      messor parsers shadow products=2rc1 --domain shop.example --max-pages 500
    """
    name, version = parse_parser(parser)

    async def act(connection: Connection) -> dict[str, Any]:
        domain_id = await domain_id_of(connection, domain)
        trial_id = await shadow_trials.begin(
            connection, name, version, domain_id=domain_id, most=max_pages, actor=LOCAL_ADMIN
        )
        return asdict(await trial_queries.get(connection, trial_id))

    found = run(transact(act))
    if as_json:
        print_json(found)
        return
    _print_trials([found])
    say(RESTART)
    say(f"Results: messor parsers trials. To decide: messor parsers promote {found['id']}")


@click.command(name="trials")
@list_options(TRIALS)
def list_trials(**given: Any) -> None:
    """List comparison and shadow trials, newest first.

    \b
    Example:
      messor parsers trials --state shadowing
    """
    empty = "No matching trials. Start one: messor parsers compare NAME=VERSION"
    show_list(TRIALS, given, HEAD, lambda one: _trial_row(asdict(one)), empty=empty)


def _decision_command(name: str, state: str, summary: str) -> click.Command:
    """Build a command that decides on a trial."""

    def command(trial: UUID, reason: str | None) -> None:
        decide = partial(trials.decide, actor=LOCAL_ADMIN, reason=reason)
        decided = run(transact(lambda connection: decide(connection, trial, state)))
        say(f"{decided} was {state.replace('_', ' ')}.")
        if state == "promoted":
            say(RESTART)

    command.__doc__ = f'{summary}\n\n\b\nExample:\n  messor parsers {name} TRIAL --reason "..."'
    option = click.option("--reason", help="Reason; stored with the decision.")
    return click.command(name=name)(click.argument("trial", type=click.UUID)(option(command)))


promote = _decision_command("promote", "promoted", "Use the candidate of a trial from now on.")
reject = _decision_command("reject", "rejected", "Reject the candidate of a trial.")
roll_back = _decision_command(
    "roll-back", "rolled_back", "Undo a promotion and return to the previous version."
)


def _print_trials(rows: list[dict[str, Any]]) -> None:
    print_table(HEAD, [_trial_row(row) for row in rows])


def _trial_row(row: dict[str, Any]) -> tuple[Any, ...]:
    fields = row["report"]["fields"].values()
    same, other, lost, gained = (
        sum(field[name] for field in fields) for name in ("same", "different", "lost", "gained")
    )
    agreement = f"{same / (same + other):.3f}" if same + other else None
    return (
        row["id"], row["parser"], row["version"], row["domain"] or "all", row["state"],
        _pages(row), agreement, lost, gained,
    )  # fmt: skip


def _pages(row: dict[str, Any]) -> str:
    return f"{row['pages']} of {row['most']}" if row["state"] == "shadowing" else str(row["pages"])


async def _compare(
    name: str, version: str, domain: str | None, max_pages: int, processes: int | None
) -> dict[str, Any]:
    settings = Settings()
    async with open_session(settings) as session:
        database = session.database
        domain_id = await domain_id_of(database, domain)
        report = await compare_archive(
            database,
            Archive.of(settings),
            processes=processes,
            domain_id=domain_id,
            kinds=frozenset(installed_parsers().get(name, version).kinds),
            pin=f"{name}={version}",
            most=max_pages,
            progress=progress_line(lambda pages: f"{pages} pages compared"),
        )
        end_line()
        if not report.looked_at:
            raise NotFoundError("There is nothing to compare: no page was extracted yet.")
        async with database.transaction() as connection:
            trial_id = await trials.add(
                connection, name, version, report.as_json(), domain_id=domain_id, actor=LOCAL_ADMIN
            )
            return asdict(await trial_queries.get(connection, trial_id))
