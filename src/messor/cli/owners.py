"""`messor owners`: requests of site owners, and politeness reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args
from uuid import UUID

import click
import msgspec

from messor.cli.domain_session import name_of
from messor.cli.listing import list_options, show_list
from messor.cli.output import emit, json_flag, json_option, print_json, run
from messor.cli.session import transact, with_database
from messor.core.terminal import say
from messor.errors import UsageError
from messor.fetch.identity.message_signatures import from_base64url
from messor.fetch.proxies.seal import seal_for
from messor.fetch.txt_records import txt_records
from messor.governance import owners as requests
from messor.governance import politeness_report
from messor.governance.owner_queries import OWNER_REQUESTS
from messor.governance.owners import OwnerRequest, Wish
from messor.settings import Settings
from messor.store.database import Database

HEAD = ("id", "time", "domain", "wish", "state", "shown by", "contact", "outcome")
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def owners() -> None:
    """Handle requests of site owners: opt-out, erasure, politeness reports.

    \b
    Example:
      messor owners ask shop.example --wish erase --contact owner@shop.example
      messor owners check 0192...
      messor owners report shop.example -o report.json
    """


@owners.command("list")
@list_options(OWNER_REQUESTS)
def list_requests(**given: Any) -> None:
    """List requests, newest first.

    \b
    Example:
      messor owners list --state waiting
    """
    show_list(OWNER_REQUESTS, given, HEAD, _row, empty="No site owner has asked for anything.")


def _row(one: OwnerRequest) -> tuple[Any, ...]:
    return (
        one.id, one.asked_at, one.domain, one.wish, one.state, one.method, one.contact, one.outcome
    )  # fmt: skip


@owners.command()
@click.argument("domain")
@click.option("--wish", required=True, type=click.Choice(get_args(Wish)), help="What is asked for.")
@click.option("--contact", help="Where the owner can be reached.")
@json_option
def ask(domain: str, wish: str, contact: str | None, as_json: bool) -> None:
    """Note a request for a DOMAIN that came by mail, and say how its sender shows control.

    \b
    Example:
      messor owners ask shop.example --wish opt_out --contact owner@shop.example
    """
    made, token = run(
        transact(lambda it: requests.ask(it, domain, wish, contact=contact, source="mail"))
    )
    if as_json:
        print_json({"request": made, "token": token.reveal()})
        return
    emit(f"Request {made.id} for {made.domain}. Ask its sender for a TXT record:")
    emit(f"  {made.record_name}  {made.line}")
    say(f"Then: messor owners check {made.id}")


@owners.command()
@click.argument("request_id", type=click.UUID)
@click.option("--file", "by_file", is_flag=True, help="Have the site's file fetched instead.")
@json_option
def check(request_id: UUID, by_file: bool, as_json: bool) -> None:
    """Check the proof of a request; what was asked for is done if it holds.

    With --file, a worker fetches the file in the site's lane; `messor owners list` shows the result.

    \b
    Example:
      messor owners check 01920000-0000-7000-8000-000000000000
    """

    async def act(database: Database) -> OwnerRequest:
        found = await requests.get(database, request_id)
        if not by_file:
            return await requests.check_record(database, found, txt_records)
        async with database.transaction() as connection:
            await requests.check_file(connection, found)
        return found

    found = run(with_database(act))
    if as_json:
        print_json(found)
    else:
        say(found.outcome or "The file is fetched at the site's pace.")


@owners.command()
@click.argument("domain")
@click.option("--days", default=politeness_report.DAYS, help="Days that the report covers.")
@json_option
def report(domain: str, days: int, as_json: bool) -> None:  # noqa: ARG001 - it is JSON always
    """Write the signed politeness report of a DOMAIN, which its owner can check without us.

    How to check it: docs/identity.md.

    \b
    Example:
      messor owners report shop.example -o report.json
    """
    settings = Settings()
    name = name_of(domain)

    async def act(database: Database) -> dict[str, str]:
        return await politeness_report.signed(database, settings, seal_for(settings), name, days)

    print_json(run(with_database(act)))


@owners.command()
@click.argument("file", type=FILE)
@click.option("--keys", required=True, type=FILE, help="The key directory, as it is published.")
@json_flag
def verify(file: Path, keys: Path, as_json: bool) -> None:
    """Verify a signed politeness report against a key directory, without a database.

    \b
    Example:
      messor owners verify report.json --keys http-message-signatures-directory
    """
    try:
        known = msgspec.json.decode(keys.read_bytes())["keys"]
        public = {each["kid"]: from_base64url(each["x"]) for each in known}
    except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{keys} is not a key directory.") from error
    found = politeness_report.opened(file.read_bytes(), public)
    if as_json:
        print_json(found)
        return
    summary = found["summary"]
    emit(f"Valid: {found['domain']}, {summary['requests']} requests, {summary['early']} early.")
