"""`messor archive`: verify that the archive holds what was fetched, and repair it.

`messor archive verify --json` prints one object: `clean`, `verdict` (one sentence), `examined`,
`elsewhere` (snapshots whose bytes are on another machine), `unread` (pages whose text could not be
extracted again), `known` (flaws already marked by an earlier run), `found` (counts by flaw),
`snapshots`, the first 10,000 of them, each with `snapshot_id`, `url`, `flaw`, `message` and
`is_current`; with `--repair` also `repaired`: `marked`, `pages_due`, `records_written`,
`hashes_corrected`, `to_import_again`.

Flaws: `misfiled` (the WARC record holds another page's bytes), `damaged`, `lost` (erased),
`unrecorded` (the bytes exist, but the URL has no WARC record and does not replay), `hash` (the bytes
are right, the stored hash is wrong), `text` (the stored text does not match the bytes).
"""

from __future__ import annotations

from uuid import UUID

import click

from messor.archive import verification
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN
from messor.core.terminal import say
from messor.errors import AuditFailedError
from messor.ops import archive_audit
from messor.ops.archive_audit import ArchiveReport, Verifier
from messor.ops.archive_repair import Repair
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import open_session

HEAD = ("snapshot", "flaw", "url", "details")
MAX_LISTED = 50
PROGRESS_EVERY = 10_000


@click.group()
def archive() -> None:
    """Verify that the archive holds what was fetched.

    \b
    Example:
      messor archive verify
    """


@archive.command()
@click.option("--domain", help="Only this domain's snapshots.")
@click.option(
    "--sample",
    type=click.IntRange(1, 1_000_000),
    help="Verify this many random snapshots instead of all.",
)
@click.option(
    "--repair",
    is_flag=True,
    help="Repair what can be repaired and schedule the other pages to be fetched again.",
)
@json_option
def verify(domain: str | None, sample: int | None, repair: bool, as_json: bool) -> None:
    """Verify archived snapshots: hash, payload digest, URL and text.

    Also detects snapshots whose WARC record holds another page's bytes. With --repair such a
    snapshot is marked and its page is fetched again unconditionally; a URL without a WARC record
    gets one. Exits with 8 when flaws were found and not repaired.

    \b
    Example:
      messor archive verify
      messor archive verify --domain example.org --repair
      messor archive verify --sample 1000 --json
    """
    if domain is not None and sample is not None:
        raise click.UsageError("--domain and --sample cannot be combined.")
    report, repaired = run(_verify(domain, sample, repair))
    if as_json:
        data = report.as_dict()
        print_json({**data, "repaired": repaired} if repaired is not None else data)
    else:
        _print(report, repaired)
    if not report.is_clean and repaired is None:
        raise AuditFailedError(f"{report.message} To repair: messor archive verify --repair")


async def _verify(
    domain: str | None, sample: int | None, repair: bool
) -> tuple[ArchiveReport, dict[str, int] | None]:
    settings = Settings()
    async with (
        open_session(settings, pool_size=4) as session,
        Repair(settings, session.database) as repairer,
    ):
        database = session.database
        domain_id = None
        if domain is not None:
            domain_id = (await registry.get(database, Submission.understand(domain).domain)).id
        active_repair = repairer if repair else None
        if sample is not None:
            report = await _verify_sample(settings, database, sample, active_repair)
        else:
            report = await _verify_all(settings, database, domain_id, active_repair)
        if not repair:
            return report, None
        await repairer.finish(LOCAL_ADMIN)
        return report, dict(+repairer.done)


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
        progress=_show_progress,
    )
    async for findings in walk:
        if repair is not None:
            await repair.mend(findings)
    return report


def _show_progress(examined: int) -> None:
    if examined % PROGRESS_EVERY < archive_audit.AT_ONCE:
        say(f"{examined:,} snapshots examined …")


def _print(report: ArchiveReport, repaired: dict[str, int] | None) -> None:
    if report.findings:
        rows = [(each.snapshot_id, each.flaw, each.url, each.message) for each in report.findings]
        print_table(HEAD, rows[:MAX_LISTED])
        if (more := report.counts.total() - MAX_LISTED) > 0:
            emit(f"… and {more:,} more. List all: messor archive verify --json")
    emit(report.message)
    for name, sentence in _REPAIRED.items():
        if repaired and repaired.get(name):
            emit(sentence.format(repaired[name]))


_REPAIRED = {
    "records_written": "{:,} missing WARC records were written.",
    "hashes_corrected": "{:,} hashes were corrected.",
    "marked": "{:,} snapshots were marked as invalid until the same content is fetched again.",
    "pages_due": "{:,} pages are due to be fetched again.",
    "to_import_again": "{:,} imported pages must be imported again.",
}
