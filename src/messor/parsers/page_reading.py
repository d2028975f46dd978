"""Reads a page's content: parsed once, with everything that extraction makes of it.

Parser failures are contained: a failing parser leaves a warning, and the results of the others
stand. A disproportionate page is not read, and the result says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar, cast

from messor.content.main import MainContent, read_main
from messor.content.memory import Memory
from messor.content.metadata import Metadata, read_metadata
from messor.content.page_type import OTHER, PageFlag, PageType, page_type, read_flags
from messor.content.records import Record
from messor.content.validation import Rejected, validated
from messor.content.view import PageView
from messor.parsers import Parser, Parsers, Selective
from messor.parsers.output_check import checked_records, is_ours
from messor.parsers.registry import Pins, UnknownParserError
from messor.web.html import TooComplexError

MAX_RECORDS = 500
# CPU seconds per page after which no further parser is run.
BUDGET_SECONDS = 3.0

# Product confidence from which the page is a product page.
_SURE = 0.75

_NO_CONTENT = MainContent("", "", "", is_article=False)
_NOT_READ = PageType(OTHER, 0.0, ("the page was not read",))

Answer = TypeVar("Answer")
Fallback = TypeVar("Fallback")


@dataclass(slots=True)
class PageExtraction:
    """All extraction results of one page."""

    main: MainContent = _NO_CONTENT
    metadata: Metadata = field(default_factory=Metadata)
    page_type: PageType = _NOT_READ
    flags: list[PageFlag] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)  # product first
    rejected: list[Rejected] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)  # kinds whose parser failed: unknown, not empty
    failed: list[str] = field(default_factory=list)  # names of parsers that failed
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
    """Return the installed parsers, loaded once."""
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
    memory: Memory | None = None,
) -> PageExtraction:
    """Read a page found at `url`; never raises, whatever the page contains.

    `generic` leaves out site-specific parsers; `pins` selects parser versions. With `kinds`, only
    these records are looked for, and other kinds do not count as unread. `may_die` is set by a
    process whose death is survived and blamed on the page: the nesting depth is then not checked.
    `memory` is kept by whoever reads many pages; without one, nothing is remembered.
    """
    found = PageExtraction(page_type=_by_status(status))
    parsers = parsers or installed_parsers()
    try:
        page = PageView.of(html, url, may_die=may_die, memory=memory)
    except TooComplexError as error:
        found.warnings.append(str(error))
        found.unread = _all_kinds(parsers, kinds)
        return found
    _Readers(page, found, status, kinds).read(parsers, pins, generic=generic)
    return found


def _all_kinds(parsers: Parsers, kinds: frozenset[str] | None) -> set[str]:
    """Return the requested kinds that the parsers may find."""
    made = {kind for parser in parsers for kind in parser.kinds}
    return made if kinds is None else made & kinds


def _selective(parser: Parser) -> Selective | None:
    """Return the parser if it can skip kinds; a full protocol check takes longer than a parser."""
    return cast("Selective", parser) if hasattr(parser, "parse_only") else None


def _by_status(status: int) -> PageType:
    if status >= 400:
        return PageType("error", 1.0, (f"status {status}",))
    return _NOT_READ


class _Readers:
    """The parsers of one page, run in sequence."""

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
        if self._status < 400:  # error pages have no records
            self._read_records(self._readers_of(parsers, pins, generic=generic))
        self._settle_type()
        found.flags = self._ask(
            "flags", lambda: read_flags(page, found.main, found.page_type, found.records), []
        )

    def _readers_of(self, parsers: Parsers, pins: Pins | None, *, generic: bool) -> list[Parser]:
        """Return the parsers that accept the page; one that fails to decide does not."""
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
        """Read each kind with the first parser that finds any."""
        found, settled = self._found, set[str]()
        for parser in readers:
            open_kinds = parser.kinds - settled
            wanted = self._wanted(open_kinds)
            records = self._parsed(parser, wanted) if wanted else []
            if records is None:
                found.unread |= wanted
                continue
            stated = [record for record in records if record.kind in open_kinds]
            if stated and not parser.is_generic:
                settled |= parser.kinds
            settled |= {record.kind for record in stated}
            # Built-in parsers always quote the page; fields of third-party ones are checked against
            # it.
            decoded = None if is_ours(parser) else self._page.source.text
            good, rejected = validated(
                [record for record in stated if record.kind in wanted], decoded
            )
            found.records += good[: MAX_RECORDS - len(found.records)]
            found.rejected += rejected
        found.unread -= settled

    def _parsed(self, parser: Parser, wanted: AbstractSet[str]) -> list[Record] | None:
        """Return a parser's records, None if it failed; only requested kinds where it can select."""
        name = f"{parser.name} {parser.version}"
        return self._ask(name, lambda: self._answer(parser, wanted), None, parser)

    def _answer(self, parser: Parser, wanted: AbstractSet[str]) -> list[Record]:
        selective = None if self._kinds is None else _selective(parser)
        page = self._page
        answer = parser.parse(page) if selective is None else selective.parse_only(page, wanted)
        return answer if is_ours(parser) else checked_records(parser, answer, MAX_RECORDS)

    def _settle_type(self) -> None:
        """Use product confidence as page-type confidence."""
        found = self._found
        product = found.records[0] if found.records else None
        if product is None or product.kind != "product":
            return
        # Tickets are products too: an event page stays one.
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
        except Exception as error:  # noqa: BLE001 - any page may make a parser fail
            sentence = f"{name}: could not be read ({type(error).__name__}: {error})"
            self._found.warnings.append(sentence[:500])
            if parser is not None:
                self._found.failed.append(parser.name)
            return fallback

    def _takes_too_long(self) -> bool:
        """Whether the CPU time is used up; wall time, an upper bound, is checked first because it
        is cheaper.
        """
        if time.monotonic() - self._began <= BUDGET_SECONDS:
            return False
        return time.thread_time() - self._started > BUDGET_SECONDS
