"""Backfill: approves domains that were crawled before approvals existed.

Each line holds a domain, optionally followed by a depth and context separated by commas. Each line
is a transaction of its own, and its result is reported.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Literal

from messor.errors import MessorError, UsageError
from messor.governance import decisions
from messor.registry import domains, submissions
from messor.registry.domains import Submission
from messor.registry.submissions import Submitter
from messor.store.database import Database

MAX_LINES = 100_000
CONTEXT = "taken over with the existing domains"


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


async def approve_existing(
    database: Database, lines: Iterable[str], *, actor: str, start: bool = True
) -> AsyncIterator[BackfillLine]:
    """Approve every listed domain that has no decision against it, line by line.

    Without `start` only pages that are requested later are fetched, and nothing is fetched now.
    """
    seen: set[str] = set()
    for number, given in enumerate(lines, 1):
        if number > MAX_LINES:
            raise UsageError(
                f"Only the first {MAX_LINES} lines were read; submit the rest in another file."
            )
        text = given.strip()
        if not text or text.startswith("#"):
            continue
        try:
            line = _understand(text)
            if line.submission.domain in seen:
                message = f"{line.submission.domain} is already listed in an earlier line."
                yield BackfillLine(number, text[:200], "left", message, line.submission.domain)
                continue
            seen.add(line.submission.domain)
            outcome, message = await _take_over(database, line, actor, start=start)
        except MessorError as error:
            yield BackfillLine(number, text[:200], "refused", str(error))
        else:
            yield BackfillLine(number, text[:200], outcome, message, line.submission.domain)


def summary(lines: Iterable[BackfillLine]) -> dict[str, int]:
    """Number of lines by result."""
    return dict(Counter(line.outcome for line in lines))


def _understand(text: str) -> _ParsedLine:
    try:
        cells = [cell.strip() for cell in next(csv.reader([text.replace("\x00", "")]))]
    except csv.Error as error:
        raise UsageError(f"This line is not valid CSV: {error}.") from error
    depth = cells[1] if len(cells) > 1 and cells[1] else "3"
    if not (depth.isascii() and depth.isdigit() and len(depth) <= 3):
        raise UsageError(f"{depth[:50]!r} is not a depth; write domain, depth, context.")
    context = ", ".join(cells[2:]) or CONTEXT
    return _ParsedLine(Submission.understand(cells[0]), int(depth), context)


async def _take_over(
    database: Database, line: _ParsedLine, actor: str, *, start: bool
) -> tuple[LineOutcome, str]:
    async with database.transaction() as connection:
        result = await submissions.ask(
            connection,
            line.submission,
            Submitter(actor),
            context=line.context,
            max_crawl_depth=line.depth,
        )
        domain = result.domain
        if domain.status == "approved":
            return "already_approved", f"{domain.domain} is already approved."
        if domain.status != "pending_review" or result.outcome == "resubmitted":
            raise UsageError(f"{result.message} It was not approved.")
        if not start:
            await domains.configure(connection, domain, actor=actor, harvest="asked")
            domain = await domains.get(connection, domain.domain)
            await domains.move(connection, domain, "approved", actor=actor, backfill=True)
            return (
                "approved",
                f"{domain.domain} is approved; its pages are fetched only when requested.",
            )
        decided = await decisions.approve(connection, domain.domain, actor=actor)
        return "approved", decided.message
