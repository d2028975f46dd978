"""`messor rehearse`: run search-led discovery on simulated webs and check the results."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import click

from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import MessorError, UsageError
from messor.extraction.reader_pool import ReaderPool
from messor.insight import ranks, visibility
from messor.settings import AllowedNetworks, EngineOptions, Settings
from messor.store.database import Database
from messor.store.dsn import with_database
from messor.store.session import Session, embedded_server
from messor.verticals import files
from messor.verticals.verticals import Applied
from simweb import World, WorldProcess
from simweb.commands.errors import as_messor_errors
from simweb.commands.rehearsal import LATER, Rehearsal, later
from simweb.commands.rehearsal_checks import Check, pooled
from simweb.commands.rehearsal_findings import Findings
from simweb.truth import Truth

ENGINE = "serper"
CONNECTIONS = 10
# The database is temporary and need not survive a crash.
NO_SYNC = "ALTER DATABASE {} SET synchronous_commit = off"
MAX_MOVERS = 3

FIGURES = (
    "keywords", "searches", "candidates_created", "domains_approved", "domains_rejected", "pages",
    "records", "candidates_approved", "levels_changed",
)  # fmt: skip
LATER_FIGURES = ("searches", "pages", "levels_changed")


@dataclass(slots=True)
class Rehearsed:
    """Results of one vertical."""

    vertical: str
    figures: dict[str, int] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    cadence: list[dict[str, Any]] = field(default_factory=list)
    movers: list[dict[str, Any]] = field(default_factory=list)
    losses: dict[str, Any] | None = None  # of the domain that lost most
    seconds: float = 0.0


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=7,
    show_default=True,
    help="Seed of the simulated webs.",
)
@json_option
def rehearse(names: tuple[str, ...], seed: int, as_json: bool) -> None:
    """Rehearse shipped verticals (all by default) on simulated webs with known ground truth.

    Runs keywords, searches, candidates, review, crawl, records, visibility, scores and cadence
    twice, a simulated week apart, in a temporary folder and without any request beyond this
    machine. Exits with 1 when a check fails.

    \b
    Example:
      messor rehearse wellness
      messor rehearse --seed 11 --json
    """
    unknown = sorted(set(names) - set(files.SHIPPED))
    if unknown:
        raise UsageError(
            f"There is no vertical {unknown[0]!r} to rehearse; available: {files.all_shipped()}."
        )
    with as_messor_errors():
        done = run(_rehearse(list(dict.fromkeys(names)) or list(files.SHIPPED), seed))
    together = pooled(check for one in done for check in one.checks)
    exact = [check for one in done for check in one.checks if not check.of]
    broken = sum(not check.passed for check in (*together, *exact))
    if as_json:
        print_json(
            {
                "seed": seed,
                "passed": not broken,
                "together": [asdict(check) for check in together],
                "verticals": [asdict(one) for one in done],
            }
        )
    else:
        _show(done, together)
    if broken:
        raise MessorError(f"{broken} checks failed.")
    say(
        f"All {len(together) + len(exact)} checks passed; "
        "shares are checked over all verticals together."
    )


async def _rehearse(names: list[str], seed: int) -> list[Rehearsed]:
    done = []
    with tempfile.TemporaryDirectory(prefix="messor-rehearsal-") as folder:
        async with _temporary_server(Path(folder)) as server, _readers() as readers:
            for name in names:
                started = time.monotonic()
                one = await _one(server, readers, name, seed)
                one.seconds = round(time.monotonic() - started, 1)
                done.append(one)
    return done


@dataclass(frozen=True, slots=True)
class _TemporaryServer:
    """A temporary PostgreSQL with an empty database to copy for each vertical."""

    folder: Path
    dsn: str

    @asynccontextmanager
    async def open(self, name: str) -> AsyncIterator[Session]:
        copy = f"rehearsal_{name}"
        async with Database(with_database(self.dsn, "postgres"), pool_size=1) as admin:
            await admin.fetch(f"CREATE DATABASE {copy} TEMPLATE messor")
            await admin.fetch(NO_SYNC.format(copy))
        async with Database(with_database(self.dsn, copy), pool_size=CONNECTIONS) as database:
            yield Session(database, None)


@asynccontextmanager
async def _temporary_server(folder: Path) -> AsyncIterator[_TemporaryServer]:
    say("Creating a PostgreSQL server in a temporary folder.")
    server = embedded_server(Settings(data_dir=folder, database_url=None))
    dsn = await asyncio.to_thread(server.acquire)
    try:
        from messor.store import migrate  # noqa: PLC0415 - slow to load

        await asyncio.to_thread(migrate.upgrade, dsn)
        yield _TemporaryServer(folder, dsn)
    finally:
        await asyncio.to_thread(server.release)


@asynccontextmanager
async def _readers() -> AsyncIterator[ReaderPool]:
    readers = ReaderPool()
    try:
        yield readers
    finally:
        await readers.close()


async def _one(server: _TemporaryServer, readers: ReaderPool, name: str, seed: int) -> Rehearsed:
    truth = Truth(World("market", seed, market=name))
    with WorldProcess("market", seed, market=name, engines=(ENGINE,)) as world:
        settings = _settings(server.folder / name, world)
        async with server.open(name) as session:
            return await _two_epochs(settings, session, readers, world, truth)


def _settings(folder: Path, world: WorldProcess) -> Settings:
    """Settings that ignore engines, services and models configured on this machine."""
    engines = {
        name: EngineOptions.model_validate(options)
        for name, options in world.search_engines.items()
    }
    settings = Settings(
        data_dir=folder,
        database_url=None,
        broker_url=None,
        default_delay=0.02,
        total_timeout=3,
        connect_timeout=2,
        contact="https://example.invalid/rehearsal",
        browser="off",
        ai_url=None,
        crawl4ai_url=None,
        firecrawl_key=None,
        ca_file=None,
    )
    networks = AllowedNetworks(addresses=["127.0.0.0/8"], ports=world.ports, names=world.names)
    # Passed as arguments, these tables would be merged with those of the environment.
    return settings.model_copy(update={"allowed_networks": networks, "search_engines": engines})


async def _two_epochs(
    settings: Settings, session: Session, readers: ReaderPool, world: WorldProcess, truth: Truth
) -> Rehearsed:
    done = Rehearsed(truth.market)
    report = partial(_report, truth.market)
    first = Rehearsal(settings, session, readers, truth, report)
    applied = await first.prepare()
    await first.run_cycle(applied)
    await first.score(applied)
    done.figures = first.figures
    await _check_first(done, Findings(session.database, applied, truth), session.database, world)
    report("a week later")
    await asyncio.to_thread(world.set_epoch, 1)
    async with later(session, LATER) as ahead:
        second = Rehearsal(settings, ahead, readers, truth, report)
        since = await ahead.database.fetchval(visibility.NOW)
        await second.run_cycle(applied)
        findings = Findings(ahead.database, applied, truth)
        done.cadence, in_step = await findings.cadence(since)
        done.checks.append(in_step)
        await second.score(applied)
        done.figures |= {f"{name}_later": second.figures[name] for name in LATER_FIGURES}
        await _check_second(done, findings, ahead.database, applied)
    return done


async def _check_first(
    done: Rehearsed, findings: Findings, database: Database, world: WorldProcess
) -> None:
    window = await visibility.last_window(database)
    done.checks += await findings.discovery(window, 0)
    done.checks.append(await findings.classes())
    done.checks += await findings.reading(await asyncio.to_thread(world.requests))
    done.checks += await findings.visibility(window, 0)


async def _check_second(
    done: Rehearsed, findings: Findings, database: Database, applied: Applied
) -> None:
    """Check visibility and movers; report the ranks lost by the domain that lost most."""
    window = await visibility.last_window(database)
    done.checks += await findings.visibility(window, 1)
    done.checks.append(await findings.movers(window, 1))
    moved = await visibility.movers(database, applied, window, limit=1000)
    done.movers = [{"domain": one.domain, "change": one.change} for one in moved[:MAX_MOVERS]]
    lost = min(moved, key=lambda one: one.change, default=None)
    if lost is not None and lost.change < 0:
        lost_ranks = await ranks.losses(database, applied, window, lost.domain)
        done.losses = {"domain": lost.domain, "places": len(lost_ranks)}


def _report(vertical: str, text: str) -> None:
    say(f"{vertical}: {text}")


def _show(done: Sequence[Rehearsed], together: Sequence[Check]) -> None:
    heads = [name.replace("_", " ") for name in FIGURES]
    rows = [[one.vertical, *(one.figures.get(name, 0) for name in FIGURES)] for one in done]
    print_table(
        ["vertical", *heads, "seconds"], [[*r, o.seconds] for r, o in zip(rows, done, strict=True)]
    )
    emit("")
    checks = [(one.vertical, check) for one in done for check in one.checks]
    checks += [("all", check) for check in together]
    table = [
        (name, c.name, f"{c.value:.4g}", f"{c.bar:g}", "yes" if c.passed else "NO", c.said)
        for name, c in checks
    ]
    print_table(("vertical", "check", "value", "threshold", "passed", "failures"), table)
    emit("")
    levels = [
        (one.vertical, r["level"], r["domains"], r["pages"], f"{r['days']:.1f}")
        for one in done
        for r in one.cadence
    ]
    print_table(("vertical", "level", "domains", "pages", "days to next crawl"), levels)
    emit("")
    moves = [(one.vertical, m["domain"], f"{m['change']:+.4f}") for one in done for m in one.movers]
    print_table(("vertical", "top mover of the week", "visibility"), moves)
