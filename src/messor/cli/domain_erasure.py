"""`messor domains purge`, `erase` and `mentions`: remove stored data."""

from __future__ import annotations

from dataclasses import asdict

import click

from messor.archive import erased_bytes
from messor.cli.domain_session import name_of
from messor.cli.output import emit, json_option, print_json, run
from messor.cli.session import LOCAL_ADMIN
from messor.core.terminal import say
from messor.errors import UsageError
from messor.governance import erasure, promotion, purges
from messor.governance.erasure import Erased
from messor.governance.purges import Holdings
from messor.registry import domains as registry
from messor.settings import Settings
from messor.store.session import Session, open_session

ERASE = {
    "domain": erasure.erase_domain,
    "url": erasure.erase_url,
    "person": erasure.erase_person,
}


@click.command()
@click.argument("domain")
@click.option("--yes", is_flag=True, help="Purge; without it only show what would be deleted.")
@json_option
def purge(domain: str, yes: bool, as_json: bool) -> None:
    """Delete all stored pages of a domain that is not approved. The request log is kept.

    \b
    Example:
      messor domains purge spam.example
      messor domains purge spam.example --yes
    """
    kept, left = run(_purge(name_of(domain), yes))
    what = f"{kept.pages} pages and {kept.snapshots} snapshots ({kept.bytes} bytes)"
    say(f"{what} {'were deleted' if yes else 'would be deleted; add --yes to purge them'}.")
    _report_pending(left)
    if as_json:
        print_json({**asdict(kept), "purged": yes, "records_to_blank": left})


async def _purge(name: str, yes: bool) -> tuple[Holdings, int]:
    settings = Settings()
    async with open_session(settings, pool_size=2) as session:
        if not yes:
            found = await registry.get(session.database, name)
            return await purges.holdings(session.database, found), 0
        async with session.database.transaction() as connection:
            kept = await purges.purge(connection, name, actor=LOCAL_ADMIN)
        return kept, await _blank(settings, session)


@click.command()
@click.argument("kind", type=click.Choice([*ERASE, "again"]))
@click.argument("what", required=False)
@click.option("--reason", help="Reason; stored in the list of erasures.")
@json_option
def erase(kind: str, what: str | None, reason: str | None, as_json: bool) -> None:
    """Erase a domain, a page or a person's data permanently, and never collect it again.

    `again` repeats all recorded erasures, for example after restoring a backup.

    \b
    Example:
      messor domains erase url https://example.org/people/jane --reason "requested by Jane"
      messor domains erase person jane@example.org --reason "requested by Jane"
      messor domains erase domain example.org --reason "requested by its owner"
      messor domains erase again
    """
    if kind == "again":
        erased, left = run(_erase_again())
        say(f"{erased} erasures were repeated.")
    else:
        if not what or not reason:
            raise UsageError(
                f"Give the {kind} and a reason: messor domains erase {kind} … --reason …"
            )
        done, left = run(_erase(kind, what, reason))
        say(done.message)
        if as_json:
            print_json({**asdict(done), "records_to_blank": left})
    _report_pending(left)


async def _erase(kind: str, what: str, reason: str) -> tuple[Erased, int]:
    settings = Settings()
    async with open_session(settings, pool_size=2) as session:
        async with session.database.transaction() as connection:
            done = await ERASE[kind](connection, what, actor=LOCAL_ADMIN, reason=reason)
        return done, await _blank(settings, session)


async def _erase_again() -> tuple[int, int]:
    settings = Settings()
    async with open_session(settings, pool_size=2) as session:
        erased = await erasure.replay(session.database)
        async with session.database.transaction() as connection:
            await erasure.finish(connection)
        return erased, await _blank(settings, session)


async def _blank(settings: Settings, session: Session) -> int:
    await promotion.let_go(settings, session.database)
    return await erased_bytes.waiting(session.database)


def _report_pending(left: int) -> None:
    if left:
        say(
            f"{left} archive records are not blanked yet: they are in use by a running worker or on "
            "another machine. Run there, later: messor domains erase again"
        )


@click.command()
@click.argument("text")
@json_option
def mentions(text: str, as_json: bool) -> None:
    """List stored pages that mention a name, for example before erasing them.

    \b
    Example:
      messor domains mentions "Jane Doe"
    """

    async def read() -> list[str]:
        async with open_session(Settings(), pool_size=1) as session:
            return list(await erasure.mentions(session.database, text))

    found = run(read())
    if as_json:
        print_json(found)
    else:
        for url in found:
            emit(url)
        say(f"{len(found)} pages.")


COMMANDS = (purge, erase, mentions)
