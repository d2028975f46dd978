"""`messor parsers`: installed parsers, pinned versions, health, and new parsers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from messor.archive.snapshot_content import read_body
from messor.archive.storage import Archive
from messor.cli.domain_session import domain_id_of
from messor.cli.output import json_option, print_json, print_table, run
from messor.cli.parser_trials import (
    DOMAIN,
    RESTART,
    compare,
    list_trials,
    parse_parser,
    promote,
    reject,
    roll_back,
    shadow,
)
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.errors import NotFoundError
from messor.extraction import parser_figures
from messor.extraction.parser_failures import Failing, failures
from messor.extraction.parser_figures import Version
from messor.extraction.repair import propose_repairs
from messor.parsers import Parser, pins
from messor.parsers.health import Health, health
from messor.parsers.page_reading import installed_parsers
from messor.parsers.page_text import text_of
from messor.parsers.pins import Pin
from messor.parsers.repairs import Proposal
from messor.parsers.scaffold import scaffold
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.store.session import open_session

HEAD = ("parser", "version", "in use", "kinds", "module")
PINS = ("parser", "version", "domain", "previous", "by", "since")
HEALTH = ("domain", "parser", "kind", "current", "lost", "confidence", "state")

# The domain's current page with the most content, product pages first.
SAMPLE = """
SELECT p.url, s.content_type, g.name, s.segment_offset, s.segment_length
  FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id
  JOIN messor.crawl_tasks t ON t.page_id = p.id JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  JOIN messor.segments g ON g.id = s.segment_id
  LEFT JOIN messor.extractions x ON x.page_id = p.id
 WHERE h.domain_id = $1 AND t.kind = 'page' AND ($2::bigint IS NULL OR s.id = $2)
 ORDER BY x.page_type = 'product' DESC NULLS LAST, x.records DESC NULLS LAST, s.size DESC LIMIT 1
"""


@click.group()
def parsers() -> None:
    """Show and select the parsers that extract records from pages.

    \b
    Example:
      messor parsers list
      messor parsers new shop.example
      messor parsers compare products=2rc1 --domain shop.example
    """


@parsers.command(name="list")
@json_option
def list_parsers(as_json: bool) -> None:
    """List installed parsers, in the order in which they are tried.

    \b
    Example:
      messor parsers list --json
    """
    pinned = run(with_database(pins.listing))
    known = list(installed_parsers())
    versions = parser_figures.versions(
        installed_parsers(), {pin.parser: pin.version for pin in pinned if pin.domain is None}
    )
    rows = [_describe(*each, pinned) for each in zip(known, versions, strict=True)]
    if as_json:
        print_json(rows)
    else:
        print_table(HEAD, [tuple(row.values()) for row in rows])


@parsers.command()
@click.argument("domain")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Target folder; default: messor-parser-DOMAIN.",
)
@click.option(
    "--snapshot",
    type=click.IntRange(1, 2**63 - 1),
    help="Snapshot used as test fixture; default: the page with the most content.",
)
def new(domain: str, folder: Path | None, snapshot: int | None) -> None:
    """Create a parser package for a domain, with a test on a crawled page.

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
        "It works like the generic parser until you change it. "
        f"Next: pip install -e {folder} && pytest {folder}"
    )


@parsers.command()
@click.argument("parser")
@DOMAIN
def pin(parser: str, domain: str | None) -> None:
    """Pin a parser to a version: NAME=VERSION.

    \b
    Example:
      messor parsers pin products=1 --domain shop.example
    """
    name, version = parse_parser(parser)

    async def act(connection: Connection) -> None:
        domain_id = await domain_id_of(connection, domain)
        await pins.pin(connection, name, version, domain_id=domain_id, actor=LOCAL_ADMIN)

    run(transact(act))
    say(f"{name} {version} is used from now on. To apply it to stored pages: messor replay")
    say(RESTART)


