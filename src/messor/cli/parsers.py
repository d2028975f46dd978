"""`messor parsers`: which parsers there are, new ones, and which version reads what."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from messor.archive.reading import read_body
from messor.cli.comparison import print_comparison
from messor.cli.domains import LOCAL_ADMIN
from messor.cli.output import json_option, print_json, print_table, run, say
from messor.cli.progress_line import end_line, progress_line
from messor.engine.comparing import compare_archive
from messor.engine.repairing import propose_repairs
from messor.errors import NotFoundError, UsageError
from messor.extract import parser_figures, pins, trials
from messor.extract.failures import Failing, failures
from messor.extract.health import Health, health
from messor.extract.parser_figures import Version
from messor.extract.parsers import Parser
from messor.extract.parsers.scaffold import scaffold
from messor.extract.pins import Pin
from messor.extract.reading import installed_parsers
from messor.extract.repairs import Proposal
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import open_session
from messor.web.encodings import decode

HEAD = ("parser", "version", "reads", "kinds", "from")
PINS = ("parser", "version", "where", "before", "by", "since")
HEALTH = ("domain", "parser", "kind", "held", "lost", "sure", "state")
TRIALS = (
    "trial", "parser", "version", "where", "state", "pages", "agreement", "values lost", "gained",
)  # fmt: skip

# The page of a domain that says most, of those that were seen and hold.
SAMPLE = """
SELECT p.url, s.content_type, g.name, s.segment_offset, s.segment_length
  FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id
  JOIN messor.crawl_tasks t ON t.page_id = p.id JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  JOIN messor.segments g ON g.id = s.segment_id
  LEFT JOIN messor.extractions x ON x.page_id = p.id
 WHERE h.domain_id = $1 AND t.kind = 'page' AND ($2::bigint IS NULL OR s.id = $2)
 ORDER BY x.page_type = 'product' DESC NULLS LAST, x.records DESC NULLS LAST, s.size DESC LIMIT 1
