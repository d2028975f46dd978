"""Review of flags: flagged pages, and a person's decision on one of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from messor.errors import NotFoundError, UsageError
from messor.insight.relevance.flags import PageText
from messor.insight.relevance.store import ReviewDecision, decide
from messor.insight.relevance.topic import Topic
from messor.store.database import Connection, Database
from messor.web.urls import parse, url_hash

State = Literal["undecided", "relevant", "irrelevant", "all"]

# Most informative first: undecided by a person and nearest to even odds.
LIST = """
SELECT f.page_id, p.url, d.domain, f.relevant, f.score::float8 AS score, f.reasons::text AS reasons,
       f.model_version, f.flagged_at, said.decided_by
  FROM messor.page_flags f JOIN messor.pages p ON p.id = f.page_id
  JOIN messor.hosts h ON h.id = p.host_id JOIN messor.domains d ON d.id = h.domain_id
  LEFT JOIN LATERAL (SELECT x.decided_by FROM messor.flag_decisions x
                      WHERE x.page_id = f.page_id AND x.vertical = f.vertical
                      ORDER BY x.id DESC LIMIT 1) said ON true
 WHERE f.vertical = $1
   AND CASE $2 WHEN 'relevant' THEN f.relevant WHEN 'irrelevant' THEN NOT f.relevant
               WHEN 'undecided' THEN f.relevant IS NULL ELSE true END
   AND ($3::text IS NULL OR d.domain = $3)
 ORDER BY said.decided_by IS NOT NULL, abs(f.score - 0.5), f.page_id LIMIT $4
"""
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
class FlagRow:
    """A flag as a reviewer sees it."""

    page_id: int
    url: str
    domain: str
    relevant: bool | None
    score: float
    reasons: list[str]
    model_version: str
    flagged_at: datetime
    decided_by: str | None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The result of a review."""

    page_id: int
    url: str
    relevant: bool
    overturned: bool


async def listing(
    source: Connection | Database,
    topic: Topic,
    *,
    state: State = "all",
    domain: str | None = None,
    limit: int = 50,
) -> list[FlagRow]:
    """Flags of a vertical, undecided ones and those nearest to even odds first."""
    rows = await source.fetch(LIST, topic.name, state, domain, limit)
    return [FlagRow(**{**row, "reasons": msgspec.json.decode(row["reasons"])}) for row in rows]


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
    row = await connection.fetchrow(FIND, topic.name, await _page_id(connection, page))
    if row is None:
        raise NotFoundError(f"{page} is not flagged for {topic.name}.")
    verdict = _verdict(row["relevant"], agrees=agrees, relevant=relevant)
    decision = ReviewDecision(row["page_id"], row["domain"], verdict, actor, reason)
    domain_id: UUID = row["domain_id"]
    text = PageText(row["title"], row["text"])
    overturned = await decide(connection, topic, decision, text, domain_id=domain_id)
    return Reviewed(row["page_id"], row["url"], verdict, overturned)


def _verdict(flagged: bool | None, *, agrees: bool, relevant: bool | None) -> bool:
    if flagged is None:
        if relevant is None:
            raise UsageError("The flag is undecided: add --as relevant or --as irrelevant.")
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
