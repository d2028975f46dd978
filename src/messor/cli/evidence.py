"""`messor evidence`: signed bundles that show how a record or page was come by, and their verification.

`messor evidence bundle --json` prints `file`, `bytes` and `sha256`; `verify --json` prints `valid` and
`message`.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Literal

import click

from messor.archive.storage import Archive
from messor.cli.output import emit, json_flag, print_json, run
from messor.cli.session import LOCAL_ADMIN
from messor.core.terminal import say
from messor.errors import AuditFailedError, UsageError
from messor.fetch.proxies.seal import seal_for
from messor.ops.evidence.bundle import Evidence
from messor.ops.evidence.verify import DAMAGED
from messor.ops.evidence.verify import verify as verified
from messor.rights.uses import USE_NAMES, parsed
from messor.settings import Settings
from messor.store.session import open_session


@click.group()
def evidence() -> None:
    """Make and verify signed evidence of a record or page.

    \b
    Example:
      messor evidence bundle record 17 -o record-17.wacz
      messor evidence verify record-17.wacz
    """


@evidence.command()
@click.argument("kind", type=click.Choice(["record", "page"]))
@click.argument("number", type=click.IntRange(1, 2**63 - 1))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the bundle.",
)
@click.option(
    "--use",
    "uses",
    multiple=True,
    type=click.Choice(USE_NAMES),
    help="What the bundle is for; without it the uses that the domain is approved for count.",
)
@json_flag
def bundle(
    kind: Literal["record", "page"], number: int, output: Path, uses: tuple[str, ...], as_json: bool
) -> None:
    """Write a WACZ with the page, quotes, decisions, rights, politeness and seals, signed.

    \b
    Example:
      messor evidence bundle record 17 -o record-17.wacz
      messor evidence bundle page 4 -o page-4.wacz --use archive
    """
    data = run(_bundle(kind, number, uses))
    try:
        output.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from error
    if as_json:
        digest = sha256(data).hexdigest()
        print_json({"file": str(output), "bytes": len(data), "sha256": digest})
    else:
        say(f"{output}: {len(data):,} bytes. Verify it: messor evidence verify {output}")


@evidence.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--key", help="Id of the key that must have signed it.")
@json_flag
def verify(file: Path, key: str | None, as_json: bool) -> None:
    """Verify a bundle as the script in it does; exits with 8 if anything was changed.

    \b
    Example:
      messor evidence verify record-17.wacz
    """
    try:
        message, is_valid = verified(file.read_bytes(), key), True
    except DAMAGED as error:
        message, is_valid = f"Not valid: {str(error) or 'the signature is wrong'}.", False
    if as_json:
        print_json({"valid": is_valid, "message": message})
    elif is_valid:
        emit(message)
    if not is_valid:
        raise AuditFailedError(message)


async def _bundle(kind: Literal["record", "page"], number: int, uses: tuple[str, ...]) -> bytes:
    settings = Settings()
    async with open_session(settings, pool_size=2) as session:
        maker = Evidence(session.database, settings, Archive.of(settings), seal_for(settings))
        return await maker.bundle(kind, number, actor=LOCAL_ADMIN, declared=parsed(uses))
