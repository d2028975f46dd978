"""`messor domains url` and `messor domains import`: single URLs, and lists of domains."""

from __future__ import annotations

from dataclasses import asdict
from typing import TextIO

import click

from messor.cli.output import json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.errors import PartiallyRefusedError
from messor.governance import backfill, intake
from messor.governance.backfill import BackfillLine
from messor.governance.intake import SubmittedUrl
from messor.governance.notices import Notices
from messor.registry.submissions import Submitter
from messor.settings import Settings
from messor.store.database import Connection, Database


@click.command(name="url")
@click.argument("url")
@click.option("--submit", is_flag=True, help="Submit its domain for review if necessary.")
@click.option("--context", help="Why its domain should be crawled.")
@click.option("--vertical", help="Vertical that its domain is for.")
@json_option
def submit_url(
    url: str, *, submit: bool, context: str | None, vertical: str | None, as_json: bool
) -> None:
    """Submit a single URL; it is crawled as soon as its domain is approved.

    \b
    Example:
      messor domains url https://foodbank.org/services/housing
      messor domains url https://foodbank.org/services/housing --submit --context "Food bank"
    """

    async def act(connection: Connection) -> SubmittedUrl:
        submitter = Submitter(LOCAL_ADMIN)
        return await intake.submit_url(
            connection,
            url,
            submitter,
            context=context,
            vertical=vertical,
            submit=submit,
            look=False,
        )

    submitted = run(transact(act))
    say(submitted.message)
    if submitted.asks == "submit":
        say(f"To submit it: messor domains url {submitted.url} --submit")
    if as_json:
        print_json(asdict(submitted))


@click.command(name="import")
@click.argument("file", type=click.File(encoding="utf-8", errors="replace"))
@click.option("--no-crawl", is_flag=True, help="Approve them, but fetch requested pages only.")
@click.option("--vertical", help="Vertical of lines that name none themselves.")
@json_option
def import_domains(file: TextIO, no_crawl: bool, vertical: str | None, as_json: bool) -> None:
    """Import domains as approved: one per line, optionally with depth and context.

    A first line that starts with "domain" names the columns: domain, depth, context, vertical.
    Rejected, suspended and blacklisted domains are not changed. Use - for standard input.

    \b
    Example:
      messor domains import domains.csv
      echo "foodbank.org, 3, State food bank" | messor domains import - --no-crawl
    """
    told = Notices.of(Settings())

    async def act(database: Database) -> list[BackfillLine]:
        lines = backfill.approve_existing(
            database, file, Submitter(LOCAL_ADMIN), start=not no_crawl, vertical=vertical, told=told
        )
        return [line async for line in lines]

    lines = run(with_database(act))
    if as_json:
        print_json([asdict(line) for line in lines])
    elif lines:
        rows = [
            (line.number, line.domain or line.text, line.outcome, line.message) for line in lines
        ]
        print_table(("line", "domain", "result", "reason"), rows)
    counts = backfill.summary(lines)
    say(", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "No lines.")
    if counts.get("refused"):
        raise PartiallyRefusedError(f"{counts['refused']} of {len(lines)} lines were refused.")


COMMANDS = (submit_url, import_domains)
