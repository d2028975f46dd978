"""`messor person`: what is held on a person is found, handed over and erased.

`messor person find --json` prints `places` (each `table`, `rows`, `is_cut`) and `pages`; `erase --json`
prints `pages_erased`, `members_erased`, `left` and `pages_left`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from messor.archive import erased_bytes
from messor.cli.output import emit, json_flag, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN
from messor.core.terminal import say
from messor.errors import UsageError
from messor.governance import person_data, promotion
from messor.governance.person_data import HeldPlace, PersonData, PersonErased
from messor.settings import Settings
from messor.store.session import open_session

HEAD = ("table", "rows")
NAMES = click.argument("names", nargs=-1, required=True)


@click.group()
def person() -> None:
    """Find, hand over and erase what is held on a person.

    \b
    Example:
      messor person find jane@example.org "Jane Doe"
      messor person export jane@example.org "Jane Doe" -o jane.zip
      messor person erase jane@example.org "Jane Doe" --reason "requested by Jane" --with-pages
    """


@person.command()
@NAMES
@json_option
def find(names: tuple[str, ...], as_json: bool) -> None:
    """Find the tables and pages that contain a name or address of a person.

    \b
    Example:
      messor person find jane@example.org "Jane Doe"
    """
    found = run(_find(names))
    if as_json:
        print_json({"places": [asdict(one) for one in found.places], "pages": found.pages})
        return
    _print(found.places, found.pages)


@person.command()
@NAMES
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="ZIP file to write.",
)
def export(names: tuple[str, ...], output: Path) -> None:
    """Write everything that is held on a person into one ZIP file; secrets are left out.

    \b
    Example:
      messor person export jane@example.org "Jane Doe" -o jane.zip
    """
    data = run(_export(names))
    try:
        output.touch(mode=0o600)
        output.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from error
    say(f"{output}: {len(data):,} bytes.")


@person.command()
@NAMES
@click.option("--reason", required=True, help="Reason; stored in the list of erasures.")
@click.option("--with-pages", is_flag=True, help="Erase the stored pages that name them, too.")
@click.option("--yes", is_flag=True, help="Erase; without it only show what names them.")
@json_flag
def erase(names: tuple[str, ...], reason: str, with_pages: bool, yes: bool, as_json: bool) -> None:
    """Erase a person's identity and account; what still names them is listed.

    \b
    Example:
      messor person erase jane@example.org "Jane Doe" --reason "requested by Jane" --with-pages --yes
    """
    if not yes:
        found = run(_find(names))
        _print(found.places, found.pages)
        say("Nothing was erased; add --yes.")
        return
    done, waiting = run(_erase(names, reason, with_pages))
    if as_json:
        print_json({**asdict(done), "records_to_blank": waiting})
        return
    say(f"Erased; {done.pages_erased:,} pages and {done.members_erased:,} accounts are gone.")
    if waiting:
        say(f"{waiting:,} archive records are not blanked yet. Later: messor domains erase again")
    if done.left or done.pages_left:
        say("Still found, in texts that people or sites wrote:")
        _print(done.left, done.pages_left)


def _print(places: Sequence[HeldPlace], pages: Sequence[str]) -> None:
    print_table(HEAD, [(one.table, f"{one.rows}{'+' if one.is_cut else ''}") for one in places])
    for url in pages:
        emit(url)


async def _find(names: Sequence[str]) -> PersonData:
    async with open_session(Settings(), pool_size=1) as session:
        return await person_data.find(session.database, names, actor=LOCAL_ADMIN)


async def _export(names: Sequence[str]) -> bytes:
    async with open_session(Settings(), pool_size=1) as session:
        return await person_data.handed_over(session.database, names, actor=LOCAL_ADMIN)


async def _erase(names: Sequence[str], reason: str, with_pages: bool) -> tuple[PersonErased, int]:
    settings = Settings()
    async with open_session(settings, pool_size=2) as session:
        done = await person_data.erase(
            session.database, names, actor=LOCAL_ADMIN, reason=reason, with_pages=with_pages
        )
        await promotion.let_go(settings, session.database)
        return done, await erased_bytes.waiting(session.database)
