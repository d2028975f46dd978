"""`messor archive`: whether the archive holds what was seen, and putting right what it does not.

`messor archive verify --json` prints one object: `clean`, `verdict` (one sentence), `examined`,
`elsewhere` (snapshots whose bytes lie on another machine), `unread` (pages whose text could not be read
again), `known` (found and marked before), `found` (how many by flaw), `snapshots`, the first 10,000 of
them, each with `snapshot_id`, `url`, `flaw`, `said` and `is_current`; with `--repair` also `repaired`:
`marked`, `pages_due`, `records_written`, `hashes_corrected`, `to_import_again`.

Flaws: `misfiled` (the record holds other bytes than were seen), `damaged`, `lost` (erased),
`unrecorded` (the bytes are there, but the address has no record and does not replay), `hash` (the
bytes are right, the hash in the row is not), `text` (the stored text is not what the bytes say).
"""

from __future__ import annotations

from uuid import UUID

import click

from messor.archive import verification
from messor.cli.domain_session import LOCAL_ADMIN
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import ImpoliteError
from messor.ops import archive_audit
from messor.ops.archive_audit import ArchiveReport, Verifier
from messor.ops.archive_repair import Repair
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import open_session

HEAD = ("snapshot", "flaw", "url", "what")
LISTED = 50
TELL_EVERY = 10_000


@click.group()
def archive() -> None:
    """Check that the archive holds what was seen.

    \b
    Example:
      messor archive verify
    """


@archive.command()
@click.option("--domain", help="Only this domain's snapshots.")
@click.option(
    "--sample",
    type=click.IntRange(1, 1_000_000),
    help="Only so many snapshots, chosen by chance. Without it: all.",
)
@click.option(
    "--repair",
    is_flag=True,
    help="Put right what can be, and fetch the pages of the others anew.",
)
@json_option
def verify(domain: str | None, sample: int | None, repair: bool, as_json: bool) -> None:
    """Read snapshots again from the archive: hash, payload digest, address and text.

    A snapshot whose record holds another page's bytes is found. With --repair it is marked, and its
    page is fetched anew, past everything that would call it unchanged; an address without a record
    of its own gets one. Exits with 8 when something is wrong and was not repaired.

    \b
    Example:
      messor archive verify
      messor archive verify --domain example.org --repair
      messor archive verify --sample 1000 --json
    """
    if domain is not None and sample is not None:
        raise click.UsageError("Give --domain or --sample, not both.")
    report, repaired = run(_verify(domain, sample, repair))
    if as_json:
        told = report.as_dict()
        print_json({**told, "repaired": repaired} if repaired is not None else told)
    else:
        _print(report, repaired)
    if not report.is_clean and repaired is None:
        raise ImpoliteError(f"{report.said} To put it right: messor archive verify --repair")


async def _verify(
    domain: str | None, sample: int | None, repair: bool
) -> tuple[ArchiveReport, dict[str, int] | None]:
    settings = Settings()
    async with (
        open_session(settings, pool_size=4) as session,
        Repair(settings, session.database) as mending,
    ):
        database = session.database
        domain_id = None
        if domain is not None:
            domain_id = (await registry.get(database, Submission.understand(domain).domain)).id
        chosen = mending if repair else None
        if sample is not None:
            report = await _verify_sample(settings, database, sample, chosen)
        else:
            report = await _verify_all(settings, database, domain_id, chosen)
        if not repair:
            return report, None
        await mending.finish(LOCAL_ADMIN)
        return report, dict(+mending.done)


async def _verify_sample(
    settings: Settings, database: Database, size: int, repair: Repair | None
) -> ArchiveReport:
    report, verifier = ArchiveReport(), Verifier(database, settings.data_dir / "archive")
    try:
        findings = await verifier.verify(await verification.sample(database, size), report)
    finally:
        await verifier.close()
    if repair is not None:
        await repair.mend(findings)
    return report


async def _verify_all(
    settings: Settings, database: Database, domain_id: UUID | None, repair: Repair | None
) -> ArchiveReport:
    report = ArchiveReport()
    walk = archive_audit.walk(
        database,
        settings.data_dir / "archive",
        report,
        domain_id=domain_id,
        progress=_tell,
    )
    async for findings in walk:
        if repair is not None:
            await repair.mend(findings)
    return report


def _tell(examined: int) -> None:
    if examined % TELL_EVERY < archive_audit.AT_ONCE:
        say(f"{examined:,} snapshots examined …")


def _print(report: ArchiveReport, repaired: dict[str, int] | None) -> None:
    if report.findings:
        rows = [(each.snapshot_id, each.flaw, each.url, each.said) for each in report.findings]
        print_table(HEAD, rows[:LISTED])
        if (more := report.counts.total() - LISTED) > 0:
            emit(f"… and {more:,} more; all of them: messor archive verify --json")
    emit(report.said)
    for name, sentence in _REPAIRED.items():
        if repaired and repaired.get(name):
            emit(sentence.format(repaired[name]))


_REPAIRED = {
    "records_written": "{:,} addresses got a record of their own.",
    "hashes_corrected": "{:,} hashes were corrected.",
    "marked": "{:,} snapshots were marked: they prove nothing until the same content comes again.",
    "pages_due": "{:,} pages are due to be fetched anew.",
    "to_import_again": "{:,} pages were imported; import them again.",
}
