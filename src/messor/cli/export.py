"""`messor export`: files of every noun, with the filters of its list; a repeated command continues."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from messor.cli.configuration import config
from messor.cli.listing import filter_options, filters_of, list_options, show_list
from messor.cli.output import end_line, json_option, print_json, progress_line, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.cli.standing_exports import standing
from messor.core.plurals import counted
from messor.core.terminal import say
from messor.errors import UsageError
from messor.exports import queries, requests
from messor.exports import run as running
from messor.exports.formats import FORMATS, format_by_suffix
from messor.exports.nouns import NOUNS, Noun
from messor.exports.queries import EXPORTS, Export
from messor.exports.requests import NewExport
from messor.rights.uses import USE_NAMES, parsed
from messor.settings import Settings
from messor.store.database import Database

HEAD = ("id", "what", "format", "state", "rows", "requested by", "created", "file")


@click.group()
def export() -> None:
    """Export whole lists to files.

    The suffix of the file gives the format. A command that was interrupted continues where it
    stopped when it is repeated.

    \b
    Example:
      messor export products -o products.parquet
      messor export records -o events.jsonl --kind event --domain example.org
      messor export prices -o new.csv --since 0191d5c0-7b2e-7000-8000-000000000000
    """


def _command(noun: Noun) -> click.Command:
    def act(**given: Any) -> None:
        _export(noun, given)

    act.__doc__ = f"""Export {noun.about}.

    \b
    Example:
      messor export {noun.name} -o {noun.name}.csv
      messor export {noun.name} -o {noun.name}.parquet --since 7d
    """
    decorated: Callable[..., None] = act
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    decorated = filter_options(noun.listing, without=("since", "with_audit"))(decorated)
    return click.command(name=noun.name)(decorated)


_OPTIONS = (
    click.option("-o", "--output", "target", required=True, metavar="FILE",
                 type=click.Path(dir_okay=False, path_type=Path), help="File to write."),
    click.option("--format", "format_", type=click.Choice(tuple(FORMATS)),
                 help="Format; by default the file's suffix."),
    click.option("--columns", metavar="NAMES", help="Columns, comma-separated; default: all."),
    click.option("--bom", is_flag=True, help="Start a CSV file with a byte order mark, for Excel."),
    click.option("--since", metavar="EXPORT|TIME",
                 help="Only what changed since an export or a time such as 2026-11-01 or 7d."),
    click.option("--use", "uses", multiple=True, type=click.Choice(USE_NAMES),
                 help="What it is for; repeatable. Default: what each domain is approved for."),
    click.option("--restart", is_flag=True, help="Do not continue an interrupted export."),
    click.option("--json", "as_json", is_flag=True, help="Print the finished export as JSON."),
)  # fmt: skip


def _export(noun: Noun, given: dict[str, Any]) -> None:
    as_json, restart = given.pop("as_json"), given.pop("restart")
    wanted = _wanted(noun, given)
    wanted.checked()
    done = run(with_database(lambda database: perform(database, wanted, restart=restart)))
    if as_json:
        print_json(done)
        return
    say(
        f"{done.rows:,} rows were written to {done.target}. What changes from now on: "
        f"messor export {noun.name} --since {done.id} -o FILE"
    )


def _wanted(noun: Noun, given: dict[str, Any]) -> NewExport:
    target: Path = given.pop("target").absolute()
    _require_folder(target)
    format_, columns = given.pop("format_"), given.pop("columns")
    bom, since, uses = given.pop("bom"), given.pop("since"), parsed(given.pop("uses"))
    audit = {"with_audit": True} if "with_audit" in noun.listing.filters.model_fields else {}
    filters = filters_of(noun.listing, {**given, **audit})
    return NewExport(
        noun.name,
        format_ or format_by_suffix(target).name,
        filters.model_dump(mode="json", exclude_none=True),
        tuple(name.strip() for name in columns.split(",")) if columns else (),
        bom,
        since,
        target,
        uses=uses,
    )


def records_of(domain: str, target: Path) -> NewExport:
    """An export of a domain's records to a file that can be written."""
    _require_folder(target)
    wanted = NewExport("records", format_by_suffix(target).name, {"domain": domain}, target=target)
    wanted.checked()
    return wanted


def _require_folder(target: Path) -> None:
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"{target.parent} is not a folder that can be written to.")


async def perform(database: Database, wanted: NewExport, *, restart: bool) -> Export:
    """Export to a file, continuing an interrupted export of the same unless `restart` is given.

    Says how many pages were held back.
    """
    begun = None if restart else await requests.unfinished(database, wanted)
    if begun is None:
        async with database.transaction() as connection:
            begun = await requests.begin(connection, wanted, actor=LOCAL_ADMIN, may_audit=True)
    elif begun.rows:
        say(f"Continues after {begun.rows:,} rows.")
    assert wanted.target is not None
    report = progress_line(lambda rows: f"{rows:,} rows …")
    folders = running.Folders.of(Settings(), wanted.target.parent)
    done = await running.run(database, folders, begun.id, report)
    end_line()
    if done.held:
        say(
            f"The rows of {counted(done.held, 'page')} were held back: sites or approvals do not allow"
            f" this use. Why: messor rights held"
        )
    return done


for _noun in NOUNS.values():
    export.add_command(_command(_noun))
export.add_command(standing)
export.add_command(config)


@export.command(name="list")
@list_options(EXPORTS)
def list_exports(**given: Any) -> None:
    """List exports, newest first.

    \b
    Example:
      messor export list --state running
    """
    show_list(
        EXPORTS, given, HEAD, _row, empty="No exports yet. Try: messor export pages -o pages.csv"
    )


def _row(found: Export) -> tuple[Any, ...]:
    return (
        found.id, found.noun, found.format, found.state, found.rows, found.requested_by,
        found.created_at, found.target or _place(found),
    )  # fmt: skip


def _place(found: Export) -> str:
    if found.place is None:
        return "in the data folder"
    return f"{found.place}: {found.delivered_as or 'not delivered yet'}"


@export.command()
@click.argument("export_id", type=click.UUID)
@json_option
def cancel(export_id: UUID, as_json: bool) -> None:
    """Cancel an unfinished export.

    \b
    Example:
      messor export cancel 0191d5c0-7b2e-7000-8000-000000000000
    """
    run(transact(lambda connection: _cancel(connection, export_id)))
    found = run(with_database(lambda database: queries.get(database, export_id)))
    if as_json:
        print_json(found)
    else:
        say(f"Export {export_id} was cancelled.")


async def _cancel(connection: Any, export_id: UUID) -> None:
    found = await queries.get(connection, export_id)
    await requests.cancel(connection, found, actor=LOCAL_ADMIN)
