"""`messor audit ledger`: what was sealed is unchanged, and checkpoints to keep elsewhere.

`messor audit ledger verify --json` prints one object: `verdict` (one sentence), `clean`, `blocks`,
`rows` (unchanged, by log), `erased` (by cause), `unsealed` (not sealed yet, by log), `found` (counts by
kind), `findings` (the first 1,000: `kind`, `log`, `row_id`, `block`, `why`) and `checkpoint`.
"""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import AuditFailedError
from messor.fetch.proxies.seal import seal_for
from messor.fetch.signing_keys import public_keys, signing_key
from messor.ledger import checkpoints, sealer
from messor.ledger.checkpoints import SealCheckpoint
from messor.ledger.seal_audit import SealAudit
from messor.ledger.seal_report import SealReport
from messor.settings import Settings
from messor.store.session import open_session

HEAD = ("log", "unchanged", "not sealed yet")
PROGRESS_EVERY = 100_000  # rows


@click.group()
def ledger() -> None:
    """Verify that nobody changed the ledger and the log of requests.

    \b
    Example:
      messor audit ledger checkpoint -o checkpoint.json
      messor audit ledger verify --checkpoint checkpoint.json
    """


@ledger.command()
@json_option
def checkpoint(as_json: bool) -> None:
    """Seal what is committed, and print a signed checkpoint to keep elsewhere.

    \b
    Example:
      messor audit ledger checkpoint -o checkpoint.json
    """
    taken = run(_checkpoint())
    if as_json:
        print_json(msgspec.to_builtins(taken))
    else:
        emit(taken.as_text().decode().rstrip())


@ledger.command()
@click.option(
    "--checkpoint",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A checkpoint to compare the chain with.",
)
@json_option
def verify(file: Path | None, as_json: bool) -> None:
    """Compare every sealed row with its seal; exits with 8 when something was tampered with.

    Without a checkpoint, rows cut off at the end of the chain together with their seals go unnoticed.

    \b
    Example:
      messor audit ledger verify
      messor audit ledger verify --checkpoint checkpoint.json --json
    """
    given = checkpoints.parsed(file.read_bytes()) if file is not None else None
    report = run(_verify(given))
    if as_json:
        print_json(report.as_dict())
    else:
        _print(report)
    if not report.is_clean:
        raise AuditFailedError(report.verdict)


async def _checkpoint() -> SealCheckpoint:
    settings = Settings()
    async with open_session(settings, pool_size=2) as session:
        async with session.database.transaction() as connection:
            key = await signing_key(connection, seal_for(settings))
        count = await sealer.seal_now(session.database, key)
        say(f"{count:,} rows sealed.")
        async with session.database.transaction() as connection:
            return await checkpoints.take(connection, key, key.public_key)


async def _verify(given: SealCheckpoint | None) -> SealReport:
    async with open_session(Settings(), pool_size=1) as session:
        keys = await public_keys(session.database)
        audit = SealAudit(session.database, keys, _show_progress)
        report = await audit.run()
        if given is not None:
            await checkpoints.compare(session.database, given, keys, audit.heads, report)
        return report


def _show_progress(rows: int) -> None:
    if rows and rows % PROGRESS_EVERY == 0:
        say(f"{rows:,} rows compared …")


def _print(report: SealReport) -> None:
    names = sorted(report.rows.keys() | report.unsealed.keys())
    if names:
        print_table(HEAD, [(name, report.rows[name], report.unsealed[name]) for name in names])
    for one in report.findings:
        place = " ".join(
            str(part) for part in (one.log, one.row_id and f"row {one.row_id}") if part
        )
        emit(f"{one.kind:12} {place}  {one.why}".rstrip())
    for cause, count in sorted(report.erased.items()):
        emit(f"{count:,} rows gone by {cause}; their seals remain.")
    if report.checkpoint is not None:
        emit(report.checkpoint)
    emit(report.verdict)
