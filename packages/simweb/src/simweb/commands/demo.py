"""`messor demo`: crawl a simulated web end to end, without any setup."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from messor.access import links, members
from messor.access.principal import LOCAL_ADMIN as LOCAL
from messor.access.roles import Role
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.run_workers import crawl_until_idle, work_until_stopped
from messor.cli.session import LOCAL_ADMIN
from messor.cli.why import print_explanation
from messor.core.terminal import say
from messor.crawl import progress
from messor.errors import MessorError
from messor.explain.why import explain
from messor.extraction.component import ExtractionFollower
from messor.frontier import tasks
from messor.governance import admission, intake
from messor.ingest import IngestRequest, ingest
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.registry.submissions import Submitter
from messor.runtime.process_group import ProcessGroup
from messor.schedule.clockwork import Clockwork
from messor.schedule.standard import standard_registry
from messor.settings import AllowedNetworks, Settings
from messor.store.database import Database
from messor.store.session import Session, open_session
from simweb import WorldProcess
from simweb.commands import demo_search
from simweb.commands.errors import as_messor_errors

CONNECTIONS = 10
# On a terminal these wait for review, with the context their submitters gave.
REVIEWED = {
    "casa-azul.test": "A guest house that our readers ask about.",
    "eastside-food-bank.test": "Opening hours change often; please check weekly.",
    "alder-foundation.test": "Two new grants were announced in spring.",
}
INGESTED = ("fennimore-joinery.test", "brightwater-accounting.test", "challenge.test")
PAGE_BUDGET = 100  # per domain, so that endless sites and the demo end soon
PATIENCE_SECONDS = 2.0  # for cool-downs of hosts: longer ones are left as they are

# Domains without slow hosts, by Crawl-delay or friction: with the slow ones the second crawl would
# take as long as the first for a few pages more.
FAST_DOMAINS = """
SELECT d.id FROM messor.domains d
 WHERE NOT EXISTS (SELECT FROM messor.lanes l WHERE l.domain_id = d.id AND l.delay >= 0.5)
"""

EXAMPLES = """
SELECT DISTINCT ON (t.outcome, t.refusal IS NULL) t.outcome, p.url
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
 WHERE t.outcome = ANY ($1::text[]) AND t.kind = 'page' ORDER BY t.outcome, t.refusal IS NULL, p.id
