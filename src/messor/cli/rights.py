"""`messor rights`: what sites say about use, what domains are approved for, permissions on file."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

import click

from messor.cli.domain_session import name_of
from messor.cli.listing import list_options, show_list
from messor.cli.output import emit, json_option, print_item, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.errors import UsageError
from messor.explain import rights as explained
from messor.explain.rights import DomainRights, PageRights
from messor.registry import domains as registry
from messor.rights import permissions as on_file
from messor.rights import report as reports
from messor.rights import uses as approved
from messor.rights.decide import SENTENCES
from messor.rights.permissions import Basis, NewPermission, Permission
from messor.rights.queries import HELD, PERMISSIONS, Held
from messor.rights.report import UseReport
from messor.rights.uses import MEANINGS, USE_NAMES, ApprovedUse
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.store.session import open_session

MAX_TEXT = 80
HELD_HEAD = ("time", "domain", "way", "use", "items", "why", "said by", "such as")
PERMISSION_HEAD = ("id", "domain", "use", "basis", "in force", "until", "reason")
REPORT_HEAD = ("use", "approved", "pages", "may leave", "by permission", "by statement",
               "by silence", "refused", "licence", "unclear", "not approved")  # fmt: skip
USES = click.Choice(USE_NAMES)


class ShowByDefault(click.Group):
    """Takes a URL or domain in the place of a subcommand, as `messor rights example.org`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and "." in args[0]:
            return "show", self.commands["show"], args
        return super().resolve_command(ctx, args)


@click.group(cls=ShowByDefault)
def rights() -> None:
    """Show what a site says about use; what domains are approved for; permissions on file.

    \b
    Example:
      messor rights https://example.org/news/
      messor rights report example.org
      messor rights held --since 7d
    """


@rights.command()
@click.argument("target", metavar="URL|DOMAIN")
@json_option
def show(target: str, as_json: bool) -> None:
    """Show what a site says about search, AI input, AI training, text mining and archiving.

    For a URL: each use, and the robots.txt line, header or element that decides it. For a domain:
    all statements, with the number of pages each was found on. Nothing is fetched.

    \b
    Example:
      messor rights https://example.org/news/
      messor rights show example.org --json
    """
    found = run(_rights(target))
    if as_json:
        print_json(found)
    elif isinstance(found, PageRights):
        _print_page(found)
    else:
        _print_domain(found)


async def _rights(target: str) -> PageRights | DomainRights:
    settings = Settings()
    async with open_session(settings, pool_size=1) as session:
        if "/" in target:
            return await explained.of_url(session.database, settings, target)
        return await explained.of_domain(session.database, target)


def _print_page(found: PageRights) -> None:
    when = f"fetched {found.fetched_at:%Y-%m-%d}" if found.fetched_at else "not fetched yet"
    emit(f"{found.url} ({when})")
    rows: list[tuple[Any, ...]] = [
        (one.use.value, one.answer.value if one.answer else "not stated",
         one.by.place if one.by else None, one.by.text[:MAX_TEXT] if one.by else None)
        for one in found.uses
    ]  # fmt: skip
    print_table(("use", "answer", "said by", "text"), rows)


def _print_domain(found: DomainRights) -> None:
    if not found.statements:
        say(f"{found.domain} says nothing about use on its {found.pages} fetched pages.")
        return
    print_table(
        ("use", "answer", "pages", "said by", "text", "such as"),
        [
            (one.use, one.answer, one.pages, one.place, one.text[:MAX_TEXT], one.example)
            for one in found.statements
        ],
    )
    say(
        f"Of {found.pages} fetched pages; robots.txt statements are those in force at the time of the fetch."
    )


@rights.command()
@click.argument("domain")
@click.option("--use", "names", multiple=True, type=USES, help="An approved use; repeatable.")
@click.option("--none", "clear", is_flag=True, help="Name no uses any more.")
@json_option
def uses(domain: str, names: tuple[str, ...], *, clear: bool, as_json: bool) -> None:
    """Show or set what a DOMAIN's content may be used for.

    Whoever takes content out without declaring a use is bound to these. A domain that names none
    counts as approved for text and data mining.

    \b
    Example:
      messor rights uses shop.example
      messor rights uses shop.example --use price-monitoring --use ai-input
    """
    if clear and names:
        raise UsageError("--none cannot be combined with --use.")

    async def act(connection: Connection) -> tuple[str, tuple[ApprovedUse, ...]]:
        found = await registry.lock(connection, name_of(domain))
        if clear or names:
            given = approved.parsed(names)
            await approved.name_uses(connection, found.id, given, actor=LOCAL_ADMIN)
        return found.domain, await approved.of_domain(connection, found.id)

    name, named = run(transact(act))
    if as_json:
        print_json({"domain": name, "uses": named})
    elif named:
        print_table(("use", "meaning"), [(use.value, MEANINGS[use]) for use in named])
    else:
        say(f"The approval of {name} names no uses: it counts as text and data mining.")


