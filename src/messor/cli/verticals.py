"""`messor verticals`: vertical files and the organisations of a vertical."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from messor.cli.listing import list_options, show_list
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.errors import PartiallyRefusedError, UsageError
from messor.governance import block_policy
from messor.store.database import Connection, Database
from messor.verticals import differences, files, organisation_import
from messor.verticals import verticals as rows
from messor.verticals.differences import KeyDifference
from messor.verticals.organisation_import import LineReport
from messor.verticals.queries import ORGANISATIONS, Organisation
from messor.verticals.verticals import Applied, VerticalVersion


@click.group()
def verticals() -> None:
    """Show, apply and export verticals: services, places, profiles, judges, weights.

    \b
    Example:
      messor verticals list
      messor verticals apply wellness
      messor verticals export wellness > mine.toml
    """


@verticals.command(name="list")
@json_option
def list_(as_json: bool) -> None:
    """List the verticals shipped with Messor, and which are applied.

    \b
    Example:
      messor verticals list
    """
    applied = {one.vertical.name: one for one in run(with_database(rows.listing))}
    found = [_facts(name, applied.get(name)) for name in sorted({*files.SHIPPED, *applied})]
    if as_json:
        print_json(found)
        return
    head = ("name", "title", "version", "applied", "by", "at")
    print_table(head, [tuple(facts[key] for key in head) for facts in found])


def _facts(name: str, applied: Applied | None) -> dict[str, Any]:
    vertical = applied.vertical if applied else files.shipped(name).vertical
    return {
        "name": name,
        "title": vertical.title,
        "version": vertical.version,
        "applied": "yes" if applied else "no",
        "by": applied.applied_by if applied else None,
        "at": applied.applied_at if applied else None,
    }


@verticals.command()
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show an applied vertical and its versions.

    \b
    Example:
      messor verticals show wellness
    """

    async def act(database: Database) -> tuple[Applied, list[VerticalVersion]]:
        found = await rows.get(database, name)
        return found, await rows.history(database, found)

    found, versions = run(with_database(act))
    vertical = found.vertical
    if as_json:
        print_json({**vertical.model_dump(mode="json"), "versions": versions})
        return
    emit(f"{vertical.title} ({vertical.name}), version {vertical.version}")
    emit(f"When blocked: {vertical.on_block}. Records: {', '.join(vertical.record_kinds)}.")
    emit(f"Domain classes counted for visibility: {', '.join(vertical.counted_classes)}.")
    table = [(one.name, one.intent, ", ".join(one.synonyms)) for one in vertical.services]
    print_table(("service", "intent", "synonyms"), table)
    profiles = [(n, p.gl, p.hl, p.device, p.location) for n, p in vertical.profiles.items()]
    print_table(("profile", "gl", "hl", "device", "location"), profiles)
    print_table(("judge", "weight"), list(vertical.judges.items()))
    print_table(
        ("version", "by", "at"), [(one.version, one.applied_by, one.applied_at) for one in versions]
    )


@verticals.command()
@click.argument("names", nargs=-1, required=True)
@json_option
def apply(names: tuple[str, ...], as_json: bool) -> None:
    """Apply verticals by NAME or from a file.

    \b
    Example:
      messor verticals apply wellness funding
      messor verticals apply ./mine.toml
    """
    selected = [files.find(name) for name in names]

    async def act(connection: Connection) -> list[tuple[Applied, list[KeyDifference]]]:
        done = [await rows.apply(connection, file, actor=LOCAL_ADMIN) for file in selected]
        await block_policy.follow_verticals(connection)  # a first part; the schedule does the rest
        return done

    done = run(transact(act))
    for applied, changes in done:
        vertical = applied.vertical
        summary = f"{len(changes)} changes" if changes else "no changes"
        say(f"{vertical.name} version {vertical.version} is applied: {summary}.")
    if as_json:
        print_json(
            [
                {"name": a.vertical.name, "version": a.vertical.version, "changes": c}
                for a, c in done
            ]
        )


@verticals.command()
@click.argument("name")
@json_option
def diff(name: str, as_json: bool) -> None:
    """Show what applying NAME (or a file) would change.

    \b
    Example:
      messor verticals diff ./mine.toml
    """
    file = files.find(name)
    before = run(with_database(lambda database: rows.find(database, file.vertical.name)))
    changes = differences.between(before.vertical if before else None, file.vertical)
    if as_json:
        print_json(changes)
        return
    for change in changes:
        emit(str(change))
    if not changes:
        say("No changes.")


@verticals.command()
@click.argument("name")
@json_option
def export(name: str, as_json: bool) -> None:
    """Print the file of an applied or shipped vertical, to edit and apply again.

    \b
    Example:
      messor verticals export funding -o mine.toml
    """
    found = run(with_database(lambda database: rows.find(database, name)))
    source = found.source if found is not None else files.shipped(name).source
    if as_json:
        print_json({"name": name, "source": source})
    else:
        emit(source.rstrip("\n"))


@verticals.command(name="organisations")
@click.argument("vertical")
@list_options(ORGANISATIONS, without=("vertical",))
def list_organisations(**given: Any) -> None:
    """List the organisations of a VERTICAL and their domains.

    \b
    Example:
      messor verticals organisations wellness --q skin
    """
    empty = "No matching organisations. Import some: messor verticals import VERTICAL FILE"
    show_list(ORGANISATIONS, given, ("name", "location", "domains"), _row, empty=empty)


def _row(one: Organisation) -> tuple[Any, ...]:
    return (one.name, one.location, ", ".join(one.domains))


@verticals.command(name="import")
@click.argument("name")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
def import_(name: str, file: Path, as_json: bool) -> None:
    """Import organisations of a vertical from a CSV FILE, with a result per line.

    The first line names the columns: name, domains, location, external_id. Separate the domains
    of an organisation by semicolons.

    \b
    Example:
      messor verticals import wellness clinics.csv
    """
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error

    async def act(database: Database) -> list[LineReport]:
        applied = await rows.get(database, name)
        return await organisation_import.import_csv(database, applied, text, actor=LOCAL_ADMIN)

    reports = run(with_database(act))
    if as_json:
        print_json(reports)
    else:
        table = [(one.line, one.outcome, one.name, one.message) for one in reports]
        print_table(("line", "outcome", "name", "reason"), table)
    refused = sum(one.outcome == "refused" for one in reports)
    if refused:
        raise PartiallyRefusedError(f"{refused} of {len(reports)} lines were refused.")
