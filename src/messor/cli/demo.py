"""`messor demo`: the whole path on a simulated web, with nothing to set up."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from messor.cli.domains import LOCAL_ADMIN
from messor.cli.output import json_option, print_json, print_table, run, say
from messor.cli.running import crawl_until_idle
from messor.cli.why import print_explanation
from messor.engine import admission
from messor.engine.why import explain
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.settings import AllowedNetworks, Settings
from messor.store.database import Database
from messor.store.session import Session, open_session
from messor.world import WorldProcess

PATIENCE_SECONDS = 2.0  # for hosts that ask for silence: the demo shows them as they are

EXAMPLES = """
SELECT DISTINCT ON (t.outcome) t.outcome, p.url
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
 WHERE t.outcome IS NOT NULL AND t.kind = 'page' ORDER BY t.outcome, p.id
"""


@click.command()
@click.option("--once", is_flag=True, help="Stop after the harvest.")
@json_option
def demo(once: bool, as_json: bool) -> None:
    """Harvest a simulated web on loopback, in a throw-away folder.

    \b
    Example:
      messor demo --once
    """
    with tempfile.TemporaryDirectory(prefix="messor-demo-") as folder, WorldProcess() as world:
        settings = Settings(
            data_dir=Path(folder),
            database_url=None,
            default_delay=0.05,
            total_timeout=3,
            connect_timeout=2,
            contact="https://example.invalid/demo",
            allowed_networks=AllowedNetworks(
                addresses=["127.0.0.0/8"], ports=world.ports, names=world.names
            ),
            ca_file=Path(world.ca_file) if world.ca_file else None,
        )
        summary = run(_demo(settings, world, as_json=as_json))
    if as_json:
        print_json(summary)


async def _demo(settings: Settings, world: WorldProcess, *, as_json: bool) -> dict[str, Any]:
    async with open_session(settings) as session:
        say(f"A simulated web of {len(world.sites)} hosts, all on loopback.")
        await _approve_all(session.database, [site["start_url"] for site in world.sites])
        outcomes = await crawl_until_idle(settings, session, patience=PATIENCE_SECONDS)
        if not as_json:
            print_table(("outcome", "pages"), list(outcomes.items()))
            await _explain_examples(settings, session)
        return {"outcomes": outcomes}


async def _approve_all(database: Database, urls: list[str]) -> None:
    for url in urls:
        async with database.transaction() as connection:
            submission = Submission.understand(url)
            domain, new = await registry.submit(connection, submission, actor=LOCAL_ADMIN)
            if new:
                await admission.approve(connection, domain, actor=LOCAL_ADMIN)


async def _explain_examples(settings: Settings, session: Session) -> None:
    for row in await session.database.fetch(EXAMPLES):
        click.echo(f"\n{row['outcome']}:")
        print_explanation(await explain(session.database, settings, row["url"]))
