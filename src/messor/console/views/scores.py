"""Scores: parts, history, weight simulation and calibration against reviewers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import charts, discovery_labels
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.charts import Axis, Bars, Curves
from messor.console.screens import get, post
from messor.errors import ConflictError, UsageError
from messor.insight import calibration, judge_weights, reweigh, score_queries, scoring
from messor.insight.score_queries import BINS, SCORES, Bin, LevelCount, PastScore
from messor.insight.scores import LEVELS as THRESHOLDS
from messor.insight.scoring import Simulated
from messor.verticals.model import SCORE_PARTS
from messor.verticals.verticals import Applied

LEVELS = tuple(level for level, _ in THRESHOLDS)
MAX_CHANGES = 200


async def show_all(call: ConsoleRequest) -> Response:
    """The latest scoring: levels, crawl frequency and the parts of each score."""
    applied, values = await discovery_labels.about(call)
    listed = await discovery_labels.listed(call, SCORES, "/scores", values["known"])
    values["listed"] = listed
    if applied is not None:
        database, subject = call.context.database, listed.filters.subject
        summary = await score_queries.summary(database, applied, subject)
        values |= {"summary": summary, "cadence": cadence_of(applied, summary), "subject": subject}
    return await call.page("scores/list.html", **values)


async def show(call: ConsoleRequest) -> Response:
    """One subject: the parts of its newest score, and its scores over time."""
    applied, values = await discovery_labels.about(call)
    key = discovery_labels.uuid_of(call.part("subject_id"), "domain or organisation with a score")
    if applied is None:
        return await call.page("scores/subject.html", **values)
    given = await score_queries.over_time(call.context.database, applied, key)
    return await call.page(
        "scores/subject.html",
        newest=given[-1],
        given=given,
        chart=score_chart(given),
        thresholds=dict(THRESHOLDS),
        **values,
    )


async def simulate(call: ConsoleRequest) -> Response:
    """Simulate other weights; nothing is saved."""
    applied, values = await discovery_labels.about(call)
    if applied is None:
        return await call.page("scores/simulate.html", **values)
    current_weights = dict(applied.vertical.scoring.weights)
    values |= {
        "current_weights": current_weights,
        "weights": current_weights,
        "wrong": None,
        "simulation": None,
    }
    if any(call.query(part) for part in SCORE_PARTS):
        values |= await _simulated(call, applied, current_weights)
    return await call.page("scores/simulate.html", parts=SCORE_PARTS, **values)


async def show_calibration(call: ConsoleRequest) -> Response:
    """Judges and scores compared with reviewer decisions."""
    applied, values = await discovery_labels.about(call)
    if applied is None:
        return await call.page("scores/calibration.html", **values)
    database = call.context.database
    bins = await score_queries.reliability(database, applied)
    return await call.page(
        "scores/calibration.html",
        rows=await calibration.calibrate(database, applied),
        suggested=await judge_weights.suggest(database, applied),
        chart=reliability_chart(bins) if bins else None,
        **values,
    )


async def apply(call: ConsoleRequest) -> Response:
    """Score now; new weights are first published as the vertical's next version."""
    name, form = call.form.text("vertical")[:63], call.form
    given = {part: form.decimal(part, discovery_labels.PARTS[part][0]) for part in SCORE_PARTS}
    weights = {part: weight for part, weight in given.items() if weight is not None}
    try:
        async with call.context.database.transaction() as connection:
            applied, done = await reweigh.apply(
                connection,
                name,
                weights,
                actor=call.actor,
                seen=form.whole("version", "Version"),
            )
    except (ConflictError, UsageError) as error:
        return call.go(
            with_query("/scores/simulate", vertical=name, **weights), str(error), "danger"
        )
    message = (
        f"{done.domains} domains and {done.organisations} organisations were scored with version "
        f"{applied.vertical.version}; {done.levels_changed} track levels changed."
    )
    return call.go(with_query("/scores", vertical=name), message)


