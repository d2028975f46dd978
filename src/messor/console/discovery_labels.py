"""Labels and colours of search-led discovery, and the vertical a page is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from messor.console.call import ConsoleRequest
from messor.console.listing import Listed, list_of
from messor.errors import NotFoundError
from messor.store.listing import Filters, Listing
from messor.verticals import verticals
from messor.verticals.verticals import Applied

Item = TypeVar("Item")
Given = TypeVar("Given", bound=Filters)

CANDIDATE = {
    "PENDING_CRAWL": ("pending crawl", "azure"),
    "PENDING_REVIEW": ("pending review", "yellow"),
    "IN_REVIEW": ("in review", "blue"),
    "APPROVED": ("approved", "green"),
    "REJECTED": ("rejected", "red"),
    "SKIPPED_LOW_CONFIDENCE": ("low confidence", "secondary"),
}
TIERS = {"A": "green", "B": "azure", "C": "secondary"}
TIER_WORDS = {"A": "daily", "B": "weekly", "C": "monthly"}
LEVELS = {"A": "green", "B": "azure", "C": "yellow", "D": "secondary"}
SERP = {"ok": ("complete", "green"), "partial": ("partial", "yellow"), "failed": ("gap", "orange")}
SESSION = {"running": "blue", "finished": "green", "failed": "red", "cancelled": "dark"}
PARTS = {
    "visibility": ("visibility", "blue"),
    "content_change": ("content change", "azure"),
    "record_yield": ("record yield", "green"),
    "quality": ("quality", "purple"),
    "friction": ("low friction", "orange"),
    "cost": ("low cost", "yellow"),
}
SOURCES = {
    "manual": "manual",
    "template": "template",
    "related": "related search",
    "people_also_ask": "people also ask",
    "suggestion": "suggestion",
}
# In the order a result page shows them.
BLOCKS = {
    "ad": "Advertisements",
    "ai_overview": "AI overview",
    "featured": "Featured",
    "local_pack": "Local results",
    "organic": "Results",
    "news": "News",
    "knowledge": "Knowledge",
    "people_also_ask": "People also ask",
    "related": "Related searches",
    "other": "Other",
}


def judge_words(name: str) -> str:
    return name.replace("_", " ")


def headline(data: dict[str, Any]) -> str:
    """A short title for a record."""
    candidates = [
        data.get(key) for key in ("name", "title", "question", "text", "value", "email", "phone")
    ]
    texts = [one for one in (*candidates, *data.values()) if isinstance(one, str) and one.strip()]
    first = texts[0] if texts else "(untitled)"
    return first if len(first) <= 100 else f"{first[:99]}…"


def uuid_of(text: str, what: str) -> UUID:
    """Parse a UUID of a URL; raises NotFoundError when malformed."""
    try:
        return UUID(text)
    except ValueError:
        raise NotFoundError(f"No such {what}.") from None


async def about(
    call: ConsoleRequest, name: str | None = None
) -> tuple[Applied | None, dict[str, Any]]:
    """The requested vertical, or the first one, and the values every page needs."""
    wanted = name or call.query("vertical")
    known = await verticals.listing(call.context.database)
    found = next((one for one in known if one.vertical.name == wanted), None)
    if wanted and found is None:
        raise NotFoundError(f"The vertical {wanted[:63]} is not applied.")
    found = found or (known[0] if known else None)
    values = {"applied": found, "known": known, "find": WORDS, "place": call.request.url.path}
    return found, values


async def listed(
    call: ConsoleRequest,
    listing: Listing[Item, Given],
    path: str,
    known: Sequence[Applied],
    *,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    **more: Any,
) -> Listed[Item, Given]:
    """The list that the query string asks for; `known` are the verticals to choose from."""
    titles = {one.vertical.name: one.vertical.title for one in known}
    named = {**(labels or {}), "vertical": titles}
    return await list_of(
        call, listing, path, labels=named, choices={"vertical": tuple(titles)}, **more
    )


async def required(call: ConsoleRequest, name: str) -> Applied:
    """The vertical named by a form."""
    return await verticals.get(call.context.database, name[:63])


class _Words:
    """The labels above, for templates."""

    candidate, tiers, tier_words, levels = CANDIDATE, TIERS, TIER_WORDS, LEVELS
    serp, session, parts, sources, blocks = SERP, SESSION, PARTS, SOURCES, BLOCKS
    judge, headline = staticmethod(judge_words), staticmethod(headline)


WORDS = _Words()
