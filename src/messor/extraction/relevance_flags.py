"""Relevance flags: judges just extracted pages for the verticals of their domain.

By rules and by what reviewers taught; what stays undecided is asked of a model later, by a job.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from messor.insight.relevance import PageText, RelevanceFlag
from messor.insight.relevance.store import JudgedPage, keep_flags
from messor.insight.relevance.topics import Topics, Want
from messor.parsers.page_findings import FoundPage
from messor.records.store import StoredOutcome
from messor.store.database import Connection

ERROR = "error"  # the page type of error pages


@dataclass(frozen=True, slots=True)
class Flagged:
    """A vertical's record kinds for a page, and whether the page is relevant to it."""

    want: Want
    flag: RelevanceFlag


class Flagging:
    """Judges batches of pages."""

    def __init__(self, topics: Topics | None = None) -> None:
        self._topics = topics or Topics()

    async def flag(
        self, connection: Connection, outcomes: Sequence[StoredOutcome]
    ) -> dict[int, list[Flagged]]:
        """Judge pages and store the flags; returns the current flags by page, without unreadable
        pages.
        """
        read = [(outcome, page) for outcome in outcomes if (page := _readable(outcome)) is not None]
        if not read:
            return {}
        domains = {outcome.sighting.domain_id for outcome, _ in read}
        wants = await self._topics.of_domains(connection, domains)
        wanted = [
            (outcome, page, want)
            for outcome, page in read
            for want in wants.get(outcome.sighting.domain_id, ())
        ]
        judged = [_judged(outcome, page, want) for outcome, page, want in wanted]
        found: dict[int, list[Flagged]] = {}
        for (outcome, _, want), flag in zip(
            wanted, await keep_flags(connection, judged), strict=True
        ):
            found.setdefault(outcome.sighting.page_id, []).append(Flagged(want, flag))
        return found


def text_of(page: FoundPage) -> PageText:
    """Return the text of a page that is judged."""
    return PageText(str(page.metadata.get("title") or page.headline), page.main_text)


def _readable(outcome: StoredOutcome) -> FoundPage | None:
    page = outcome.page
    return page if page is not None and page.is_read and page.page_type != ERROR else None


def _judged(outcome: StoredOutcome, page: FoundPage, want: Want) -> JudgedPage:
    sighting = outcome.sighting
    flag = want.flagger.judge(text_of(page))
    return JudgedPage(
        sighting.page_id, sighting.snapshot_id, want.vertical, flag, sighting.domain_id
    )
