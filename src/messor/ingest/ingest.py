"""The one call, top to bottom: governance, discovery, plan, fetches, records, tiles and evidence."""

from __future__ import annotations

from messor.core import clock
from messor.extraction.extract_now import extract_now
from messor.frontier.sample import PageOrigin
from messor.ingest import gather, governance, page_requests, runs
from messor.ingest.discovery import discover, sources
from messor.ingest.fetches import fetch
from messor.ingest.guidance import INTERRUPTED, guidance_of
from messor.ingest.offers import offers_of
from messor.ingest.plan import make_plan
from messor.ingest.progress import Watch
from messor.ingest.request import CheckedRequest, IngestRequest
from messor.ingest.result import Ingestion, PlannedPageResult, RunOutcome, judge
from messor.ingest.run import IngestionRun, PageChoice, retry_until_available
from messor.ingest.tiles import tiles_of
from messor.ledger.events import Event
from messor.politeness import traffic
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.web.urls import Url

_ANSWERED = {
    PlannedPageResult.USED,
    PlannedPageResult.ABSENT,
    PlannedPageResult.DENIED,
    PlannedPageResult.REDIRECTED,
}


async def ingest(
    database: Database,
    settings: Settings,
    request: IngestRequest,
    *,
    watch: Watch | None = None,
) -> Ingestion:
    """Fill an orbit with tiles of a site; needs running workers.

    Raises NeedsApprovalError, ConflictError or UsageError before any request to the site; whatever
    the site does afterwards is an outcome.
    """
    checked = CheckedRequest.understand(request)
    run, beginnings = await retry_until_available(lambda: _begin(database, checked, watch))
    run.report()
    interrupted = True
    try:
        if checked.terms.discovers:
            await discover(run, beginnings)
            await make_plan(run, settings.agent_token)
        else:
            await run.plan(beginnings)
        await fetch(run)
        await run.refresh()
        await retry_until_available(lambda: extract_now(database, settings, list(run.pages)))
        interrupted = False
    finally:
        await run.restore()
        if interrupted:
            await _conclude(run, interrupted=True)
    return await _conclude(run)


async def _begin(
    database: Database, checked: CheckedRequest, watch: Watch | None
) -> tuple[IngestionRun, list[PageChoice]]:
    """In one transaction: admit the domain, open the run, store its first pages."""
    async with database.transaction() as connection:
        await traffic.require_running(connection)
        domain = await governance.admit(connection, checked)
        if domain.status == "approved" and domain.active:
            key = await runs.open_run(connection, checked, domain)
            beginnings: dict[int, PageChoice] = {}
            for url, origin, reason in _first_pages(checked):
                page_id = await page_requests.add(connection, domain, url)
                beginnings.setdefault(page_id, PageChoice(page_id, origin, reason))
            await page_requests.open_again(connection, [url for url, _, _ in _first_pages(checked)])
            run = IngestionRun(database, checked, key, domain, watch)
            return run, list(beginnings.values())
    governance.check(domain)  # after the submission was committed
    raise AssertionError("a domain that may not be visited has a reason")


def _first_pages(checked: CheckedRequest) -> list[tuple[Url, PageOrigin, str]]:
    requested = [checked.url] if checked.terms.discovers else checked.pages
    pages = [(url, PageOrigin.REQUESTED, "asked for") for url in requested]
    if checked.terms.discovers:
        pages.insert(0, (checked.home, PageOrigin.HOMEPAGE, "homepage"))
    return pages


async def _conclude(run: IngestionRun, *, interrupted: bool = False) -> Ingestion:
    """Make tiles and evidence of the results, and store both with the run's end.

    An interrupted run has evidence of what it did, and no tiles.
    """
    pages, used = await gather.pages_of(run)
    records = await gather.records_of(run, used)
    met = await gather.circumstances_of(run, pages)
    outcome = RunOutcome.ERROR if interrupted else judge(pages, met)
    guidance = guidance_of(pages, met, out_of_time=run.out_of_time)
    url, mode = run.checked.url.href, run.checked.mode.value
    ingestion = Ingestion(
        run.key.trace_id,
        run.checked.slug,
        run.domain.domain,
        url,
        mode,
        outcome,
        await sources(run),
        pages,
        [] if interrupted else tiles_of(used, records),
        met,
        int((clock.now() - run.began) * 1000),
        run.out_of_time,
        [*INTERRUPTED, *guidance] if interrupted else guidance,
        offers_of(outcome, url, mode, met),
        run.cap if run.is_limited else None,
    )
    await run.transact(lambda connection: _store(connection, run, ingestion))
    run.stage = "done"
    run.report()
    return ingestion


async def _store(connection: Connection, run: IngestionRun, ingestion: Ingestion) -> None:
    if ingestion.tiles:
        answered = [page.url for page in ingestion.pages if page.result in _ANSWERED]
        whole = run.reads_whole_site and ingestion.outcome is RunOutcome.SUCCESS
        await runs.store_tiles(
            connection, run.key, ingestion.tiles, answered=None if whole else answered
        )
    fact = _event(run, ingestion)
    await runs.complete(connection, run.key, ingestion.outcome.value, ingestion.evidence, fact)


EVENTS = {
    RunOutcome.SUCCESS: "ingestion.completed",
    RunOutcome.PARTIAL: "ingestion.completed",  # its data mark it as partial
    RunOutcome.BLOCKED: "ingestion.blocked",
    RunOutcome.ERROR: "ingestion.failed",
}


def _event(run: IngestionRun, ingestion: Ingestion) -> Event:
    return Event(
        EVENTS[ingestion.outcome],
        run.checked.request.actor,
        run.domain.id,
        data={
            "traceId": ingestion.trace_id,
            "orbit": ingestion.orbit,
            "mode": ingestion.mode,
            "outcome": ingestion.outcome.value,
            "pagesUsed": sum(page.result is PlannedPageResult.USED for page in ingestion.pages),
            "tiles": len(ingestion.tiles),
            "frictionSignals": ingestion.circumstances.friction,
        },
    )
