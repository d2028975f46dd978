"""`messor rights`: what a site says about the use of a page, or of a domain's pages."""

from __future__ import annotations

from typing import Any

import click

from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.explain import rights as explained
from messor.explain.rights import DomainRights, PageRights
from messor.settings import Settings
from messor.store.session import open_session

MAX_TEXT = 80


@click.command()
@click.argument("target", metavar="URL|DOMAIN")
@json_option
def rights(target: str, as_json: bool) -> None:
    """Show what a site says about search, AI input, AI training, text mining and archiving.

    For a URL: each use, and the robots.txt line, header or element that decides it. For a domain:
    all statements, with the number of pages each was found on. Nothing is fetched.

    \b
    Example:
      messor rights https://example.org/news/
      messor rights example.org --json
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
