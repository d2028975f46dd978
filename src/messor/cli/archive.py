"""`messor archive`: where the archive is, its upkeep, and whether it holds what was fetched.

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

from typing import Any
from uuid import UUID

import click

from messor.archive import compaction, garbage, text_moves, verification
from messor.archive.compaction import Compacted
from messor.archive.relocation import relocate
from messor.archive.status import status
from messor.archive.storage import Archive
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, with_database
from messor.core.terminal import say
from messor.errors import AuditFailedError
from messor.ledger.events import Event, record
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
    """Show, compact, move and verify the archive.

    \b
    Example:
      messor archive status
      messor archive verify
    """


@archive.command("status")
@json_option
def show_status(as_json: bool) -> None:
    """Show where segments are, how many, and what waits to be deleted or erased.

    \b
    Example:
      messor archive status
    """
    settings = Settings()
    found = run(with_database(lambda database: status(Archive.of(settings), database)))
    if as_json:
        print_json(found)
        return
    emit(f"New segments are written to {found['archive']}.")
    print_table(
        ("kind", "segments", "objects", "bytes"),
        [
            (each["kind"], each["segments"], each["objects"], f"{each['bytes']:,}")
            for each in found["segments"]
        ],
    )
    emit(
        f"{found['to_delete']:,} segments wait to be deleted, {found['to_erase']:,} records to be erased."
    )


@archive.command("compact")
@click.option("--now", is_flag=True, help="Include objects less than a day old.")
@json_option
def compact_objects(now: bool, as_json: bool) -> None:
    """Merge small objects in the archive's store, with a CDXJ index beside each.

    `messor up` and workers do so every hour. Exits with 8 if objects are missing or damaged.

    \b
    Example:
      messor archive compact --now
    """
    done = run(_compact(0.0 if now else compaction.WAIT_SECONDS))
    if as_json:
        print_json(done.as_dict())
    else:
        emit(f"{done.segments:,} segments are now {done.objects:,} objects, {done.bytes:,} bytes.")
    if done.damaged:
        raise AuditFailedError(
            f"{len(done.damaged):,} objects are missing or damaged, such as {done.damaged[0]}. "
            "To list the affected pages: messor archive verify"
        )


async def _compact(wait_seconds: float) -> Compacted:
    settings = Settings()
    async with open_session(settings, pool_size=2) as session:
        return await compaction.compact(
            Archive.of(settings),
            session.database,
            settings.segment_bytes,
            wait_seconds=wait_seconds,
        )


@archive.command()
@click.option(
    "--texts",
    "move_texts",
    is_flag=True,
    help="Move the texts of pages to where MESSOR_TEXTS wants them, instead of segments.",
)
@json_option
def move(move_texts: bool, as_json: bool) -> None:
    """Move segments to the store that MESSOR_ARCHIVE_URL names, from this machine or another store.

    Workers may keep running. Segments on other machines are not moved: run the command there too. The old files and
    objects are deleted an hour later (messor archive gc).

    With --texts the markdown of pages moves, to the archive or back to PostgreSQL. It may be stopped
    and started again. PostgreSQL gives the space back after: VACUUM FULL messor.snapshot_texts.

    \b
    Example:
      MESSOR_ARCHIVE_URL=s3://pages/archive messor archive move
      MESSOR_TEXTS=archive messor archive move --texts
    """
    if move_texts:
        _show_moved_texts(run(_move_texts()), as_json)
        return
    moved = run(_move())
    if as_json:
        print_json(moved)
        return
    emit(f"{moved['moved']:,} segments were moved, {moved['bytes']:,} bytes.")
    if moved["elsewhere"]:
        emit(f"{moved['elsewhere']:,} are on other machines.")


def _show_moved_texts(done: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(done)
    else:
        emit(f"{done['moved']:,} texts were moved; they are in the {done['texts']} now.")
    if done["elsewhere"]:
        raise AuditFailedError(
            f"{done['elsewhere']:,} texts cannot be read here, such as that of snapshot "
            f"{done['first_elsewhere']}: they are in the archive of another machine, or damaged. "
            "Run it there too, or see: messor archive verify"
        )


async def _move_texts() -> dict[str, Any]:
    settings = Settings()
    done = text_moves.MovedTexts()
    async with open_session(settings, pool_size=3) as session:
        total = await text_moves.remaining(session.database, settings.texts)
        async for done in text_moves.move(settings, session.database):
            say(f"{done.moved:,} of {total:,} texts moved …")
        result = {
            "texts": settings.texts,
            "moved": done.moved,
            "elsewhere": len(done.elsewhere),
            "first_elsewhere": done.elsewhere[0] if done.elsewhere else None,
        }
        if done.moved:
            async with session.database.transaction() as connection:
                await record(connection, [Event("archive.texts_moved", LOCAL_ADMIN, data=result)])
    return result


async def _move() -> dict[str, int]:
    settings = Settings()
    done = {"moved": 0, "bytes": 0, "elsewhere": 0}
    async with open_session(settings, pool_size=2) as session:
        async for each in relocate(Archive.of(settings), session.database):
            done["moved" if each.new is not None else "elsewhere"] += 1
            done["bytes"] += each.bytes
            if each.new is not None:
                say(f"{each.old} → {each.new}")
        if done["moved"]:
            async with session.database.transaction() as connection:
                await record(connection, [Event("archive.moved", LOCAL_ADMIN, data=done)])
    return done


@archive.command()
@click.option(
    "--orphans",
    is_flag=True,
    help="Also list objects of the store that no segment names; with --yes delete them.",
)
@click.option("--yes", is_flag=True, help="Delete the orphans.")
@json_option
def gc(orphans: bool, yes: bool, as_json: bool) -> None:
    """Delete segments that were compacted or moved more than an hour ago.

    `messor up` and workers do so every hour. Two installations must not share a store's prefix: each
    would list the other's objects as orphans.

    \b
    Example:
      messor archive gc
      messor archive gc --orphans
    """
    if yes and not orphans:
        raise click.UsageError("--yes confirms --orphans.")
    done = run(_collect(orphans, yes))
    if as_json:
        print_json(done)
        return
    emit(f"{done['deleted']:,} segments were deleted.")
    if orphans:
        what = "were deleted" if yes else "would be deleted with --yes"
        emit(f"{done['orphans']:,} objects that no segment names {what}.")


async def _collect(orphans: bool, yes: bool) -> dict[str, int]:
    settings = Settings()
    archive_store = Archive.of(settings)
    async with open_session(settings, pool_size=2) as session:
        done = {"deleted": await garbage.collect(archive_store, session.database)}
        if orphans:
            found = await garbage.orphans(archive_store, session.database)
            done |= {"orphans": len(found.objects), "orphan_bytes": found.bytes}
            if yes:
                await garbage.delete_orphans(archive_store, found)
    return done


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
    report, verifier = ArchiveReport(), Verifier(database, Archive.of(settings))
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
        Archive.of(settings),
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
