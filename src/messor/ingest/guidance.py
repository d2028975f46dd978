"""Guidance: what prevented a run from succeeding, and what a person can do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from messor.ingest.result import Circumstances, IngestedPage, PlannedPageResult
from messor.politeness.risk import CRITICAL

_MEANING = {
    "403": "The site refuses requests with 403 Forbidden: it may not accept crawlers, or not this one.",
    "429": "The site reports too many requests (429); it is not contacted for as long as it demands.",
    "503": "The site returns 503: it is overloaded or under maintenance. Try again later.",
    "challenge": "The pages are behind a bot check. Messor solves none, so the outcome is blocked.",
    "empty": "Pages came without any text; they may need a browser.",
}


INTERRUPTED = (
    "The run was interrupted before it finished.",
    "Start it again; pages fetched within a day are taken from the cache.",
)


def guidance_of(
    pages: Sequence[IngestedPage], met: Circumstances, *, out_of_time: bool
) -> list[str]:
    """Messages, most relevant first; what to do comes last."""
    told = dict.fromkeys(_sentences(pages, met, out_of_time))
    if not any(page.result is PlannedPageResult.USED for page in pages):
        told |= dict.fromkeys(_advice(pages, met))
    return list(told)


def unreachable(host: str, reason: str, error: str | None) -> str:
    """Why a host cannot be reached: its newest error, or its stored robots.txt result."""
    return f"{host} cannot be reached: {error or reason}."


def _sentences(
    pages: Sequence[IngestedPage], met: Circumstances, out_of_time: bool
) -> Iterator[str]:
    for signal in met.friction:
        if meaning := _MEANING.get(signal.partition(":")[0]):
            yield meaning
    for page in pages:
        if page.result is PlannedPageResult.DENIED and page.message:
            yield f"{page.url} may not be fetched: {page.message}."
            break
    yield from (
        f"{reason}; nothing is fetched until it can be read." for reason in met.robots_refused
    )
    yield from met.unreachable
    if met.risk > CRITICAL:
        yield f"The domain's risk is {met.risk} of 100; it is skipped until the risk has decayed."
    yield from (f"{message}." for message in met.silenced)
    if out_of_time:
        yield "The run ended before its plan was complete: the site allows only a slow pace."
    if not met.has_worker:
        yield "No worker is running. Start one: messor worker"
    yield from _failures(pages)


def _advice(pages: Sequence[IngestedPage], met: Circumstances) -> Iterator[str]:
    """What to do about a run without content; a blocked one has offers of its own."""
    results = {page.result for page in pages}
    if met.friction or met.silenced or met.robots_refused:
        return
    if met.unreachable:
        yield "Check the URL; if it is right, try again later."
    elif PlannedPageResult.FAILED in results:
        yield "The site fails on these pages; try again later."
    elif PlannedPageResult.ABSENT in results:
        yield "Check the URL, or give existing pages in user_assisted mode."
    elif PlannedPageResult.UNREACHED in results:
        yield "No page was fetched before the run ended; run it again."


def _failures(pages: Sequence[IngestedPage]) -> Iterator[str]:
    failed = [
        page
        for page in pages
        if page.result in (PlannedPageResult.FAILED, PlannedPageResult.ABSENT)
    ]
    for page in failed[:3]:
        yield f"{page.url}: {page.message or page.outcome}."
