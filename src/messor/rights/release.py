"""Release: the one function that collected data passes before it leaves, with a declared purpose.

Exports, feeds, webhooks, watches, search engines, analytics and models call it once per batch, so a
decision costs one statement for many rows. What is held back is counted with its reason. Reading a
list or a page in an interface is not leaving.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar
from uuid import UUID

from messor.rights import page_terms
from messor.rights.decide import Refusal, refusal_of
from messor.rights.uses import ApprovedUse
from messor.store.database import Connection, Database

Item = TypeVar("Item")


class Purpose(StrEnum):
    """The way by which it leaves."""

    EXPORT = "export"  # files for people and their programs
    FEED = "feed"  # streams that programs follow
    WEBHOOK = "webhook"
    ALERT = "alert"  # watches: mail, webhook or feed of what somebody waits for
    SEARCH = "search"  # an index outside PostgreSQL
    ANALYTICS = "analytics"  # tables outside PostgreSQL
    MODEL = "model"  # texts of pages that a model reads for us
    AGENT = "agent"  # answers to programs that read pages, mostly for a model


# Uses that follow from the way itself.
INHERENT: Mapping[Purpose, tuple[ApprovedUse, ...]] = MappingProxyType(
    {
        Purpose.SEARCH: (ApprovedUse.SEARCH,),
        Purpose.MODEL: (ApprovedUse.AI_INPUT,),
        Purpose.AGENT: (ApprovedUse.AI_INPUT,),
    }
)

COUNT = """
INSERT INTO messor.use_refusals (domain_id, purpose, use, reason, place, text, items, example_page_id)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
                     $7::bigint[], $8::bigint[])
"""


async def release(
    source: Connection | Database,
    purpose: Purpose,
    items: Sequence[Item],
    page_of: Callable[[Item], int | None],
    uses: Collection[ApprovedUse] = (),
) -> list[Item]:
    """The items that may leave for this purpose, in their order.

    `page_of` returns the page that an item was read from; None if it has no single one. Without
    `uses` those that the item's domain is approved for count.
    """
    pages = {page for item in items if (page := page_of(item)) is not None}
    refused: dict[int, tuple[UUID | None, Refusal]] = {}
    for page, terms in (await page_terms.of_pages(source, pages)).items():
        refusal = refusal_of(terms, uses, INHERENT.get(purpose, ()))
        if refusal is not None:
            refused[page] = (terms.domain_id, refusal)
    if not refused:
        return list(items)
    held = [page for item in items if (page := page_of(item)) is not None and page in refused]
    await _count(source, purpose, refused, Counter(held))
    return [item for item in items if page_of(item) not in refused]


async def _count(
    source: Connection | Database,
    purpose: Purpose,
    refused: Mapping[int, tuple[UUID | None, Refusal]],
    held: Counter[int],
) -> None:
    """Count what is held back, by domain, use and statement."""
    counts: Counter[tuple[UUID | None, Refusal]] = Counter()
    for page, count in held.items():
        counts[refused[page]] += count
    examples = {why: page for page, why in refused.items()}
    rows = [
        (
            domain_id, purpose.value, refusal.use.value, refusal.reason.value,
            refusal.by and refusal.by.place, refusal.by and refusal.by.text, count,
            examples[domain_id, refusal],
        )
        for (domain_id, refusal), count in counts.items()
    ]  # fmt: skip
    await source.fetch(COUNT, *map(list, zip(*rows, strict=True)))
