"""`python -m chaos.run`: plays the scenarios and says what came of them.

Progress goes to stderr, the table (or JSON) to stdout; the exit code is 1 when a check failed.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from dataclasses import asdict, replace
from typing import Any

import click

from chaos.scenarios import Report, play
from chaos.stage import Plan
from messor.cli.output import json_option, print_json, print_table
from messor.core.terminal import say

FULL = {
    "politeness": Plan("politeness", 0, hosts=300, workers=3, kills=20, stalls=5),
    "postgres": Plan("postgres", 0, hosts=200, workers=2, crashes=20),
    "kills": Plan("kills", 0, hosts=145, workers=4, kills=100, seconds=900.0),
    "clocks": Plan("clocks", 0, hosts=60, workers=4, kills=8, stalls=2, skew=3600.0),
    "cuts": Plan("cuts", 0, hosts=100, workers=3, kills=2, cuts=4),
    "steps": Plan("steps", 0, hosts=8, workers=2, steps=2, pages=900, delay=0.1, lease=30.0),
    "addresses": Plan(
        "addresses",
        0,
        hosts=36,
        workers=3,
        kills=8,
        addresses=3,
        refusing=True,
        concurrency=8,
        visit=8.0,
        delay=1.0,
    ),
}
QUICK = {
    "politeness": replace(FULL["politeness"], hosts=20, kills=3, stalls=1, seconds=120.0),
    "postgres": replace(FULL["postgres"], hosts=20, crashes=3, seconds=120.0),
    "kills": replace(FULL["kills"], hosts=20, kills=12, seconds=240.0),
    "clocks": replace(FULL["clocks"], hosts=16, kills=3, stalls=1, seconds=120.0),
    "cuts": replace(FULL["cuts"], hosts=16, kills=1, cuts=1, seconds=120.0),
    "steps": replace(FULL["steps"], hosts=4, steps=1, pages=500, seconds=240.0),
    "addresses": replace(FULL["addresses"], hosts=18, kills=3, pages=8, seconds=240.0),
}


@click.command()
@click.option("--scenario", type=click.Choice([*FULL, "all"]), default="all", show_default=True)
@click.option("--seed", default=7, show_default=True, help="Of the web and of the harm.")
@click.option("--runs", default=1, show_default=True, help="With as many seeds, one after another.")
@click.option("--quick", is_flag=True, help="A small web and a few faults, for development.")
@click.option("--hosts", type=click.IntRange(1), help="Another number of hosts.")
@click.option("--verbose", is_flag=True, help="Show what the workers wrote.")
@json_option
def main(
    *,
    scenario: str,
    seed: int,
    runs: int,
    quick: bool,
    hosts: int | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Crawl a simulated web under kills, stalls and crashes, and check what the server saw."""
    # A pool whose server is killed on purpose need not report it.
    logging.getLogger("asyncpg").setLevel(logging.CRITICAL)
    plans = QUICK if quick else FULL
    reports = []
    names = plans if scenario == "all" else [scenario]
    for name, number in [(name, number) for number in range(runs) for name in names]:
        plan = replace(plans[name], seed=seed + number)
        report = asyncio.run(_play(replace(plan, hosts=hosts) if hosts else plan))
        reports.append(report)
        if verbose or not report.ok:
            say(report.said)
        if not as_json:
            _print(report)
    if as_json:
        print_json([_plain(report) for report in reports])
    sys.exit(0 if all(report.ok for report in reports) else 1)


async def _play(plan: Plan) -> Report:
    """As Ctrl-C does, SIGTERM and a closed terminal end the run through all its clean-up."""
    playing = asyncio.current_task()
    assert playing is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, playing.cancel)
    return await play(plan)


def _print(report: Report) -> None:
    plan = report.plan
    figures = ", ".join(f"{count} {name}" for name, count in report.figures.items())
    click.echo(f"\n{plan.name}, seed {plan.seed}: {report.seconds} s; {figures}\n")
    rows = [
        (check.name, check.found, check.bound, "ok" if check.ok else "FAILED", check.detail)
        for check in report.checks
    ]
    print_table(("check", "found", "bound", "verdict", "examples"), rows)


def _plain(report: Report) -> dict[str, Any]:
    return {
        "scenario": report.plan.name,
        "ok": report.ok,
        "seconds": report.seconds,
        "plan": asdict(report.plan),
        "figures": report.figures,
        "checks": [asdict(check) for check in report.checks],
    }


if __name__ == "__main__":
    main()
