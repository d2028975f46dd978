"""`messor tasks pause`, `resume`, `stop`, `retry` and `recrawl`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from messor.cli.output import json_option, print_json, run
from messor.cli.session import LOCAL_ADMIN
from messor.core.terminal import say
from messor.errors import UsageError
from messor.frontier import control
from messor.frontier.control import ControlResult, Scope
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import open_session

Command = TypeVar("Command", bound=Callable[..., Any])

RESULTS = {
    "pause": "paused",
    "resume": "resumed",
    "stop": "stopped",
    "retry": "queued for retry",
    "recrawl": "due now",
}


def scope_options(command: Command) -> Command:
    """Add --url, --batch, --domain and --all, of which exactly one must be given."""
    for option in (
        click.option("--all", "everything", is_flag=True, help="All pages."),
        click.option("--domain", help="All pages of this domain."),
        click.option("--batch", help="All pages of the batch with this id."),
        click.option("--url", help="The page with this URL."),
    ):
        command = option(command)
    return command


async def _scope(
    database: Database, url: str | None, batch: str | None, domain: str | None, everything: bool
) -> Scope:
    if sum(given is not None for given in (url, batch, domain)) + everything != 1:
        raise UsageError("Give exactly one of --url, --batch, --domain and --all.")
    if url is not None:
        return await Scope.url(database, url)
    if batch is not None:
        return await Scope.batch(database, batch)
    if domain is not None:
        return await Scope.domain(database, domain)
    return Scope.everything()


def _act(name: str, as_json: bool, **scope: Any) -> None:
    async def do() -> ControlResult:
        async with open_session(Settings(), pool_size=2) as session:
            found = await _scope(session.database, **scope)
            return await control.act(session.database, name, found, actor=LOCAL_ADMIN)

    done = run(do())
    if as_json:
        print_json(done)
    else:
        say(f"{done.tasks} tasks {RESULTS[name]} ({done.name}).")
        if name == "stop" and done.scope in ("domain", "all"):
            say("Pages found later are not fetched either, until you resume.")


@click.command()
@scope_options
@json_option
def pause(as_json: bool, **scope: Any) -> None:
    """Pause pages; running visits skip them from the next flush on.

    \b
    Example:
      messor tasks pause --domain shop.example
      messor tasks pause --all
    """
    _act("pause", as_json, **scope)


@click.command()
@scope_options
@json_option
def resume(as_json: bool, **scope: Any) -> None:
    """Resume paused pages at their original due time.

    Use the option they were paused with: --domain for a domain, --batch for a batch.

    \b
    Example:
      messor tasks resume --domain shop.example
    """
    _act("resume", as_json, **scope)


@click.command()
@scope_options
@json_option
def stop(as_json: bool, **scope: Any) -> None:
    """Cancel pages; they are not crawled until they are retried or submitted again.

    \b
    Example:
      messor tasks stop --batch 019a8a3e-5f2b-7c11-8d4e-0242ac120002
    """
    _act("stop", as_json, **scope)


@click.command()
@scope_options
@json_option
def retry(as_json: bool, **scope: Any) -> None:
    """Retry failed, stopped and waiting pages now.

    \b
    Example:
      messor tasks retry --domain shop.example
    """
    _act("retry", as_json, **scope)


@click.command()
@scope_options
@json_option
def recrawl(as_json: bool, **scope: Any) -> None:
    """Make pages due now, regardless of their crawl frequency, except paused and stopped ones.

    \b
    Example:
      messor tasks recrawl --url https://shop.example/price-list
    """
    _act("recrawl", as_json, **scope)