@rights.command()
@list_options(HELD)
def held(**given: Any) -> None:
    """List what was held back on its way out, and the statement that did it.

    \b
    Example:
      messor rights held --domain example.org --since 7d
    """
    show_list(HELD, given, HELD_HEAD, _held_row, empty="Nothing was held back.")


def _held_row(one: Held) -> tuple[Any, ...]:
    return (
        one.refused_at, one.domain, one.purpose, one.use, one.items, SENTENCES[one.reason],
        one.place, one.example,
    )  # fmt: skip


@rights.command()
@click.argument("domain")
@json_option
def report(domain: str, as_json: bool) -> None:
    """Show for each use how many pages of a DOMAIN may leave, and what that rests on.

    What rests on silence would be lost if the site refused that use tomorrow.

    \b
    Example:
      messor rights report example.org
    """

    async def read(database: Database) -> list[UseReport]:
        found = await registry.get(database, name_of(domain))
        return await reports.of_domain_pages(database, found)

    found = run(with_database(read))
    if as_json:
        print_json([asdict(one) for one in found])
    else:
        print_table(REPORT_HEAD, [tuple(asdict(one).values()) for one in found])


@rights.command()
@list_options(PERMISSIONS)
def permissions(**given: Any) -> None:
    """List permissions on file.

    \b
    Example:
      messor rights permissions --domain example.org --in-force
    """
    show_list(
        PERMISSIONS, given, PERMISSION_HEAD, _permission_row, empty="No permission is on file."
    )


def _permission_row(one: Permission) -> tuple[Any, ...]:
    return (
        one.id, one.domain, one.use, one.basis, one.is_in_force, one.expires_on, one.reason,
    )  # fmt: skip


@rights.command()
@click.argument("domain")
@click.argument("use", type=USES)
@click.option(
    "--basis", type=click.Choice(get_args(Basis)), required=True, help="What it rests on."
)
@click.option("--reason", required=True, help="Who permitted it, when and how; stored.")
@click.option("--document", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="The permission itself, such as a letter; at most 5 MB.")  # fmt: skip
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="Last day on which it counts.")
@json_option
def permit(domain: str, use: str, as_json: bool, **given: Any) -> None:
    """Put on file that a USE of a DOMAIN's content is permitted, whatever the site says to everybody.

    \b
    Example:
      messor rights permit news.example ai-train --basis contract --reason "Contract 17 of 2026-03-01" --document contract.pdf
    """
    path: Path | None = given["document"]
    expires: datetime | None = given["expires"]
    wanted = NewPermission(
        ApprovedUse(use),
        given["basis"],
        given["reason"],
        path.name if path else None,
        path.read_bytes() if path else None,
        expires.date() if expires else None,
    )

    async def act(connection: Connection) -> Permission:
        found = await registry.lock(connection, name_of(domain))
        return await on_file.grant(connection, found.id, wanted, actor=LOCAL_ADMIN)

    _tell(run(transact(act)), as_json=as_json)


@rights.command()
@click.argument("permission_id", type=click.UUID)
@json_option
def revoke(permission_id: UUID, as_json: bool) -> None:
    """Revoke a permission; from now on the site's statements count again.

    \b
    Example:
      messor rights revoke 0199…
    """

    async def act(connection: Connection) -> Permission:
        found = await on_file.get(connection, permission_id)
        return await on_file.revoke(connection, found, actor=LOCAL_ADMIN)

    _tell(run(transact(act)), as_json=as_json)


def _tell(one: Permission, *, as_json: bool) -> None:
    print_item(one, as_json, PERMISSION_HEAD, _permission_row)
    state = "is permitted" if one.is_in_force else "is no longer permitted"
    say(f"{one.use} of {one.domain} {state}.")
