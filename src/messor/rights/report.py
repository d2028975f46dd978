"""Report: what is held under which terms, by domain, and what would be lost if sites changed their minds.

A page rests on a permission on file, on the site's own yes, or on its silence; what rests on silence
is what a single new line in robots.txt could take away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal

from messor.registry.domains import Domain
from messor.rights import page_terms
from messor.rights.decide import refusal_of
from messor.rights.page_terms import PageTerms
from messor.rights.uses import GOVERNED_BY, UNNAMED, ApprovedUse, of_domain
from messor.store.database import Database
from messor.web.usage.statement import Answer, decide

BATCH = 5_000
Standing = Literal[
    "permission", "permitted", "silence", "refused", "licence", "unclear", "not_approved"
]

PAGES = """
SELECT p.id FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id
  JOIN messor.crawl_tasks t ON t.page_id = p.id
 WHERE h.domain_id = $1 AND t.snapshot_id IS NOT NULL AND p.id > $2 ORDER BY p.id LIMIT $3
"""


@dataclass(frozen=True, slots=True)
class UseReport:
    """How many pages of a domain may be used so, and what that rests on."""

    use: ApprovedUse
    is_approved: bool  # named by the approval; without named uses only text and data mining counts
    pages: int
    may_leave: int
    by_permission: int
    by_statement: int  # the site says yes
    by_silence: int  # lost if the site says no tomorrow
    refused: int
    licence: int
    unclear: int
    not_approved: int


async def of_domain_pages(database: Database, domain: Domain) -> list[UseReport]:
    """Each use, over all pages of a domain that have a snapshot."""
    named = await of_domain(database, domain.id)
    counts: dict[ApprovedUse, Counter[Standing]] = {use: Counter() for use in ApprovedUse}
    async for pages in _batches(database, domain):
        known = await page_terms.of_pages(database, pages)
        for page in pages:
            terms = known.get(page)
            for use, counter in counts.items():
                counter[_standing(terms, use)] += 1
    return [_report(use, use in (named or UNNAMED), counts[use]) for use in ApprovedUse]


async def _batches(database: Database, domain: Domain) -> AsyncIterator[Sequence[int]]:
    after, has_more = 0, True
    while has_more:
        rows = await database.fetch(PAGES, domain.id, after, BATCH)
        yield [row["id"] for row in rows]
        has_more = len(rows) == BATCH
        after = rows[-1]["id"] if rows else after


def _standing(terms: PageTerms | None, use: ApprovedUse) -> Standing:
    """What a page's use rests on, or why it is held back."""
    if terms is None:
        return "silence"
    if use.value in terms.permitted:
        return "permission"
    refusal = refusal_of(terms, (use,))
    if refusal is not None:
        return refusal.reason.value
    is_said = decide(terms.statements, GOVERNED_BY[use]).answer is Answer.YES
    return "permitted" if is_said else "silence"


def _report(use: ApprovedUse, is_approved: bool, counts: Counter[Standing]) -> UseReport:
    leaving = counts["permission"] + counts["permitted"] + counts["silence"]
    return UseReport(
        use, is_approved, counts.total(), leaving, counts["permission"], counts["permitted"],
        counts["silence"], counts["refused"], counts["licence"], counts["unclear"],
        counts["not_approved"],
    )  # fmt: skip
