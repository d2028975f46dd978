"""`messor search-index`: the index at a search server."""

from __future__ import annotations

from dataclasses import asdict

import click

from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import with_database
from messor.core.terminal import say
from messor.insight.search_server import drift, indexes
from messor.insight.search_server import rebuild as rebuilding
from messor.insight.search_server.client import SearchServer, SearchServerSettings
from messor.insight.search_server.drift import NAMED, Drift
from messor.insight.search_server.indexes import IndexStatus
from messor.insight.search_server.jobs import require_server
from messor.insight.search_server.layout import key_of
from messor.insight.search_server.rebuild import Rebuilt
from messor.settings import Settings
from messor.store.database import Database


@click.group()
def search_index() -> None:
    """Fill and check the index of a search server (Elasticsearch or OpenSearch).

    Without MESSOR_SEARCH_SERVER_URL, PostgreSQL serves searches and there is no index.

    \b
    Example:
      messor search-index rebuild
      messor search-index check
    """


@search_index.command()
@json_option
def status(as_json: bool) -> None:
    """Show the indexes, and how many documents wait to be sent.

    \b
    Example:
      messor search-index status
    """
    found: list[IndexStatus] = run(with_database(indexes.statuses))
    if as_json:
        print_json([asdict(each) for each in found])
        return
    names = ("name", "state", "waiting", "refused", "sent_at", "trouble")
    print_table(names, [tuple(getattr(each, name) for name in names) for each in found])
    if not found:
        say("There is no index on a search server; PostgreSQL serves searches.")


@search_index.command()
@json_option
def rebuild(as_json: bool) -> None:
    """Build a new index and replace the live one; searches keep working.

    \b
    Example:
      messor search-index rebuild
    """
    options = require_server(Settings())

    async def act(database: Database) -> Rebuilt:
        async with SearchServer(options) as server:
            return await rebuilding.rebuild(
                database, server, lambda count: say(f"{count:,} documents sent")
            )

    done = run(with_database(act))
    if as_json:
        print_json(asdict(done))
    else:
        emit(f"  {done.documents:,} documents, {done.refused:,} refused", bold=done.name)


@search_index.command()
@click.option("--repair", is_flag=True, help="Resend every document that differs.")
@json_option
def check(repair: bool, as_json: bool) -> None:
    """Compare the live index with PostgreSQL; documents waiting to be sent are skipped.

    \b
    Example:
      messor search-index check --repair
    """
    options = require_server(Settings())

    async def act(database: Database) -> Drift:
        async with SearchServer(options) as server:
            found = await drift.check(database, server)
        if repair:
            await drift.repair(database, found)
        return found

    found = run(with_database(act))
    kinds = {"missing": found.missing, "different": found.different, "extra": found.extra}
    if as_json:
        named = {kind: [key_of(*key) for key in keys] for kind, keys in kinds.items()}
        print_json({"index": found.name, "documents": found.documents, **named})
        return
    rows = [
        (kind, len(keys), ", ".join(key_of(*key) for key in keys[:NAMED]) or None)
        for kind, keys in kinds.items()
    ]
    print_table(("drift", "documents", "first"), rows)
    emit(f"  {found.documents:,} documents in PostgreSQL", bold=found.name)
    if repair and found.keys:
        say(f"{len(found.keys):,} documents will be resent within a minute while `messor up` runs.")


@search_index.command()
@json_option
def drop(as_json: bool) -> None:
    """Delete the indexes, also on the server if one is configured; PostgreSQL then serves searches.

    \b
    Example:
      messor search-index drop
    """
    options = SearchServerSettings.of(Settings())

    async def act(database: Database) -> list[str]:
        if options is None:
            return await rebuilding.drop(database, None)
        async with SearchServer(options) as server:
            return await rebuilding.drop(database, server)

    names = run(with_database(act))
    if as_json:
        print_json({"dropped": names})
    else:
        say(f"Dropped: {', '.join(names) or 'nothing'}.")
