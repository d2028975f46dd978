"""`messor plan`, `messor apply` and `messor export config`: the configuration as files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from messor.cli.output import emit, json_flag, json_option, print_json, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.configuration.apply import apply as apply_files
from messor.configuration.compare import compare, whole
from messor.configuration.files import read, write
from messor.configuration.model import ApplyContext
from messor.core.plurals import counted
from messor.core.terminal import say
from messor.settings import Settings

if TYPE_CHECKING:
    from messor.configuration.model import PlannedChange

DIFFERS = 9
SIGNS = {"add": "+", "change": "~", "remove": "-"}
folder_argument = click.argument("folder", type=click.Path(path_type=Path))
prune_option = click.option(
    "--prune",
    is_flag=True,
    help="Also take away what the files do not name, in the sections that they do name: domains "
    "are suspended, members disabled, schedules reset, the others removed.",
)


def _how() -> ApplyContext:
    return ApplyContext(Settings(), LOCAL_ADMIN)


@click.command()
@folder_argument
@prune_option
@json_option
@click.pass_context
def plan(context: click.Context, folder: Path, *, prune: bool, as_json: bool) -> None:
    """Show what applying the configuration in FOLDER would change; nothing is changed.

    Exits with 0 if there is no difference and with 9 if there is one.

    \b
    Example:
      messor plan ./config
      messor plan ./config --prune --json
    """
    wanted = read(folder)
    found = run(with_database(lambda source: compare(source, wanted, _how(), prune=prune)))
    _show(found, as_json)
    if found:
        say(f"{counted(len(found), 'change')}. To make them: messor apply {folder}")
        context.exit(DIFFERS)
    say("The database is as the files say.")


@click.command()
@folder_argument
@prune_option
@json_option
def apply(folder: Path, *, prune: bool, as_json: bool) -> None:
    """Make the database as the files in FOLDER say: all of it, or nothing.

    What the files do not name stays as it is, unless --prune is given. Submitters are not notified.

    \b
    Example:
      messor plan ./config && echo nothing to do
      messor apply ./config
    """
    wanted = read(folder)
    done = run(transact(lambda c: apply_files(c, wanted, _how(), prune=prune)))
    _show(done, as_json)
    say(f"Applied {counted(len(done), 'change')}." if done else "There was nothing to change.")


@click.command()
@click.option("-o", "--output", "folder", required=True, metavar="FOLDER",
              type=click.Path(path_type=Path), help="Folder to write.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace files of the same names.")
@json_flag
def config(folder: Path, *, overwrite: bool, as_json: bool) -> None:
    """Write the configuration as files: domains, members, verticals, watches, retention, schedules.

    They hold no secrets: passwords, keys, tokens and the URLs of webhooks stay in the database.

    \b
    Example:
      messor export config -o ./config
    """
    sections, verticals = run(with_database(lambda source: whole(source, _how())))
    files = write(folder, sections, verticals, overwrite=overwrite)
    if as_json:
        print_json({"files": [str(path) for path in files]})
    else:
        say(f"{counted(len(files), 'file')} in {folder}. To compare: messor plan {folder}")


def _show(changes: list[PlannedChange], as_json: bool) -> None:
    if as_json:
        print_json({"changes": [_data(change) for change in changes]})
        return
    for change in changes:
        note = f" ({change.note})" if change.note else ""
        emit(f"{SIGNS[change.action]} {change.section} {change.name}{note}")
        for field in change.fields if change.action != "remove" else ():
            before = "" if change.action == "add" else f"{_shown(field.before)} → "
            emit(f"    {field.key}: {before}{_shown(field.after)}")


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


def _data(change: PlannedChange) -> dict[str, Any]:
    fields = {each.key: {"before": each.before, "after": each.after} for each in change.fields}
    found = asdict(change)
    return {key: found[key] for key in ("section", "name", "action")} | {"fields": fields}