"""


@click.command()
@click.option("--once", is_flag=True, help="Exit after the two crawls, even on a terminal.")
@json_option
def demo(once: bool, as_json: bool) -> None:
    """Crawl a simulated web on loopback twice, in a temporary folder.

    \b
    Example:
      messor demo --once
    """
    stay = not once and not as_json and sys.stdout.isatty()
    with (
        as_messor_errors(),
        tempfile.TemporaryDirectory(prefix="messor-demo-") as folder,
        WorldProcess() as world,
    ):
        summary = run(_demo(_settings(Path(folder), world), world, as_json=as_json, stay=stay))
    if as_json:
        print_json(summary)


def _settings(folder: Path, world: WorldProcess) -> Settings:
    return Settings(
        data_dir=folder,
        database_url=None,
        listen_port=0,
        default_delay=0.02,
        total_timeout=3,
        connect_timeout=2,
        contact="https://example.invalid/demo",
        browser="off",  # rendering would make the demo many times as long
        allowed_networks=AllowedNetworks(
            addresses=["127.0.0.0/8"], ports=world.ports, names=world.names
        ),
        ca_file=Path(world.ca_file) if world.ca_file else None,
    )


async def _demo(
    settings: Settings, world: WorldProcess, *, as_json: bool, stay: bool
) -> dict[str, Any]:
    async with contextlib.AsyncExitStack() as stack:
        session = await stack.enter_async_context(open_session(settings, pool_size=CONNECTIONS))
        database = session.database
        if stay:
            await stack.enter_async_context(_console(settings, session))
        say(f"Crawling a simulated web of {len(world.sites)} hosts; some of them misbehave.")
        pending = REVIEWED if stay else {}
        await _approve_all(
            database,
            [site["start_url"] for site in world.sites if site["domain"] not in pending],
        )
        await _submit_for_review(database, pending)
        first = await crawl_until_idle(settings, session, patience=PATIENCE_SECONDS)
        if not as_json:
            _print_summary("First crawl", await progress.summary(database))
            await _explain_examples(settings, session)
        found = await demo_search.search(database, show=not as_json)

        say(
            "\nA simulated day passes: prices change, pages come and go. All pages are due again,\n"
            "except those of slow hosts."
        )
        await asyncio.to_thread(world.set_epoch, 1)
        since = await database.fetchval("SELECT messor.clock()")
        fast = [row["id"] for row in await database.fetch(FAST_DOMAINS)]
        async with database.transaction() as connection:
            await tasks.recrawl(connection, fast)
        second = await crawl_until_idle(settings, session, fast, patience=PATIENCE_SECONDS)
        changes = await progress.changes(database, since)
        if not as_json:
            _print_summary("Second crawl", await progress.summary(database, fast))
            emit("")
            print_table(("change", "pages"), list(changes.items()))
        if stay:
            say("\nA worker keeps crawling due pages; watch it in the console (link above).")
            say("Press Ctrl-C to end the demo.")
            async with _ingestions(settings, session):
                await work_until_stopped(settings, session)
        return {"first": first, "search": found, "second": second, "changes": changes}


@contextlib.asynccontextmanager
async def _console(settings: Settings, session: Session) -> AsyncIterator[None]:
    """Serve the console during the demo, and print a login link."""
    from messor.cli.serve import WebServer  # noqa: PLC0415 - a demo without a terminal needs none

    server = WebServer(settings, session.database)
    async with session.database.transaction() as connection:
        admin = await members.create(
            connection, email="demo@example.invalid", name="Demo", role=Role.ADMIN, by=LOCAL
        )
        link = await links.make_login(connection, admin, by=LOCAL, lasts=timedelta(days=1))
    say(f"Console, logged in as admin: {link.url(server.url)}\n")
    serving = asyncio.create_task(server.run())
    try:
        yield
    finally:
        server.stop()
        await serving


def _print_summary(title: str, summary: dict[str, dict[str, int]]) -> None:
    emit(f"\n{title}")
    rows = []
    for meaning, counts in summary.items():
        detail = ", ".join(f"{count} {name}" for name, count in counts.items())
        rows.append((meaning, sum(counts.values()), detail))
    print_table(("result", "pages", "outcomes"), rows)


async def _approve_all(database: Database, urls: list[str]) -> None:
    async with database.transaction() as connection:
        for url in urls:
            submission = Submission.understand(url)
            domain, new = await registry.submit(connection, submission, actor=LOCAL_ADMIN)
            if new:
                await registry.configure(
                    connection, domain, actor=LOCAL_ADMIN, page_budget=PAGE_BUDGET
                )
                await admission.approve(connection, domain, actor=LOCAL_ADMIN)


async def _submit_for_review(database: Database, pending: Mapping[str, str]) -> None:
    """Submit domains that wait for the user's decision."""
    for name, context in pending.items():
        async with database.transaction() as connection:
            await intake.submit_domain(
                connection, f"http://{name}/", Submitter(LOCAL_ADMIN), context=context
            )


@contextlib.asynccontextmanager
async def _ingestions(settings: Settings, session: Session) -> AsyncIterator[None]:
    """Run ingestions, extraction and the schedule beside the worker."""

    async def ingest_all() -> None:
        for name in INGESTED:
            request = IngestRequest(f"http://{name}/", LOCAL_ADMIN, "light", may_approve=True)
            await ingest(session.database, settings, request)

    orchestrators = standard_registry(settings)
    schedule = Clockwork(session.database, orchestrators, asyncio.Event(), repair=session.repair)
    group = ProcessGroup([ExtractionFollower(settings, session), schedule])
    ingesting, running = asyncio.create_task(ingest_all()), asyncio.create_task(group.run())
    try:
        yield
    finally:
        ingesting.cancel()
        group.stop()
        with contextlib.suppress(asyncio.CancelledError, MessorError):
            await ingesting
        await running


async def _explain_examples(settings: Settings, session: Session) -> None:
    """Explain one page per outcome."""
    emit("\nWhy? One example per outcome (messor why URL):")
    outcomes = ["ok", "robots", "blocked", "redirected", "timeout"]
    for row in await session.database.fetch(EXAMPLES, outcomes):
        emit("")
        print_explanation(await explain(session.database, settings, row["url"]), {})