"""

RESTART = (
    "If it was installed while workers run, start them again: they know what was there before."
)

DOMAIN = click.option("--domain", help="Only for pages of this domain; otherwise everywhere.")


@click.group()
def parsers() -> None:
    """See and choose the parsers that make records of pages.

    \b
    Example:
      messor parsers list
      messor parsers new shop.example
      messor parsers compare products=2rc1 --domain shop.example
    """


@parsers.command(name="list")
@json_option
def list_parsers(as_json: bool) -> None:
    """List the parsers at hand, in the order in which they are asked.

    \b
    Example:
      messor parsers list --json
    """
    pinned = run(_with_database(pins.listing))
    known = list(installed_parsers())
    reading = parser_figures.versions(
        installed_parsers(), {pin.parser: pin.version for pin in pinned if pin.domain is None}
    )
    rows = [_described(*each, pinned) for each in zip(known, reading, strict=True)]
    if as_json:
        print_json(rows)
    else:
        print_table(HEAD, [tuple(row.values()) for row in rows])


@parsers.command()
@click.argument("domain")
@click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), help="Where to write it."
)
@click.option(
    "--snapshot",
    type=click.IntRange(1, 2**63 - 1),
    help="The snapshot its test is made of; otherwise that of the page that says most.",
)
def new(domain: str, folder: Path | None, snapshot: int | None) -> None:
    """Begin a parser for a domain: a package with a test on a page that was crawled.

    \b
    Example:
      messor parsers new shop.example --folder my-parser
      pip install -e my-parser && pytest my-parser
    """
    name = Submission.understand(domain).domain
    folder = folder or Path(f"messor-parser-{name.replace('.', '-')}")
    url, html = run(_sample(name, snapshot))
    for path in scaffold(folder, name, url, html):
        say(f"wrote {path}")
    say(
        f"It reads as the generic parser does. To go on: pip install -e {folder} && pytest {folder}"
    )


@parsers.command()
@click.argument("parser")
@DOMAIN
def pin(parser: str, domain: str | None) -> None:
    """Have one version read from now on: NAME=VERSION.

    \b
    Example:
      messor parsers pin products=1 --domain shop.example
    """
    name, version = _named(parser)
    run(_pin(name, version, domain))
    say(f"{name} {version} reads from now on. To read what is stored again: messor replay")
    say(RESTART)


@parsers.command()
@click.argument("parser")
@DOMAIN
def unpin(parser: str, domain: str | None) -> None:
    """Go back to the version that was pinned before, or to the newest.

    \b
    Example:
      messor parsers unpin products --domain shop.example
    """
    version = run(_unpin(parser, domain))
    say(f"{parser}: {version or 'the newest version'} reads from now on.")


@parsers.command(name="pins")
@json_option
def list_pins(as_json: bool) -> None:
    """List pinned versions.

    \b
    Example:
      messor parsers pins
    """
    found = run(_with_database(pins.listing))
    if as_json:
        print_json(found)
        return
    print_table(
        PINS,
        [
            (n.parser, n.version, n.domain or "everywhere", n.previous, n.pinned_by, n.pinned_at)
            for n in found
        ],
    )


@parsers.command(name="health")
@click.option("--hours", default=24, show_default=True, type=click.IntRange(1, 8760))
@json_option
def show_health(hours: int, as_json: bool) -> None:
    """Show what parsers still find, what they lost on pages that are still there, and where they fail.

    \b
    Example:
      messor parsers health --hours 48
    """
    found, failing = run(_health(hours))
    if as_json:
        print_json([{**asdict(each), "alarming": each.is_alarming} for each in found])
        return
    print_table(HEALTH, [_health_row(each) for each in found])
    for each in found:
        if each.is_alarming:
            say(
                f"{each.domain}: {each.parser} lost {each.lost} of its {each.kind} records; look there."
            )
    for one in failing:
        say(f"{one.domain}: {one.said} (see error_logs).")


@parsers.command()
@click.argument("domain")
@json_option
def repair(domain: str, as_json: bool) -> None:
    """Propose where products of DOMAIN stand now that its parser lost; nothing changes.

    The values that were read last are looked for on the pages as they are today. What is proposed
    belongs into PLACES of a parser of the domain's own (messor parsers new DOMAIN).

    \b
    Example:
      messor parsers repair shop.example
    """
    found = run(_repair(Submission.understand(domain).domain))
    if as_json:
        print_json([{**asdict(each), "line": each.line} for each in found])
    elif not found:
        say(f"Nothing to propose: no product of {domain} was lost, or its values stand nowhere.")
    else:
        rows = [(each.field, f"{each.found} of {each.pages}", each.line) for each in found]
        print_table(("field", "pages", "line for PLACES"), rows)


@parsers.command()
@click.argument("parser")
@DOMAIN
@click.option(
    "--most",
    default=1000,
    show_default=True,
    type=click.IntRange(1, 10_000_000),
    help="Pages to compare at most.",
)
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
    name, version = _named(parser)
    found = run(_compare(name, version, domain, most, processes))
    if as_json:
        print_json(found)
        return
    _print_trials([found])
    print_comparison(found["report"], candidate=parser)
    say(f"To decide: messor parsers promote {found['id']}, or reject it.")


@parsers.command(name="trials")
@json_option
def list_trials(as_json: bool) -> None:
    """List candidates that were compared, the newest first.

    \b
    Example:
      messor parsers trials
    """
    found = run(_with_database(trials.listing))
    if as_json:
        print_json(found)
    else:
        _print_trials(found)


def _deciding(name: str, state: str, words: str) -> None:
    """A command by which a person decides on a trial."""

    def command(trial: UUID, reason: str | None) -> None:
        decided = run(_decide(trial, state, reason))
        say(f"{decided} was {state.replace('_', ' ')}.")
        if state == "promoted":
            say(RESTART)

    command.__doc__ = f'{words}\n\n\b\nExample:\n  messor parsers {name} TRIAL --reason "..."'
    option = click.option("--reason", help="Why, for the record.")
    parsers.command(name=name)(click.argument("trial", type=click.UUID)(option(command)))


_deciding("promote", "promoted", "Have a compared candidate read from now on.")
_deciding("reject", "rejected", "Have nothing more to do with a compared candidate.")
_deciding("roll-back", "rolled_back", "Undo a promotion: what read before reads again.")


def _described(parser: Parser, one: Version, pinned: Sequence[Pin]) -> dict[str, Any]:
    where = [
        pin.domain
        for pin in pinned
        if pin.domain is not None and (pin.parser, pin.version) == (one.name, one.version)
    ]
    if one.reads:
        state = "yes"
    elif where:
        state = where[0] if len(where) == 1 else f"{len(where)} domains"
    else:
        state = "candidate" if one.is_candidate else "no"
    return {
        "parser": one.name,
        "version": one.version,
        "reads": state,
        "kinds": ", ".join(one.kinds),
        "from": type(parser).__module__,
    }


def _health_row(each: Health) -> tuple[Any, ...]:
    sure = None if each.sure is None else f"{each.sure:.2f}"
    state = "alarming" if each.is_alarming else "fine"
    return each.domain, each.parser, each.kind, each.held, each.lost, sure, state


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
        row["pages"], agreement, lost, gained,
    )  # fmt: skip


def _named(parser: str) -> tuple[str, str]:
    name, _, version = parser.partition("=")
    if not version:
        raise UsageError(f"Name a version as well: {name}=VERSION.")
    installed_parsers().get(name, version)
    return name, version


async def _sample(domain: str, snapshot: int | None) -> tuple[str, str]:
    settings = Settings()
    async with open_session(settings, pool_size=1) as session:
        found = await registry.get(session.database, domain)
        row = await session.database.fetchrow(SAMPLE, found.id, snapshot)
    if row is None and snapshot is not None:
        raise NotFoundError(f"There is no snapshot {snapshot} that a page of {domain} shows now.")
    if row is None:
        raise NotFoundError(f"No page of {domain} is stored: crawl it first.")
    place = row["name"], row["segment_offset"], row["segment_length"]
    body = await asyncio.to_thread(read_body, settings.data_dir / "archive", *place)
    return row["url"], decode(body, row["content_type"])[0]


async def _pin(name: str, version: str, domain: str | None) -> None:
    async with open_session(Settings(), pool_size=1) as session:
        domain_id = await _domain_id(session.database, domain)
        async with session.database.transaction() as connection:
            await pins.pin(connection, name, version, domain_id=domain_id, actor=LOCAL_ADMIN)


async def _unpin(name: str, domain: str | None) -> str | None:
    async with open_session(Settings(), pool_size=1) as session:
        domain_id = await _domain_id(session.database, domain)
        async with session.database.transaction() as connection:
            return await pins.lift(connection, name, domain_id=domain_id, actor=LOCAL_ADMIN)


async def _health(hours: int) -> tuple[list[Health], list[Failing]]:
    async with open_session(Settings(), pool_size=1) as session:
        database = session.database
        return await health(database, hours=hours), await failures(database, hours=hours)


async def _repair(domain: str) -> list[Proposal]:
    settings = Settings()
    async with open_session(settings, pool_size=1) as session:
        known = await registry.get(session.database, domain)
        return await propose_repairs(session.database, settings.data_dir / "archive", known.id)


async def _compare(
    name: str, version: str, domain: str | None, most: int, processes: int | None
) -> dict[str, Any]:
    settings = Settings()
    async with open_session(settings) as session:
        database = session.database
        domain_id = await _domain_id(database, domain)
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


async def _with_database(look: Any) -> Any:
    async with open_session(Settings(), pool_size=1) as session:
        return await look(session.database)


async def _domain_id(database: Database, domain: str | None) -> UUID | None:
    if domain is None:
        return None
    return (await registry.get(database, Submission.understand(domain).domain)).id