async def apply_judges(call: ConsoleRequest) -> Response:
    """Publish the judge weights that decisions suggest."""
    name = call.form.text("vertical")[:63]
    place = with_query("/scores/calibration", vertical=name)
    try:
        async with call.context.database.transaction() as connection:
            applied, found = await judge_weights.apply(
                connection, name, actor=call.actor, seen=call.form.whole("version", "Version")
            )
    except (ConflictError, UsageError) as error:
        return call.go(place, str(error), "danger")
    return call.go(place, f"Version {applied.vertical.version} has these weights. {found.sentence}")


async def _simulated(
    call: ConsoleRequest, applied: Applied, current_weights: dict[str, float]
) -> dict[str, Any]:
    try:
        weights = {**current_weights, **_weights(call)}
        async with call.context.database.transaction() as connection:
            found = await scoring.simulate(connection, applied, weights)
    except UsageError as error:
        return {"wrong": str(error)}
    return {
        "weights": weights,
        "simulation": found,
        "moves": moves_of(found.rows),
        "levels": LEVELS,
        "changed": found.changed[:MAX_CHANGES],
        "most": MAX_CHANGES,
    }


def _weights(call: ConsoleRequest) -> dict[str, float]:
    given: dict[str, float] = {}
    for part in SCORE_PARTS:
        typed = call.query(part).strip()
        try:
            if typed:
                given[part] = float(typed[:50])
        except ValueError:
            label = discovery_labels.PARTS[part][0]
            raise UsageError(f"{label}: {typed[:50]!r} is not a number.") from None
    return given


def cadence_of(
    applied: Applied, summary: Sequence[LevelCount]
) -> list[tuple[str, str, int, int, float]]:
    """For each level: crawl frequency, subjects, pages and crawls per day."""
    known = {one.level: one for one in summary}
    cadence = {str(level): every for level, every in applied.vertical.cadence.items()}
    return [
        (
            level,
            cadence[level],
            known[level].count if level in known else 0,
            pages := known[level].pages if level in known else 0,
            score_queries.looks_per_day(applied, level, pages),
        )
        for level in LEVELS
    ]


def moves_of(rows: Sequence[Simulated]) -> dict[tuple[str | None, str | None], int]:
    """Number of domains per level transition."""
    return dict(Counter((row.level_now, row.level_then) for row in rows))


def score_chart(given: Sequence[PastScore]) -> Curves:
    values = [one.score for one in given]
    labels = [f"{one.scored_at:%d %b %Y}" for one in given]
    summary = f"Current score {values[-1]:.2f}, range {min(values):.2f} to {max(values):.2f}"
    return charts.curves({"score": values}, labels, Axis(1.0, 0.0, "1", "0"), summary)


def reliability_chart(bins: Sequence[Bin]) -> Bars:
    """Approved and rejected candidates by confidence, in steps of 0.1."""
    by_bin = {one.bin: one for one in bins}
    columns = []
    for place in range(BINS):
        one = by_bin.get(place, Bin(place, 0, 0))
        counts = {"approved": one.approved, "rejected": one.decided - one.approved}
        columns.append((f"confidence {place / BINS:.1f} to {(place + 1) / BINS:.1f}", counts))
    decided, right = sum(one.decided for one in bins), sum(one.approved for one in bins)
    summary = f"{right} of {decided} reviewed candidates were approved, by confidence"
    return charts.bars(columns, {"approved": "green", "rejected": "red"}, summary)


SCREENS = (
    get("/scores", Act.READ, show_all),
    get("/scores/simulate", Act.READ, simulate),
    get("/scores/calibration", Act.READ, show_calibration),
    post("/scores/calibration", Act.DOMAINS_CONFIGURE, apply_judges),
    post("/scores", Act.DOMAINS_CONFIGURE, apply),
    get("/scores/{subject_id}", Act.READ, show),
)
