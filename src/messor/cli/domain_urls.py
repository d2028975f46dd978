"""`messor domains url` and `messor domains import`: single URLs, and domains by the file."""

from __future__ import annotations

from dataclasses import asdict
from typing import TextIO

import click

from messor.cli.domain_session import LOCAL_ADMIN, transact, with_database
from messor.cli.output import json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import PartlyTakenError
from messor.governance import backfill, intake
from messor.governance.backfill import BackfillLine
from messor.governance.intake import SubmittedUrl
from messor.registry.submissions import Submitter
from messor.store.database import Connection, Database


@click.command(name="url")
@click.argument("url")
@click.option("--submit", is_flag=True, help="Submit its domain for review if that is needed.")
@click.option("--context", help="Why its domain should be harvested.")
@json_option
def submit_url(url: str, submit: bool, context: str | None, as_json: bool) -> None:
    """Submit a single URL: crawled now if its domain is approved, else remembered until it is.

    \b
    Example:
      messor domains url https://foodbank.org/services/housing
      messor domains url https://foodbank.org/services/housing --submit --context "Food bank"
    """

    async def act(connection: Connection) -> SubmittedUrl:
        asker = Submitter(LOCAL_ADMIN)
        return await intake.submit_url(
            connection, url, asker, context=context, submit=submit, look=False
        )

    answer = run(transact(act))
    say(answer.said)
    if answer.asks == "submit":
        say(f"Submit it: messor domains url {answer.url} --submit")
    if as_json:
        print_json(asdict(answer))


@click.command(name="import")
@click.argument("file", type=click.File(encoding="utf-8", errors="replace"))
@click.option("--no-crawl", is_flag=True, help="Approve them, but fetch only what is asked for.")
@json_option
def import_domains(file: TextIO, no_crawl: bool, as_json: bool) -> None:
    """Take existing domains over as approved: a domain per line, perhaps with depth and context.

    Domains that somebody decided against stay as they are. - is standard input.

    \b
    Example:
      messor domains import domains.csv
      echo "foodbank.org, 3, State food bank" | messor domains import - --no-crawl
    """

    async def act(database: Database) -> list[BackfillLine]:
        lines = backfill.approve_existing(database, file, actor=LOCAL_ADMIN, start=not no_crawl)
        return [line async for line in lines]

    lines = run(with_database(act))
    if as_json:
        print_json([asdict(line) for line in lines])
    elif lines:
        rows = [(line.number, line.domain or line.text, line.outcome, line.said) for line in lines]
        print_table(("line", "domain", "result", "because"), rows)
    counts = backfill.summary(lines)
    say(", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "No lines.")
    if counts.get("refused"):
        raise PartlyTakenError(f"{counts['refused']} of {len(lines)} lines were not taken over.")


COMMANDS = (submit_url, import_domains)
