"""Review of flags: a person's decision on a flagged page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from messor.errors import NotFoundError, UsageError
from messor.insight.relevance.flags import PageText
from messor.insight.relevance.store import ReviewDecision, decide
from messor.insight.relevance.topic import Topic
from messor.store.database import Connection
from messor.web.urls import parse, url_hash

FIND = """
SELECT f.page_id, p.url, h.domain_id, d.domain, f.relevant,
       coalesce(x.metadata ->> 'title', x.headline, '') AS title, coalesce(x.main_text, '') AS text
  FROM messor.page_flags f JOIN messor.pages p ON p.id = f.page_id
  JOIN messor.hosts h ON h.id = p.host_id JOIN messor.domains d ON d.id = h.domain_id
  LEFT JOIN messor.extractions x ON x.page_id = f.page_id
 WHERE f.vertical = $1 AND f.page_id = $2
"""
PAGE = """
SELECT p.id FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
 WHERE h.host = $1 AND p.url_hash = $2
"""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The result of a review."""

    page_id: int
    url: str
    relevant: bool
    overturned: bool


async def review(
    connection: Connection,
    topic: Topic,
    page: str,
    *,
    agrees: bool,
    actor: str,
    relevant: bool | None = None,
    reason: str = "",
) -> Reviewed:
    """Confirm or overturn a flag; an undecided one needs `relevant`. `page` is a number or URL."""
    row = await _flagged(connection, topic, page)
    verdict = _verdict(row["relevant"], agrees=agrees, relevant=relevant)
    return await _decide(connection, topic, row, verdict, actor=actor, reason=reason)


async def decide_as(
    connection: Connection, topic: Topic, page: str, *, relevant: bool, actor: str, reason: str = ""
) -> Reviewed:
    """Decide whether a flagged page is relevant, whatever its flag says."""
    row = await _flagged(connection, topic, page)
    return await _decide(connection, topic, row, relevant, actor=actor, reason=reason)


async def _flagged(connection: Connection, topic: Topic, page: str) -> Mapping[str, Any]:
    row: Mapping[str, Any] | None = await connection.fetchrow(
        FIND, topic.name, await _page_id(connection, page)
    )
    if row is None:
        raise NotFoundError(f"{page[:200]} is not flagged for {topic.name}.")
    return row


async def _decide(
    connection: Connection,
    topic: Topic,
    row: Mapping[str, Any],
    verdict: bool,
    *,
    actor: str,
    reason: str,
) -> Reviewed:
    decision = ReviewDecision(row["page_id"], row["domain"], verdict, actor, reason)
    domain_id: UUID = row["domain_id"]
    text = PageText(row["title"], row["text"])
    overturned = await decide(connection, topic, decision, text, domain_id=domain_id)
    return Reviewed(row["page_id"], row["url"], verdict, overturned)


def _verdict(flagged: bool | None, *, agrees: bool, relevant: bool | None) -> bool:
    if flagged is None:
        if relevant is None:
            raise UsageError(
                "The flag is undecided: say whether the page is relevant (--as on the command line)."
            )
        return relevant
    verdict = flagged if agrees else not flagged
    if relevant is not None and relevant != verdict:
        message = "relevant" if flagged else "irrelevant"
        raise UsageError(
            f"The page is flagged as {message}: confirm keeps that, overturn reverses it."
        )
    return verdict


async def _page_id(connection: Connection, page: str) -> int | None:
    if page.isascii() and page.isdigit() and len(page) < 19:
        return int(page)
    url = parse(page)
    if url is None:
        raise UsageError(f"{page[:200]!r} is neither a page number nor a web address.")
    found: int | None = await connection.fetchval(PAGE, url.authority, url_hash(url))
    return found
