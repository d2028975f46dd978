"""The one reading of a page for its content: parsed once, everything that extraction makes of it.

What a page does to a reader is the page's fault: a reader that fails leaves a warning, and what
the others found stands. A page that is out of proportion is not read, and says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar, cast

from messor.content.flags import PageFlag, read_flags
from messor.content.main import MainContent, read_main
from messor.content.metadata import Metadata, read_metadata
from messor.content.page_type import OTHER, PageType, page_type
from messor.content.records import Record
from messor.content.validation import Rejected, validated
from messor.content.view import PageView
from messor.parsers import Parser, Parsers, Selective
from messor.parsers.output_check import checked_records, is_ours
from messor.parsers.registry import Pins, UnknownParserError
from messor.web.html import TooComplexError

MAX_RECORDS = 500
# CPU time after which no further reader is asked about a page.
BUDGET_SECONDS = 3.0

# How sure a product has to be for its page to be taken for nothing else.
_SURE = 0.75

_NO_CONTENT = MainContent("", "", "", is_article=False)
_NOT_READ = PageType(OTHER, 0.0, ("the page was not read",))

Answer = TypeVar("Answer")
Fallback = TypeVar("Fallback")


@dataclass(slots=True)
class PageExtraction:
    """All that extraction makes of one page."""

    main: MainContent = _NO_CONTENT
    metadata: Metadata = field(default_factory=Metadata)
    page_type: PageType = _NOT_READ
    flags: list[PageFlag] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)  # the page's product first
    rejected: list[Rejected] = field(default_factory=list)
    unread: set[str] = field(
        default_factory=set
    )  # kinds whose reader failed: no answer is not none
    failed: list[str] = field(default_factory=list)  # parsers that failed, by name
    warnings: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "main_text": self.main.text,
            "markdown": self.main.markdown,
            "metadata": self.metadata.as_json(),
            "page_type": self.page_type.as_json(),
            "flags": [flag._asdict() for flag in self.flags],
            "records": [record.as_json() for record in self.records],
            "rejected": [each._asdict() for each in self.rejected],
            "warnings": self.warnings,
        }


@cache
def installed_parsers() -> Parsers:
    """The parsers of this installation, looked up once."""
    return Parsers.installed()


def read_records(
    html: str,
    url: str,
    *,
    generic: bool = False,
    status: int = 200,
    parsers: Parsers | None = None,
    pins: Pins | None = None,
    kinds: frozenset[str] | None = None,
    may_die: bool = False,
) -> PageExtraction:
    """Read a page found at `url`; nothing is raised, whatever the page holds.

    `generic` leaves out the parsers made for a site; `pins` names versions of parsers to be used.
    Where `kinds` are named, no other records are looked for, and none is unread. `may_die` is said
    by a process whose death is survived, and blamed on the page: how deeply it nests is not looked at.
    """
    found = PageExtraction(page_type=_by_status(status))
    parsers = parsers or installed_parsers()
    try:
        page = PageView.of(html, url, may_die=may_die)
    except TooComplexError as error:
        found.warnings.append(str(error))
        found.unread = _all_kinds(parsers, kinds)
        return found
    _Readers(page, found, status, kinds).read(parsers, pins, generic=generic)
    return found


def _all_kinds(parsers: Parsers, kinds: frozenset[str] | None) -> set[str]:
    """What the parsers may find, of the kinds that are wanted."""
    made = {kind for parser in parsers for kind in parser.kinds}
    return made if kinds is None else made & kinds


def _selective(parser: Parser) -> Selective | None:
    """The parser, if it can leave out kinds; asking the whole protocol takes longer than a reader."""
    return cast("Selective", parser) if hasattr(parser, "parse_only") else None


def _by_status(status: int) -> PageType:
    if status >= 400:
        return PageType("error", 1.0, (f"status {status}",))
    return _NOT_READ


class _Readers:
    """The readers of one page, asked one after another."""

    def __init__(
        self, page: PageView, found: PageExtraction, status: int, kinds: frozenset[str] | None
    ) -> None:
        self._page = page
        self._found = found
        self._status = status
        self._kinds = kinds  # None: all
        self._started = time.thread_time()
        self._began = time.monotonic()

    def read(self, parsers: Parsers, pins: Pins | None, *, generic: bool) -> None:
        page, found = self._page, self._found
        found.main = self._ask(
            "main content", lambda: read_main(page.document, page.url, page.lists), found.main
        )
        found.metadata = self._ask("metadata", lambda: read_metadata(page), found.metadata)
        found.page_type = self._ask(
            "page type", lambda: page_type(page, status=self._status), found.page_type
        )
        if self._status < 400:  # an error page states nothing
            self._read_records(self._readers_of(parsers, pins, generic=generic))
        self._settle_type()
        found.flags = self._ask(
            "flags", lambda: read_flags(page, found.main, found.page_type, found.records), []
        )

    def _readers_of(self, parsers: Parsers, pins: Pins | None, *, generic: bool) -> list[Parser]:
        """Who reads the page; a parser that cannot tell whether it wants to does not."""
        try:
            chosen = parsers.chosen(pins=pins, generic=generic)
        except UnknownParserError as error:
            self._found.warnings.append(str(error))
            self._found.unread = _all_kinds(parsers, self._kinds)
            return []
        return [parser for parser in chosen if self._is_accepted_by(parser)]

    def _is_accepted_by(self, parser: Parser) -> bool:
        wanted = self._wanted(parser.kinds)
        if not wanted:
            return False
        accepted = self._ask(parser.name, lambda: parser.accepts(self._page), None, parser)
        if accepted is None:
            self._found.unread |= wanted
        return accepted is True

    def _wanted(self, kinds: AbstractSet[str]) -> AbstractSet[str]:
        return kinds if self._kinds is None else kinds & self._kinds

    def _read_records(self, readers: list[Parser]) -> None:
        """Each kind is read by the first parser that finds any of it."""
        found, told = self._found, set[str]()
        for parser in readers:
            open_kinds = parser.kinds - told
            wanted = self._wanted(open_kinds)
            records = self._parsed(parser, wanted) if wanted else []
            if records is None:
                found.unread |= wanted
                continue
            stated = [record for record in records if record.kind in open_kinds]
            if stated and not parser.is_generic:
                told |= parser.kinds
            told |= {record.kind for record in stated}
            # Ours make no field without its quote; what others make is looked up on the page.
            decoded = None if is_ours(parser) else self._page.source.text
            good, rejected = validated(
                [record for record in stated if record.kind in wanted], decoded
            )
            found.records += good[: MAX_RECORDS - len(found.records)]
            found.rejected += rejected
        found.unread -= told

    def _parsed(self, parser: Parser, wanted: AbstractSet[str]) -> list[Record] | None:
        """A parser's records, None when it failed; one that can is only asked for what is wanted."""
        name = f"{parser.name} {parser.version}"
        return self._ask(name, lambda: self._answer(parser, wanted), None, parser)

    def _answer(self, parser: Parser, wanted: AbstractSet[str]) -> list[Record]:
        selective = None if self._kinds is None else _selective(parser)
        page = self._page
        answer = parser.parse(page) if selective is None else selective.parse_only(page, wanted)
        return answer if is_ours(parser) else checked_records(parser, answer, MAX_RECORDS)

    def _settle_type(self) -> None:
        """A page on which a product was found for sure is a product's, and as surely."""
        found = self._found
        product = found.records[0] if found.records else None
        if product is None or product.kind != "product":
            return
        # What is sold may be a seat: the page of an event stays one.
        if found.page_type.name == "event" and any(each.kind == "event" for each in found.records):
            return
        if product.confidence >= max(_SURE, found.page_type.confidence):
            reasons = found.page_type.reasons if found.page_type.name == "product" else ()
            reason = f"a product was found by {product.parser}"
            found.page_type = PageType("product", product.confidence, (*reasons, reason))

    def _ask(
        self,
        name: str,
        reader: Callable[[], Answer],
        fallback: Fallback,
        parser: Parser | None = None,
    ) -> Answer | Fallback:
        if self._takes_too_long():
            self._found.warnings.append(f"{name}: left out, the page takes too long to read.")
            return fallback
        try:
            return reader()
        except Exception as error:  # noqa: BLE001 - what a page does to its reader is its own fault
            sentence = f"{name}: could not be read ({type(error).__name__}: {error})"
            self._found.warnings.append(sentence[:500])
            if parser is not None:
                self._found.failed.append(parser.name)
            return fallback

    def _takes_too_long(self) -> bool:
        """Whether the CPU time is used up; it is never more than went by, which costs less to know."""
        if time.monotonic() - self._began <= BUDGET_SECONDS:
            return False
        return time.thread_time() - self._started > BUDGET_SECONDS
