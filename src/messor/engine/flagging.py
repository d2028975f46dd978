"""Flagging: pages that were just extracted are judged for the verticals their domain belongs to.

By rules and by what reviewers taught; a model is asked later, by a job, about what stays undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from messor.extract.found import FoundPage
from messor.extract.relevance import Flag, PageText
from messor.extract.relevance.store import Judged, keep_flags
from messor.extract.relevance.topics import Topics, Want
from messor.extract.store import Outcome
from messor.store.database import Connection

ERROR = "error"  # the type of a page that says only that there is none


@dataclass(frozen=True, slots=True)
class Flagged:
    """What one vertical wants of a page, and whether the page is about its topic."""

    want: Want
    flag: Flag


class Flagging:
    """Judges batches of pages."""

    def __init__(self, topics: Topics | None = None) -> None:
        self._topics = topics or Topics()

    async def flag(
        self, connection: Connection, outcomes: Sequence[Outcome]
    ) -> dict[int, list[Flagged]]:
        """Judge and store; answers what holds now, by page. What could not be read is left out."""
        read = [(outcome, page) for outcome in outcomes if (page := _told(outcome)) is not None]
        if not read:
            return {}
        domains = {outcome.sighting.domain_id for outcome, _ in read}
        wants = await self._topics.of_domains(connection, domains)
        asked = [
            (outcome, page, want)
            for outcome, page in read
            for want in wants.get(outcome.sighting.domain_id, ())
        ]
        judged = [_judged(outcome, page, want) for outcome, page, want in asked]
        found: dict[int, list[Flagged]] = {}
        for (outcome, _, want), flag in zip(
            asked, await keep_flags(connection, judged), strict=True
        ):
            found.setdefault(outcome.sighting.page_id, []).append(Flagged(want, flag))
        return found


def text_of(page: FoundPage) -> PageText:
    """What is judged of a page."""
    return PageText(str(page.metadata.get("title") or page.headline), page.main_text)


def _told(outcome: Outcome) -> FoundPage | None:
    page = outcome.page
    return page if page is not None and page.is_read and page.page_type != ERROR else None


def _judged(outcome: Outcome, page: FoundPage, want: Want) -> Judged:
    sighting = outcome.sighting
    flag = want.flagger.judge(text_of(page))
    return Judged(sighting.page_id, sighting.snapshot_id, want.vertical, flag, sighting.domain_id)
