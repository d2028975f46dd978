"""Words and colours of search-led discovery, and the vertical that a page is about."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from messor.console.call import ConsoleRequest
from messor.errors import NotFoundError
from messor.verticals import verticals
from messor.verticals.verticals import Applied

CANDIDATE = {
    "PENDING_CRAWL": ("waits for its crawl", "azure"),
    "PENDING_REVIEW": ("waits for review", "yellow"),
    "IN_REVIEW": ("in review", "blue"),
    "APPROVED": ("approved", "green"),
    "REJECTED": ("rejected", "red"),
    "SKIPPED_LOW_CONFIDENCE": ("not confident enough", "secondary"),
}
TIERS = {"A": "green", "B": "azure", "C": "secondary"}
TIER_WORDS = {"A": "daily", "B": "weekly", "C": "monthly"}
LEVELS = {"A": "green", "B": "azure", "C": "yellow", "D": "secondary"}
SERP = {"ok": ("seen", "green"), "partial": ("seen in part", "yellow"), "failed": ("gap", "orange")}
SESSION = {"running": "blue", "finished": "green", "failed": "red", "cancelled": "dark"}
PARTS = {
    "visibility": ("visibility", "blue"),
    "content_change": ("content change", "azure"),
    "record_yield": ("record yield", "green"),
    "quality": ("quality", "purple"),
    "friction": ("little friction", "orange"),
    "cost": ("low cost", "yellow"),
}
SOURCES = {
    "manual": "by hand",
    "template": "template",
    "related": "related search",
    "people_also_ask": "people also ask",
    "suggestion": "suggestion",
}
# In the order in which a result page shows them.
BLOCKS = {
    "ad": "Advertisements",
    "ai_overview": "Overview by a model",
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
    """What a record says, in a few words."""
    told = [
        data.get(key) for key in ("name", "title", "question", "text", "value", "email", "phone")
    ]
    texts = [one for one in (*told, *data.values()) if isinstance(one, str) and one.strip()]
    first = texts[0] if texts else "without words"
    return first if len(first) <= 100 else f"{first[:99]}…"


def uuid_of(text: str, what: str) -> UUID:
    """A key from an address; raises when there can be no such thing."""
    try:
        return UUID(text)
    except ValueError:
        raise NotFoundError(f"There is no such {what}.") from None


def place_of(text: str) -> tuple[datetime, UUID] | None:
    """Where a list by time goes on, from an address."""
    try:
        moment, _, key = text.partition("_")
        return (datetime.fromisoformat(moment), UUID(key)) if key else None
    except ValueError:
        return None


def mark_of(moment: datetime, key: UUID) -> str:
    return f"{moment.isoformat()}_{key}"


async def about(
    call: ConsoleRequest, name: str | None = None
) -> tuple[Applied | None, dict[str, Any]]:
    """The vertical that is asked for, or the first; and what every page shows of it."""
    wanted = name or call.query("vertical")
    known = await verticals.listing(call.desk.database)
    found = next((one for one in known if one.vertical.name == wanted), None)
    if wanted and found is None:
        raise NotFoundError(f"The vertical {wanted[:63]} is not applied.")
    found = found or (known[0] if known else None)
    values = {"applied": found, "known": known, "find": WORDS, "place": call.request.url.path}
    return found, values


async def required(call: ConsoleRequest, name: str) -> Applied:
    """The vertical that a form names."""
    return await verticals.get(call.desk.database, name[:63])


class _Words:
    """The words above, as templates name them."""

    candidate, tiers, tier_words, levels = CANDIDATE, TIERS, TIER_WORDS, LEVELS
    serp, session, parts, sources, blocks = SERP, SESSION, PARTS, SOURCES, BLOCKS
    judge, headline = staticmethod(judge_words), staticmethod(headline)


WORDS = _Words()
