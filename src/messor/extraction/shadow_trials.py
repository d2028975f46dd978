"""Shadow trials: candidates read incoming pages right after the current parsers, and are compared.

A candidate's results are only counted in its trial, in the transaction that stores the current
parsers' results: each page counts once, whatever crashes. A candidate that fails or kills its
process only affects itself; one that hangs also costs time, up to the limit per page.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

import msgspec

from messor.extraction.compare import ComparisonReport, StoredPage
from messor.extraction.reader_pool import ReaderPool
from messor.extraction.reader_protocol import ReadRequest, UnreadableError
from messor.parsers import trials
from messor.parsers.page_findings import FoundPage
from messor.parsers.page_reading import installed_parsers
from messor.parsers.registry import UnknownParserError
from messor.parsers.trials import Shadow
from messor.store.database import Connection

NAMES = "SELECT id, domain FROM messor.domains WHERE id = ANY ($1::uuid[])"


class Live(NamedTuple):
    """A page that was just read, its request, and the current parsers' results."""

    domain_id: UUID
    request: ReadRequest
    page: FoundPage


class _Seen(NamedTuple):
    """A candidate's results of such a page (None if unreadable), and the kinds that count."""

    live: Live
    page: FoundPage | None
    kinds: frozenset[str]


@dataclass(slots=True)
class Shadows:
    """The running shadow trials with their kinds, and their results of a batch of pages."""

    kinds: dict[Shadow, frozenset[str]]
    _seen: dict[Shadow, list[_Seen]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    async def now(cls, connection: Connection) -> Shadows:
        """Return the running shadow trials whose version is installed here."""
        known: dict[Shadow, frozenset[str]] = {}
        for shadow in await trials.shadows(connection):
            try:
                parser = installed_parsers().get(shadow.parser, shadow.version)
            except UnknownParserError:  # another worker may have it
                continue
            known[shadow] = frozenset(parser.kinds)
        return cls(known)

    async def read(self, readers: ReaderPool, pages: Sequence[Live], seconds: float) -> None:
        """Read pages again with the candidates concerned; what takes too long does not count."""
        pairs = [
            (shadow, live) for live in pages for shadow in self.kinds if _concerns(shadow, live)
        ]
        if not pairs:
            return
        answers = readers.ask([_request(*each) for each in pairs])
        try:
            await asyncio.wait(answers, timeout=max(seconds, 0.0))
        finally:
            for answer in answers:
                answer.cancel()
        for (shadow, live), answer in zip(pairs, answers, strict=True):
            kinds = frozenset(filter(live.page.has_asked_for, self.kinds[shadow]))
            if answer.cancelled() or not kinds:
                continue
            try:
                page = answer.result().page
            except UnreadableError:
                page = None
            self._seen[shadow].append(_Seen(live, page, kinds))

    async def count(self, connection: Connection) -> None:
        """Add the results to the trials, in an order that avoids deadlocks."""
        if not self._seen:
            return
        ids = {seen.live.domain_id for each in self._seen.values() for seen in each}
        names = {row["id"]: row["domain"] for row in await connection.fetch(NAMES, list(ids))}
        for shadow in sorted(self._seen, key=lambda each: each.id):
            locked = await trials.lock_shadow(connection, shadow.id)
            if locked is None:  # decided meanwhile
                continue
            data, most = locked
            report = ComparisonReport.of_json(data, (shadow.parser, shadow.version))
            for seen in self._seen[shadow]:
                if seen.live.domain_id in names and report.pages < most:
                    _add(report, names[seen.live.domain_id], seen)
            await trials.count(connection, shadow.id, report.as_json())


async def begin(
    connection: Connection,
    parser: str,
    version: str,
    *,
    domain_id: UUID | None,
    most: int,
    actor: str,
) -> UUID:
    """Start a shadow trial of a candidate installed here."""
    installed_parsers().get(parser, version)
    blank = ComparisonReport((parser, version)).as_json()
    return await trials.begin(
        connection, parser, version, blank, domain_id=domain_id, most=most, actor=actor
    )


def _concerns(shadow: Shadow, live: Live) -> bool:
    """Whether a candidate should read a page that it did not just read for real."""
    is_there = shadow.domain_id is None or shadow.domain_id == live.domain_id
    return is_there and live.request.pins.get(shadow.parser) != shadow.version


def _request(shadow: Shadow, live: Live) -> ReadRequest:
    pins = {**live.request.pins, shadow.parser: shadow.version}
    return msgspec.structs.replace(live.request, pins=pins)


def _add(report: ComparisonReport, domain: str, seen: _Seen) -> None:
    if seen.page is None:
        report.unreadable += 1
        return
    page = seen.live.page
    records = {(each.kind, each.identity): each.data for each in page.records}
    stored = StoredPage(domain, seen.live.request.url, records, page.rejected)
    report.add(stored, seen.page, seen.kinds)
