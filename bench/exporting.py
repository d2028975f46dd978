"""What exports cost at size: time beside bare loops, memory of every format, kills at random moments.

Run as `python -m bench.exporting`, on an embedded PostgreSQL that is thrown away afterwards; `--records`
and `--pages` change the size. Exits 1 when a bar is broken. Each export runs in a process of its own,
whose memory and CPU time are its own, too.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
import resource
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import asyncpg
from bench.queue import Bar, judge, own_database
from bench.stage import embedded_postgres
from tests.exports.seeding import seed

from messor.exports import requests
from messor.exports.formats import FORMATS
from messor.exports.requests import NewExport
from messor.exports.run import Folders, run
from messor.store.database import Database

OVER_BARE = 2.0
MAX_RSS = 250  # MB
KILLS = 20
BATCH = 10_000
ROWS = """SELECT r.id, r.kind, r.state, d.domain, p.url, r.data, r.fields, r.confidence, r.parser,
  r.parser_version, r.page_id, r.snapshot_id, r.first_seen, r.last_seen, r.updated_at, r.removed_at
  FROM messor.records r JOIN messor.domains d ON d.id = r.domain_id
  JOIN messor.pages p ON p.id = r.page_id WHERE r.state = 'current'"""


@dataclass(frozen=True)
class Cost:
    """What one process took."""

    seconds: float
    rss: int  # MB
    code: int


async def spend(*words: str, kill_after: float | None = None) -> Cost:
    """Run this module in a process of its own; kill it after so many seconds, if given."""
    started = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.exporting", *words, stdout=asyncio.subprocess.PIPE
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), kill_after)
    except TimeoutError:
        process.send_signal(signal.SIGKILL)
        await process.wait()
        return Cost(time.perf_counter() - started, 0, -signal.SIGKILL)
    assert process.returncode is not None
    rss, seconds = out.decode().split() if process.returncode == 0 else ("0", "0")
    return Cost(float(seconds), int(rss), process.returncode)


async def begin(database: Database, noun: str, name: str) -> UUID:
    async with database.transaction() as connection:
        wanted = NewExport(noun, name, {})
        made = await requests.begin(connection, wanted, actor=f"bench {random.random()}")
    return made.id


async def export(dsn: str, export_id: str, folder: str) -> None:
    async with Database(dsn, pool_size=2) as database:
        started = time.perf_counter()
        await run(database, Folders(Path(folder), Path(folder)), UUID(export_id))
        report(started)


def report(started: float) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(used, time.perf_counter() - started)


async def bare_copy(dsn: str, folder: str) -> None:
    """The floor of CSV: one COPY of the same rows."""
    connection = await asyncpg.connect(dsn)
    started = time.perf_counter()
    await connection.copy_from_query(ROWS, output=f"{folder}/bare.csv", format="csv", header=True)
    report(started)
    await connection.close()


async def bare_pyarrow(dsn: str, folder: str) -> None:
    """The floor of Parquet: a cursor over the same rows, and pyarrow's writer."""
    import pyarrow as pa  # noqa: PLC0415 - a peer, not a part
    import pyarrow.parquet as pq  # noqa: PLC0415 - see above

    connection = await asyncpg.connect(dsn)
    started = time.perf_counter()
    writer = None
    async with connection.transaction():
        cursor = await connection.cursor(ROWS)
        while rows := await cursor.fetch(BATCH):
            names = list(rows[0].keys())
            table = pa.table({name: [row[name] for row in rows] for name in names})
            schema = pa.schema(
                # A column without a value in this batch is one of times.
                pa.field(each.name, pa.timestamp("us", "UTC"))
                if pa.types.is_null(each.type)
                else each
                for each in table.schema
            )
            writer = writer or pq.ParquetWriter(
                f"{folder}/bare.parquet", schema, compression="zstd"
            )
            writer.write_table(table.cast(schema))
    assert writer is not None
    writer.close()
    report(started)
    await connection.close()


async def bars(dsn: str, records: int, pages: int) -> list[Bar]:
    found: list[Bar] = []
    with tempfile.TemporaryDirectory() as folder:
        async with Database(dsn) as database:
            per_page = max(records // pages, 1)
            await seed(database, pages=pages, records=per_page, prices=1)
            for table in ("records", "pages", "crawl_tasks", "page_snapshots", "products"):
                await database.fetch(f"ANALYZE messor.{table}")
            for name, bare in (("csv", "copy"), ("parquet", "pyarrow")):
                floor = await spend(f"--bare-{bare}", dsn, folder)
                ours = await spend(
                    "--one", dsn, str(await begin(database, "records", name)), folder
                )
                ratio = ours.seconds / floor.seconds
                say(f"{name}: {ours.seconds:.1f} s, bare {bare} {floor.seconds:.1f} s")
                is_good = ours.code == 0 and ratio <= OVER_BARE
                found.append((f"{name} over bare {bare}", ratio, "<= 2", is_good))
            for noun in ("records", "pages"):
                for name in [each for each, made in FORMATS.items() if made.nouns is None]:
                    cost = await spend("--one", dsn, str(await begin(database, noun, name)), folder)
                    say(f"{noun} to {name}: {cost.seconds:.1f} s, {cost.rss} MB")
                    is_good = cost.code == 0 and cost.rss <= MAX_RSS
                    found.append((f"MB for {noun} to {name}", cost.rss, "<= 250", is_good))
            found.append(await killed(database, dsn, folder, "csv"))
            found.append(await killed(database, dsn, folder, "parquet"))
    return found


async def killed(database: Database, dsn: str, folder: str, name: str) -> Bar:
    """Kill exports of products at random moments until so many kills hit; the result must be the same bytes."""
    whole = await begin(database, "products", name)
    usual = await spend("--one", dsn, str(whole), folder)
    expected = digest(Path(folder), whole)
    chance = random.Random(7)
    hits = same = tries = 0
    while hits < KILLS:
        export_id = await begin(database, "products", name)
        for _ in range(4):
            moment = chance.uniform(0.3, usual.seconds)
            cost = await spend("--one", dsn, str(export_id), folder, kill_after=moment)
            hits += cost.code != 0
            if cost.code == 0:
                break
        else:
            await spend("--one", dsn, str(export_id), folder)
        tries += 1
        same += digest(Path(folder), export_id) == expected
        for path in Path(folder).glob(f"{export_id}*"):  # noqa: ASYNC240 - between measurements
            path.unlink()
        say(f"{name}: {hits} kills")
    return (f"{name} files identical after {hits} kills", same, f"= {tries}", same == tries > 0)


def digest(folder: Path, export_id: UUID) -> str:
    (path,) = folder.glob(f"{export_id}.*")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def say(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--one", nargs=3, metavar=("DSN", "ID", "FOLDER"))
    parser.add_argument("--bare-copy", nargs=2)
    parser.add_argument("--bare-pyarrow", nargs=2)
    given = parser.parse_args()
    for words, work in (
        (given.one, export), (given.bare_copy, bare_copy), (given.bare_pyarrow, bare_pyarrow),
    ):  # fmt: skip
        if words:
            asyncio.run(work(*words))
            return
    with embedded_postgres() as (dsn, _), own_database(dsn) as own:
        judged = judge(asyncio.run(bars(own, given.records, given.pages)))
    sys.exit(0 if judged else 1)


if __name__ == "__main__":
    main()
