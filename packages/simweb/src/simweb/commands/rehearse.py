"""`messor rehearse`: the loop of search-led discovery on simulated webs, held against their truth."""

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
from messor.store import migrate
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
# What is thrown away outlives no crash anyway.
IN_A_HURRY = "ALTER DATABASE {} SET synchronous_commit = off"
MOVERS_SHOWN = 3

FIGURES = (
    "keywords", "searches", "candidates_created", "domains_approved", "domains_rejected", "pages",
    "records", "candidates_approved", "levels_changed",
)  # fmt: skip
LATER_FIGURES = ("searches", "pages", "levels_changed")


@dataclass(slots=True)
class Rehearsed:
    """What came of one vertical."""

    vertical: str
    figures: dict[str, int] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    cadence: list[dict[str, Any]] = field(default_factory=list)
    movers: list[dict[str, Any]] = field(default_factory=list)
    losses: dict[str, Any] | None = None  # of whoever lost most
    seconds: float = 0.0


@click.command()
@click.argument("names", nargs=-1)
@click.option("--seed", type=click.IntRange(0), default=7, show_default=True, help="Of the webs.")
@json_option
def rehearse(names: tuple[str, ...], seed: int, as_json: bool) -> None:
    """Rehearse verticals, all that ship if none is named, on simulated webs whose truth is known.

    Keywords, searches, candidates, review, crawl, records, visibility, scores and cadence, twice, a
    week apart; in a throw-away folder, without any request beyond this machine. Exit code 1 tells
    that something fell short of its bar.

    \b
    Example:
      messor rehearse wellness
      messor rehearse --seed 11 --json
    """
    unknown = sorted(set(names) - set(files.SHIPPED))
    if unknown:
        raise UsageError(f"{unknown[0]!r} cannot be rehearsed; there are {files.all_shipped()}.")
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
        raise MessorError(f"{broken} checks fell short of their bars.")
    say(
        f"All {len(together) + len(exact)} checks passed; shares count over all verticals together."
    )


async def _rehearse(names: list[str], seed: int) -> list[Rehearsed]:
    done = []
    with tempfile.TemporaryDirectory(prefix="messor-rehearsal-") as folder:
        async with _stage(Path(folder)) as stage, _readers() as readers:
            for name in names:
                started = time.monotonic()
                one = await _one(stage, readers, name, seed)
                one.seconds = round(time.monotonic() - started, 1)
                done.append(one)
    return done


@dataclass(frozen=True, slots=True)
class _Stage:
    """A PostgreSQL that is thrown away, with an empty database to copy for each vertical."""

    folder: Path
    dsn: str

    @asynccontextmanager
    async def open(self, name: str) -> AsyncIterator[Session]:
        copy = f"rehearsal_{name}"
        async with Database(with_database(self.dsn, "postgres"), pool_size=1) as keeper:
            await keeper.fetch(f"CREATE DATABASE {copy} TEMPLATE messor")
            await keeper.fetch(IN_A_HURRY.format(copy))
        async with Database(with_database(self.dsn, copy), pool_size=CONNECTIONS) as database:
            yield Session(database, None)


@asynccontextmanager
async def _stage(folder: Path) -> AsyncIterator[_Stage]:
    say("A PostgreSQL is made in a throw-away folder.")
    server = embedded_server(Settings(data_dir=folder, database_url=None))
    dsn = await asyncio.to_thread(server.acquire)
    try:
        await asyncio.to_thread(migrate.upgrade, dsn)
        yield _Stage(folder, dsn)
    finally:
        await asyncio.to_thread(server.release)


@asynccontextmanager
async def _readers() -> AsyncIterator[ReaderPool]:
    readers = ReaderPool()
    try:
        yield readers
    finally:
        await readers.close()


async def _one(stage: _Stage, readers: ReaderPool, name: str, seed: int) -> Rehearsed:
    truth = Truth(World("market", seed, market=name))
    with WorldProcess("market", seed, market=name, engines=(ENGINE,)) as world:
        settings = _settings(stage.folder / name, world)
        async with stage.open(name) as session:
            return await _two_epochs(settings, session, readers, world, truth)


def _settings(folder: Path, world: WorldProcess) -> Settings:
    """Whatever else is configured here takes no part: neither engines nor services nor a model."""
    engines = {
        name: EngineOptions.model_validate(options)
        for name, options in world.search_engines.items()
    }
    usual = Settings(
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
    # Tables would be joined with those of the environment.
    return usual.model_copy(update={"allowed_networks": networks, "search_engines": engines})


async def _two_epochs(
    settings: Settings, session: Session, readers: ReaderPool, world: WorldProcess, truth: Truth
) -> Rehearsed:
    done = Rehearsed(truth.market)
    tell = partial(_tell, truth.market)
    first = Rehearsal(settings, session, readers, truth, tell)
    applied = await first.prepare()
    await first.go_round(applied)
    await first.score(applied)
    done.figures = first.figures
    await _check_first(done, Findings(session.database, applied, truth), session.database, world)
    tell("a week later")
    await asyncio.to_thread(world.set_epoch, 1)
    async with later(session, LATER) as ahead:
        second = Rehearsal(settings, ahead, readers, truth, tell)
        since = await ahead.database.fetchval(visibility.NOW)
        await second.go_round(applied)
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
    """What moved since; whoever lost most is told with the places it lost."""
    window = await visibility.last_window(database)
    done.checks += await findings.visibility(window, 1)
    done.checks.append(await findings.movers(window, 1))
    moved = await visibility.movers(database, applied, window, limit=1000)
    done.movers = [{"domain": one.domain, "change": one.change} for one in moved[:MOVERS_SHOWN]]
    lost = min(moved, key=lambda one: one.change, default=None)
    if lost is not None and lost.change < 0:
        places = await ranks.losses(database, applied, window, lost.domain)
        done.losses = {"domain": lost.domain, "places": len(places)}


def _tell(vertical: str, text: str) -> None:
    say(f"{vertical}: {text}")


def _show(done: Sequence[Rehearsed], together: Sequence[Check]) -> None:
    heads = [name.replace("_", " ") for name in FIGURES]
    rows = [[one.vertical, *(one.figures.get(name, 0) for name in FIGURES)] for one in done]
    print_table(
        ["vertical", *heads, "seconds"], [[*r, o.seconds] for r, o in zip(rows, done, strict=True)]
    )
    emit("")
    judged = [(one.vertical, check) for one in done for check in one.checks]
    judged += [("all together", check) for check in together]
    table = [
        (name, c.name, f"{c.value:.4g}", f"{c.bar:g}", "yes" if c.passed else "NO", c.said)
        for name, c in judged
    ]
    print_table(("vertical", "check", "value", "bar", "passed", "not so"), table)
    emit("")
    levels = [
        (one.vertical, r["level"], r["domains"], r["pages"], f"{r['days']:.1f}")
        for one in done
        for r in one.cadence
    ]
    print_table(("vertical", "level", "domains", "pages", "days to the next look"), levels)
    emit("")
    moves = [(one.vertical, m["domain"], f"{m['change']:+.4f}") for one in done for m in one.movers]
    print_table(("vertical", "moved most in a week", "visibility"), moves)
