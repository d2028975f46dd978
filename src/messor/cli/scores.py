"""`messor scores`: scores of domains and organisations, simulation and calibration."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from messor.cli.listing import list_options, show_list
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.errors import UsageError
from messor.insight import calibration, judge_weights, scoring
from messor.insight.calibration import Calibrated
from messor.insight.judge_weights import SuggestedWeights
from messor.insight.score_queries import SCORES, ListedScore
from messor.insight.scoring import Applying, Simulation
from messor.store.database import Connection, Database
from messor.verticals import verticals


@click.group()
def scores() -> None:
    """Show scores, simulate other weights, and assign track levels.

    \b
    Example:
      messor scores show example.org
      messor scores simulate wellness --weight visibility=0.6
      messor scores apply wellness
    """


@scores.command(name="list")
@list_options(SCORES)
def list_scores(**given: Any) -> None:
    """List the scores of the last scoring, highest first.

    \b
    Example:
      messor scores list --vertical wellness --level A
      messor scores list --subject organisation
    """
    head = ("vertical", "name", "score", "level", "pages", "scored")
    empty = "No matching scores. Score a vertical: messor scores apply VERTICAL"
    show_list(SCORES, given, head, _row, empty=empty)


def _row(one: ListedScore) -> tuple[Any, ...]:
    score = _figure(one.score)
    return (one.vertical, one.name, score, one.track_level, one.pages, one.scored_at)


@scores.command()
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show the scores of a domain or organisation, with their parts.

    \b
    Example:
      messor scores show example.org --json
    """
    found = run(with_database(lambda database: scoring.show(database, name)))
    if as_json:
        print_json(found)
        return
    for one in found:
        emit(
            f"{one['vertical']}: {one['score']:.3f}, track level {one['track_level']},"
            f" {one['scored_at']:%Y-%m-%d}"
        )
        table = [
            (p["name"], _figure(p["value"]), p["weight"], f"{p['contribution']:.3f}", p["sentence"])
            for p in one["parts"]
        ]
        print_table(("part", "value", "weight", "contribution", "reason"), table)


@scores.command()
@click.argument("vertical")
@click.option(
    "--weight", "weights", multiple=True, help="Weight to simulate, as PART=NUMBER; repeatable."
)
@json_option
def simulate(vertical: str, weights: tuple[str, ...], as_json: bool) -> None:
    """Show what other weights would change; nothing is saved.

    \b
    Example:
      messor scores simulate wellness --weight visibility=0.6 --weight cost=0
    """
    given = dict(_weight(text) for text in weights)

    async def act(connection: Connection) -> Simulation:
        return await scoring.simulate(connection, await verticals.get(connection, vertical), given)

    found = run(transact(act))
    if as_json:
        print_json({**asdict(found), "changed": len(found.changed)})
        return
    table = [
        (o.domain, o.level_now, o.level_then, _figure(o.score_now), _figure(o.score_then))
        for o in found.rows
    ]
    print_table(("domain", "level", "new level", "score", "new score"), table)
    say(
        f"{len(found.changed)} of {len(found.rows)} levels would change;"
        f" crawls per day would change from {found.looks_per_day_now:.1f}"
        f" to {found.looks_per_day_then:.1f}."
    )


@scores.command()
@click.argument("vertical")
@json_option
def apply(vertical: str, as_json: bool) -> None:
    """Score a vertical now and assign track levels to its domains.

    \b
    Example:
      messor scores apply wellness
    """

    async def act(connection: Connection) -> Applying:
        applied = await verticals.get(connection, vertical)
        return await scoring.apply(connection, applied, actor=LOCAL_ADMIN)

    done = run(transact(act))
    if as_json:
        print_json(done)
    say(
        f"{done.domains} domains and {done.organisations} organisations were scored;"
        f" {done.levels_changed} track levels changed, {done.unknown} domains have no data yet."
    )


@scores.command()
@click.argument("vertical")
@json_option
def calibrate(vertical: str, as_json: bool) -> None:
    """Compare judges and scores with reviewers' decisions.

    \b
    Example:
      messor scores calibrate funding
    """

    async def act(database: Database) -> list[Calibrated]:
        return await calibration.calibrate(database, await verticals.get(database, vertical))

    found = run(with_database(act))
    if as_json:
        print_json([asdict(one) for one in found])
        return
    table = [
        (
            one.what,
            one.decisions,
            _figure(one.precision),
            _figure(one.recall),
            _figure(one.brier),
            one.sentence,
        )
        for one in found
    ]
    print_table(("judge", "decisions", "precision", "recall", "brier", "suggestion"), table)
    if not found:
        say("There are no reviewers' decisions yet.")


@scores.command(name="judges")
@click.argument("vertical")
@click.option("--apply", "is_applied", is_flag=True, help="Publish them as the next version.")
@json_option
def judge_weights_of(vertical: str, is_applied: bool, as_json: bool) -> None:
    """Suggest judge weights from reviewers' decisions, with their error rates.

    The error rates are measured on decisions held out of the fit. With --apply the weights
    become the vertical's next version, if they did better than the current ones.

    \b
    Example:
      messor scores judges funding
      messor scores judges funding --apply
    """

    async def act(connection: Connection) -> SuggestedWeights:
        if is_applied:
            _, found = await judge_weights.apply(connection, vertical, actor=LOCAL_ADMIN)
            return found
        return await judge_weights.suggest(connection, await verticals.get(connection, vertical))

    found = run(transact(act))
    if as_json:
        print_json(asdict(found))
        return
    table = [
        (judge, found.weights_now[judge], found.weights_then[judge])
        for judge in sorted(found.weights_now)
    ]
    print_table(("judge", "weight", "suggested"), table)
    say(found.sentence)
    if is_applied:
        say(f"Version {found.version + 1} of {vertical} has these weights.")


def _weight(text: str) -> tuple[str, float]:
    name, equals, number = text.partition("=")
    try:
        return name.strip(), float(number if equals else "")
    except ValueError:
        raise UsageError(f"--weight {text!r} is not of the form PART=NUMBER.") from None


def _figure(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"
