"""Learns from corrections: corrected pages are read again from the archive as training examples.

Nothing is fetched or activated. A page that is no longer readable, or does not offer the right
value, is only counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from messor.archive.snapshot_content import read_body
from messor.archive.storage import ArchiveSource
from messor.content.evidence import make_field
from messor.content.page import ParsedPage
from messor.content.products.choose import Offer, described, offered, preferred
from messor.content.products.generic import gather
from messor.content.products.pool import NORMALISER_OF
from messor.content.products.ranking import RankingExample, TrainedRanking, learn
from messor.errors import MessorError
from messor.parsers.page_text import text_of
from messor.records import rankings
from messor.records.rankings import Lesson
from messor.store.database import Database
from messor.web.html import TooComplexError

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Taught:
    """The result of learning."""

    lessons: int = 0
    unreadable: int = 0
    not_offered: int = 0  # the right value is not among the page's offers
    learnt: list[TrainedRanking] = field(default_factory=list)
    version: int | None = None  # None: no field had enough examples


async def teach(
    database: Database, archive: ArchiveSource, *, actor: str, progress: Progress | None = None
) -> Taught:
    """Learn from all corrections, and store the result as an inactive version."""
    found = await rankings.lessons(database)
    taught = Taught(lessons=len(found))
    examples: list[RankingExample] = []
    for done, lesson in enumerate(found, 1):
        example = await asyncio.to_thread(_example, archive, lesson, taught)
        if example is not None:
            examples.append(example)
        if progress is not None:
            progress(done, len(found))
    taught.learnt = await asyncio.to_thread(learn, examples)
    if taught.learnt:
        async with database.transaction() as connection:
            taught.version = await rankings.keep(connection, taught.learnt, actor=actor)
    return taught


def _example(archive: ArchiveSource, lesson: Lesson, taught: Taught) -> RankingExample | None:
    try:
        body = read_body(archive, lesson.segment, lesson.segment_offset, lesson.segment_length)
        page = ParsedPage.read(text_of(body, lesson.content_type), lesson.url)
    except (MessorError, TooComplexError, OSError):
        taught.unreadable += 1
        return None
    gathered = gather(page)
    offers = offered(gathered.pool, lesson.field) if gathered is not None else []
    usual = preferred(lesson.field, offers, None)
    right = _right(lesson, offers)
    if usual is None or right is None:
        taught.not_offered += 1
        return None
    return RankingExample(lesson.field, lesson.domain, tuple(described(offers)), usual, right)


def _right(lesson: Lesson, offers: Iterable[Offer]) -> int | None:
    """Return the index of the offer with the reviewer's value, or with the same text."""
    made = make_field("reviewer", NORMALISER_OF[lesson.field], lesson.correct, confidence=1.0)
    for index, offer in enumerate(offers):
        if made is not None and made.value == offer.value:
            return index
        if str(offer.value).casefold() == lesson.correct.casefold():
            return index
    return None
