"""Guidance: what stood in the way of a run, in sentences, and what a person can do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from messor.ingest.result import Circumstances, IngestedPage, PlannedPageResult
from messor.politeness.risk import CRITICAL

_MEANING = {
    "403": "The site refuses us with 403 Forbidden: it may not want crawlers, or not this one.",
    "429": "The site says that we ask too often (429); it is left alone for as long as it asks.",
    "503": "The site answers 503: it is overloaded or under repair. Try again later.",
    "challenge": "A bot check stands before the pages. Messor solves none: blocked is an outcome.",
    "empty": "Pages came without any text; they may need a browser to show something.",
}


def guidance_of(
    pages: Sequence[IngestedPage], met: Circumstances, *, out_of_time: bool
) -> list[str]:
    """Sentences, the most telling first."""
    return list(dict.fromkeys(_sentences(pages, met, out_of_time)))


def unreachable(host: str, reason: str) -> str:
    """Why nothing is heard of a host, from what is stored of its robots.txt."""
    why = reason.partition("robots.txt gave no answer: ")[2] or reason
    return f"{host} cannot be reached: {why}."


def _sentences(
    pages: Sequence[IngestedPage], met: Circumstances, out_of_time: bool
) -> Iterator[str]:
    for signal in met.friction:
        if meaning := _MEANING.get(signal.partition(":")[0]):
            yield meaning
    for page in pages:
        if page.result is PlannedPageResult.DENIED and page.said:
            yield f"{page.url} may not be fetched: {page.said}."
            break
    yield from (
        f"{reason}; nothing is fetched until it can be read." for reason in met.robots_refused
    )
    yield from met.unreachable
    if met.risk > CRITICAL:
        yield f"The domain's risk is {met.risk} of 100; it is skipped until that has decayed."
    yield from (f"{told}." for told in met.silenced)
    if out_of_time:
        yield "The run was ended before its plan was done: the site allows only a slow pace."
    if not met.has_worker:
        yield "No worker is running. Start one: messor worker"
    yield from _failures(pages)


def _failures(pages: Sequence[IngestedPage]) -> Iterator[str]:
    failed = [
        page
        for page in pages
        if page.result in (PlannedPageResult.FAILED, PlannedPageResult.ABSENT)
    ]
    for page in failed[:3]:
        yield f"{page.url}: {page.said or page.outcome}."
