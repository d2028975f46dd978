"""Backfill: approves domains that were crawled before approvals existed.

Each line holds a domain, optionally followed by a depth and context separated by commas; a first
line that starts with "domain" names the columns, among them the vertical. Each line is a transaction of its own, and its result is reported.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Literal

from messor.errors import MessorError, UsageError
from messor.governance import decisions, domain_vertical
from messor.governance.notices import OFF, Notices
from messor.registry import domains, submissions
from messor.registry.domains import Domain, Submission
from messor.registry.submissions import Submitter
from messor.store.database import Connection, Database

MAX_LINES = 100_000
CONTEXT = "taken over with the existing domains"
COLUMNS: tuple[str, ...] = ("domain", "depth", "context")  # without a header
ALL_COLUMNS = (*COLUMNS, "vertical")


LineOutcome = Literal["approved", "already_approved", "left", "refused"]


@dataclass(frozen=True, slots=True)
class BackfillLine:
    """The result of one line."""

    number: int
    text: str
    outcome: LineOutcome
    message: str
    domain: str | None = None


@dataclass(frozen=True, slots=True)
class _ParsedLine:
    submission: Submission
    depth: int
    context: str
    vertical: str | None


async def approve_existing(
    database: Database,
    lines: Iterable[str],
    asker: Submitter,
    *,
    start: bool = True,
    vertical: str | None = None,
    told: Notices = OFF,
) -> AsyncIterator[BackfillLine]:
    """Approve every listed domain that has no decision against it, line by line.

    Without `start` only pages that are requested later are fetched, and nothing is fetched now.
    `vertical` is that of lines without one.
    """
    await domain_vertical.check_applied(database, vertical)
    columns = COLUMNS
    seen: set[str] = set()
    for number, given in enumerate(lines, 1):
        if number > MAX_LINES:
            raise UsageError(
                f"Only the first {MAX_LINES} lines were read; submit the rest in another file."
            )
        text = given.strip().lstrip("\ufeff")  # files of spreadsheets begin with this mark
        if not text or text.startswith("#"):
            continue
        if number == 1 and (named := _header(text)):
            columns = named
            continue
        try:
            line = _understand(text, columns, vertical)
            if line.submission.domain in seen:
                message = f"{line.submission.domain} is already listed in an earlier line."
                yield BackfillLine(number, text[:200], "left", message, line.submission.domain)
                continue
            seen.add(line.submission.domain)
            outcome, message = await _take_over(database, line, asker, start=start, told=told)
        except MessorError as error:
            yield BackfillLine(number, text[:200], "refused", str(error))
        else:
            yield BackfillLine(number, text[:200], outcome, message, line.submission.domain)


def summary(lines: Iterable[BackfillLine]) -> dict[str, int]:
    """Number of lines by result."""
    return dict(Counter(line.outcome for line in lines))


def _header(text: str) -> tuple[str, ...] | None:
    """The columns that a first line names; None if it is a domain's line."""
    if text.partition(",")[0].strip(' "').lower() != COLUMNS[0]:
        return None
    names = tuple(cell.lower() for cell in _cells(text))
    if unknown := [name for name in names if name not in ALL_COLUMNS]:
        raise UsageError(
            f"Unknown column {unknown[0][:50]!r}; the columns are {', '.join(ALL_COLUMNS)}."
        )
    return names


def _cells(text: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([text.replace("\x00", "")]))]
    except csv.Error as error:
        raise UsageError(f"This line is not valid CSV: {error}.") from error


def _understand(text: str, columns: tuple[str, ...], vertical: str | None) -> _ParsedLine:
    cells = _cells(text)
    if columns is COLUMNS:  # commas in the context need no quotes
        cells = [*cells[:2], ", ".join(cells[2:])]
    given = dict(zip(columns, cells, strict=False))
    depth = given.get("depth") or "3"
    if not (depth.isascii() and depth.isdigit() and len(depth) <= 3):
        raise UsageError(f"{depth[:50]!r} is not a depth; write domain, depth, context.")
    submission = Submission.understand(given.get("domain", ""))
    context = given.get("context") or CONTEXT
    return _ParsedLine(submission, int(depth), context, given.get("vertical") or vertical)


async def _take_over(
    database: Database, line: _ParsedLine, asker: Submitter, *, start: bool, told: Notices
) -> tuple[LineOutcome, str]:
    async with database.transaction() as connection:
        vertical = await domain_vertical.check_applied(connection, line.vertical)
        result = await submissions.ask(
            connection,
            line.submission,
            asker,
            context=line.context,
            max_crawl_depth=line.depth,
            vertical=vertical,
        )
        domain = result.domain
        if domain.status == "approved":
            return "already_approved", await _revisit(connection, domain, vertical, asker.actor)
        if domain.status != "pending_review" or result.outcome == "resubmitted":
            raise UsageError(f"{result.message} It was not approved.")
        if vertical is not None:
            domain = await domain_vertical.assign(connection, domain, vertical, actor=asker.actor)
        if not start:
            await domains.configure(connection, domain, actor=asker.actor, harvest="asked")
            domain = await domains.get(connection, domain.domain)
            await domains.move(connection, domain, "approved", actor=asker.actor, backfill=True)
            return (
                "approved",
                f"{domain.domain} is approved; its pages are fetched only when requested.",
            )
        decided = await decisions.approve(connection, domain.domain, actor=asker.actor, told=told)
        return "approved", decided.message


async def _revisit(connection: Connection, domain: Domain, vertical: str | None, actor: str) -> str:
    """Give an approved domain the vertical that its line names."""
    message = f"{domain.domain} is already approved."
    if vertical in (None, domain.vertical):
        return message
    await domain_vertical.assign(connection, domain, vertical, actor=actor)
    return f"{message} Its vertical is now {vertical}."