@parsers.command()
@click.argument("parser")
@DOMAIN
def unpin(parser: str, domain: str | None) -> None:
    """Remove a pin: return to the previously pinned version, or to the newest.

    \b
    Example:
      messor parsers unpin products --domain shop.example
    """

    async def act(connection: Connection) -> str | None:
        domain_id = await domain_id_of(connection, domain)
        return await pins.lift(connection, parser, domain_id=domain_id, actor=LOCAL_ADMIN)

    version = run(transact(act))
    say(f"{parser}: {version or 'the newest version'} is used from now on.")


@parsers.command(name="pins")
@json_option
def list_pins(as_json: bool) -> None:
    """List pinned versions.

    \b
    Example:
      messor parsers pins
    """
    found = run(with_database(pins.listing))
    if as_json:
        print_json(found)
        return
    print_table(
        PINS,
        [
            (n.parser, n.version, n.domain or "all", n.previous, n.pinned_by, n.pinned_at)
            for n in found
        ],
    )


@parsers.command(name="health")
@click.option(
    "--hours",
    default=24,
    show_default=True,
    type=click.IntRange(1, 8760),
    help="Time window in hours.",
)
@json_option
def show_health(hours: int, as_json: bool) -> None:
    """Show records that parsers find, records lost on pages that still exist, and parser errors.

    \b
    Example:
      messor parsers health --hours 48
    """

    async def read(database: Database) -> tuple[list[Health], list[Failing]]:
        return await health(database, hours=hours), await failures(database, hours=hours)

    found, failing = run(with_database(read))
    if as_json:
        print_json([{**asdict(each), "alarming": each.is_alarming} for each in found])
        return
    print_table(HEALTH, [_health_row(each) for each in found])
    for each in found:
        if each.is_alarming:
            say(
                f"{each.domain}: {each.parser} lost {each.lost} of its {each.noun}; check the site."
            )
    for one in failing:
        say(f"{one.domain}: {one.message} (see the table error_logs).")


@parsers.command()
@click.argument("domain")
@json_option
def repair(domain: str, as_json: bool) -> None:
    """Propose selectors for product fields of DOMAIN that its parser lost; nothing changes.

    Searches today's pages for the values that were extracted last. Copy the proposed lines into
    PLACES of a parser for the domain (messor parsers new DOMAIN).

    \b
    Example:
      messor parsers repair shop.example
    """
    found = run(_repair(Submission.understand(domain).domain))
    if as_json:
        print_json([{**asdict(each), "line": each.line} for each in found])
    elif not found:
        say(
            f"Nothing to propose: {domain} lost no product field, or its last values are on no page."
        )
    else:
        rows = [(each.field, f"{each.found} of {each.pages}", each.line) for each in found]
        print_table(("field", "pages", "line for PLACES"), rows)


def _describe(parser: Parser, one: Version, pinned: Sequence[Pin]) -> dict[str, Any]:
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
    confidence = None if each.sure is None else f"{each.sure:.2f}"
    state = "alarming" if each.is_alarming else "ok"
    return each.domain, each.parser, each.kind, each.held, each.lost, confidence, state


async def _sample(domain: str, snapshot: int | None) -> tuple[str, str]:
    settings = Settings()
    async with open_session(settings, pool_size=1) as session:
        found = await registry.get(session.database, domain)
        row = await session.database.fetchrow(SAMPLE, found.id, snapshot)
    if row is None and snapshot is not None:
        raise NotFoundError(
            f"Snapshot {snapshot} is not the current snapshot of a page of {domain}."
        )
    if row is None:
        raise NotFoundError(f"No page of {domain} is stored. Crawl it first: messor crawl {domain}")
    location = row["name"], row["segment_offset"], row["segment_length"]
    body = await asyncio.to_thread(read_body, Archive.of(settings), *location)
    return row["url"], text_of(body, row["content_type"])


async def _repair(domain: str) -> list[Proposal]:
    settings = Settings()
    async with open_session(settings, pool_size=1) as session:
        known = await registry.get(session.database, domain)
        return await propose_repairs(session.database, Archive.of(settings), known.id)


for _command in (compare, shadow, list_trials, promote, reject, roll_back):
    parsers.add_command(_command)
