"""`python -m simweb`: serves a simulated web until it is stopped or its parent ends."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import resource
import signal
import stat
import sys
from pathlib import Path
from typing import Any

import click
import uvloop

from simweb.conditions import Conditions
from simweb.engines import STAND_INS
from simweb.market import MARKETS
from simweb.server import serve
from simweb.world import Profile, World


@click.command()
@click.option("--profile", type=click.Choice([p.value for p in Profile]), default="demo")
@click.option("--seed", type=int, default=7)
@click.option("--hosts", type=click.IntRange(1, 20_000), help="Number of hosts (bench, chaos)")
@click.option("--pages", type=click.IntRange(min=1), help="Pages per host (bench, chaos)")
@click.option("--page-bytes", type=click.IntRange(min=2_000), default=51_000, show_default=True)
@click.option("--market", type=click.Choice(MARKETS), help="Name of the market (market)")
@click.option("--engines", default="", help="Search engines to stand in for, separated by commas")
@click.option("--log", "log_file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--epoch", type=click.IntRange(min=0), default=0)
@click.option("--jitter-ms", type=click.IntRange(min=0), default=0)
@click.option("--tls", is_flag=True, help="Serve HTTPS; the demo does whenever possible")
@click.option("--addresses", type=click.IntRange(min=0), default=0, help="Shared by all hosts")
@click.option(
    "--pause-ms", type=click.IntRange(min=0), default=0, help="Maximum delay before a response"
)
@click.option("--refusing", is_flag=True, help="Some pages return 429 at first")
@click.option("--validators/--no-validators", default=True, help="ETag and Last-Modified")
@click.option(
    "--stalling", type=click.IntRange(min=0), default=0, help="Additional hosts that stall"
)
def main(
    *,
    profile: str,
    seed: int,
    hosts: int | None,
    pages: int | None,
    page_bytes: int,
    log_file: Path | None,
    epoch: int,
    jitter_ms: int,
    tls: bool,
    market: str | None,
    engines: str,
    **conditions: Any,
) -> None:
    may_tls = importlib.util.find_spec("cryptography") is not None
    if tls and not may_tls:
        raise click.UsageError("--tls needs the package cryptography.")
    tls = tls or (may_tls and profile == Profile.DEMO.value)
    _allow_many_connections()
    world = World(
        profile,
        seed,
        hosts=hosts,
        pages=pages,
        page_bytes=page_bytes,
        tls=tls,
        conditions=Conditions(**conditions),
        market=market,
    )
    names = [name for name in engines.split(",") if name]
    unknown = sorted(set(names) - set(STAND_INS))
    if unknown:
        raise click.UsageError(f"There is no stand-in for {unknown[0]}.")
    uvloop.run(_run(world, log_file, epoch, jitter_ms, names))


def _allow_many_connections() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _run(
    world: World, log_file: Path | None, epoch: int, jitter_ms: int, engines: list[str]
) -> None:
    until = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, until.set)
    _watch_stdin(until)
    await serve(
        world,
        until,
        log_file=log_file,
        epoch=epoch,
        jitter_ms=jitter_ms,
        engines=engines,
        announce=_announce,
    )


def _watch_stdin(until: asyncio.Event) -> None:
    """Stop when the parent closes its end of the pipe; a terminal or /dev/null is not a pipe."""
    mode = os.fstat(sys.stdin.fileno()).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return

    def read() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            until.set()

    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), read)


def _announce(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
