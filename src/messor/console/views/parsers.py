"""Parsers: versions, their yields, pins, and trials with their decisions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from starlette.responses import Response

from messor.access.roles import Act
from messor.archive.storage import Archive
from messor.console import charts
from messor.console.addresses import within
from messor.console.call import ConsoleRequest
from messor.console.charts import Bars
from messor.console.listing import list_of
from messor.console.screens import get, post
from messor.console.views.tasks import as_uuid
from messor.errors import ConflictError, MessorError, NotFoundError, UsageError
from messor.extraction import parser_figures, repair, shadow_trials, trial_queries
from messor.extraction.parser_figures import DAYS, Movement
from messor.extraction.trial_queries import TRIALS, TrialFilter
from messor.parsers import pins, trials
from messor.parsers.page_reading import installed_parsers
from messor.parsers.registry import UnknownParserError
from messor.registry import domains
from messor.store.database import Connection

TONES = {"found": "green", "changed": "azure", "lost": "red"}
DECISIONS = {"promote": "promoted", "reject": "rejected", "roll_back": "rolled_back"}
SHOWN_TRIALS = 10
SHADOWED = 1_000  # pages a shadow trial compares
STATES = {
    "shadowing": "azure", "compared": "yellow", "promoted": "green", "rejected": "red",
    "rolled_back": "orange",
}  # fmt: skip


async def show_all(call: ConsoleRequest) -> Response:
    database, parser = call.context.database, call.query("parser").strip()[:100]
    pinned = await pins.listing(database)
    known = installed_parsers()
    everywhere = {pin.parser: pin.version for pin in pinned if pin.domain is None}
    compared = (await TRIALS.read(database, TrialFilter(), limit=SHOWN_TRIALS)).items
    return await call.page(
        "parsers/page.html",
        versions=parser_figures.versions(known, everywhere),
        names=sorted({one.name for one in known}),
        yields={(one.parser, one.version): one for one in await parser_figures.yields(database)},
        newest=parser_figures.NEWEST,
        chart=_by_day(await parser_figures.by_day(database, parser or None), parser),
        losses=await parser_figures.losses(database),
        pins=pinned,
        trials=compared,
        tones=STATES,
        shadowed=SHADOWED,
        parser=parser,
        actors=await call.names(
            {pin.pinned_by for pin in pinned} | {one.started_by for one in compared}
        ),
    )


async def show_trials(call: ConsoleRequest) -> Response:
    listed = await list_of(call, TRIALS, "/parsers/trials")
    return await call.page("parsers/trials.html", listed=listed, trials=listed.items, tones=STATES)


async def show_trial(call: ConsoleRequest) -> Response:
    trial = await trial_queries.get(call.context.database, _trial_id(call))
    return await call.page(
        "parsers/trial.html",
        trial=trial,
        tones=STATES,
        actors=await call.names({trial.started_by, trial.decided_by or ""}),
    )


async def show_repairs(call: ConsoleRequest) -> Response:
    """Proposed locations of values lost on a domain's pages; nothing is applied."""
    domain = await domains.get(call.context.database, call.part("name"))
    archive = Archive.of(call.context.settings)
    found = await repair.propose_repairs(call.context.database, archive, domain.id)
    return await call.page("parsers/repairs.html", domain=domain.domain, proposals=found)


async def decide(call: ConsoleRequest) -> Response:
    """Promote, reject or roll back a candidate; a refusal is shown on the trial page."""
    trial_id, act = _trial_id(call), call.form.text("act")
    here = within(call.form.text("back"), f"/parsers/trials/{trial_id}")
    if act not in DECISIONS:
        raise UsageError(f"The decision must be one of {', '.join(DECISIONS)}.")
    reason = call.form.words("reason")
    if reason is None and act != "promote":
        words = act.replace("_", " ")
        return call.go(here, f"A reason is required to {words}.", "danger")
    try:
        async with call.context.database.transaction() as connection:
            done = await trials.decide(
                connection,
                trial_id,
                DECISIONS[act],
                actor=call.actor,
                reason=reason[:2_000] if reason else None,
            )
    except (ConflictError, UnknownParserError) as error:
        return call.go(here, str(error), "danger")
    message = f"{done} was {DECISIONS[act].replace('_', ' ')}."
    if act != "reject":
        message += " It applies to new pages; run messor replay to parse stored pages again."
    return call.go(here, message)


async def pin(call: ConsoleRequest) -> Response:
    """Pin a version, remove a pin or start a shadow trial, for all domains or one."""
    act = {"pin": _pin, "lift": _lift, "shadow": _shadow}.get(call.form.text("act"))
    if act is None:
        raise UsageError("The action must be pin, lift or shadow.")
    try:
        async with call.context.database.transaction() as connection:
            message = await act(connection, call)
    except MessorError as error:
        if not isinstance(error, UsageError | NotFoundError | ConflictError):
            raise
        return call.go("/parsers", str(error), "danger")
    return call.go("/parsers", message)


async def _pin(connection: Connection, call: ConsoleRequest) -> str:
    name, _, version = call.form.text("version").partition("=")
    installed_parsers().get(name, version)
    domain_id, where = await _where(connection, call)
    await pins.pin(connection, name, version, domain_id=domain_id, actor=call.actor)
    return f"{name} {version} is now used for {where}."


async def _lift(connection: Connection, call: ConsoleRequest) -> str:
    name = call.form.text("parser")
    domain_id, where = await _where(connection, call)
    version = await pins.lift(connection, name, domain_id=domain_id, actor=call.actor)
    return f"{name}: {version or 'the newest version'} is now used for {where}."


async def _shadow(connection: Connection, call: ConsoleRequest) -> str:
    name, _, version = call.form.text("version").partition("=")
    domain_id, where = await _where(connection, call)
    await shadow_trials.begin(
        connection, name, version, domain_id=domain_id, most=SHADOWED, actor=call.actor
    )
    return f"Shadow trial of {name} {version} started for {where}."


async def _where(connection: Connection, call: ConsoleRequest) -> tuple[UUID | None, str]:
    name = (call.form.words("domain") or "").lower()
    if not name:
        return None, "all domains"
    return (await domains.get(connection, name)).id, f"pages of {name}"


def _by_day(rows: Sequence[Movement], parser: str) -> Bars:
    days: dict[date, Counter[str]] = defaultdict(Counter)
    for row in rows:
        days[row.day][row.what] += row.records
    today = datetime.now(UTC).date()
    span = [today - timedelta(days=ago) for ago in reversed(range(DAYS))]
    counts: Counter[str] = sum((days[day] for day in span), Counter())
    summary = (
        f"{counts['found']:,} records found, {counts['changed']:,} changed and"
        f" {counts['lost']:,} lost on pages that still exist, in {DAYS} days"
    )
    columns = [(f"{day:%d %b}", days[day]) for day in span]
    return charts.bars(columns, TONES, f"{summary}, by {parser}" if parser else summary)


def _trial_id(call: ConsoleRequest) -> UUID:
    found = as_uuid(call.part("trial_id"))
    if found is None:
        raise NotFoundError("No such trial.")
    return found


SCREENS = (
    get("/parsers", Act.READ, show_all),
    post("/parsers/pins", Act.DOMAINS_CONFIGURE, pin),
    get("/parsers/repairs/{name}", Act.DOMAINS_CONFIGURE, show_repairs),
    get("/parsers/trials", Act.READ, show_trials),
    get("/parsers/trials/{trial_id}", Act.READ, show_trial),
    post("/parsers/trials/{trial_id}/decide", Act.DOMAINS_CONFIGURE, decide),
)
