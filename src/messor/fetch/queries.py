"""Queries of the fetch log: the list for every interface, newest first.

The log is too long to be read as a whole: a list is of a page or a domain. A domain's fetches are
found through its hosts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

import msgspec
from pydantic import PlainSerializer

from messor.errors import UsageError
from messor.frontier import page_queries
from messor.store.listing import (
    DomainText,
    Filters,
    Listing,
    Moment,
    Order,
    Position,
    Source,
    Values,
    all_of,
    where,
)
from messor.web.urls import Url, parse

SCAN_LIMIT = 3_000  # fetches scanned per query
LAST_ID = 2**63 - 1

_COLUMNS = """f.id, f.fetched_at, f.page_id, p.url, f.outcome, f.status_code, f.size,
  f.duration_ms, f.waited_ms, f.delay_ms, f.fetch_provider, f.provider_cost, f.quality_gate_failed,
  f.rule, f.policy_version, f.robots_id, f.final_url, f.proxy_id, f.signed_by,
  f.error_json::text AS error, f.detail::text AS detail"""

_HOSTS = """(SELECT h.id FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
              WHERE d.domain = {}::text)"""
_PAST = "(n.fetched_at, n.id) < ({at}::text::timestamptz, {id}::text::bigint)"

OF_PAGE = f"""
SELECT {_COLUMNS}
  FROM (SELECT n.* FROM messor.http_fetches n WHERE n.page_id = {{page}} AND {{fits}}
         ORDER BY n.fetched_at DESC, n.id DESC LIMIT {{limit}}) f
  LEFT JOIN messor.pages p ON p.id = f.page_id
 ORDER BY f.fetched_at DESC, f.id DESC
"""
# `scan` rows are scanned, an equal share per host: that bounds the search for a rare outcome. A
# host with more rows to scan ends the scan for all.
OF_DOMAIN = f"""
WITH hosts AS MATERIALIZED (
  SELECT x.id, greatest({{scan}} / count(*) OVER (), {{limit}} + 1) AS most FROM {_HOSTS.format("{domain}")} x
), looked AS MATERIALIZED (
  SELECT h.most, f.* FROM hosts h CROSS JOIN LATERAL (
    SELECT n.* FROM messor.http_fetches n WHERE n.host_id = h.id AND {{within}}
     ORDER BY n.fetched_at DESC LIMIT h.most) f
), edge AS MATERIALIZED (
  SELECT max(e.oldest) AS at FROM (
    SELECT min(l.fetched_at) AS oldest FROM looked l GROUP BY l.host_id, l.most
    HAVING count(*) >= l.most) e
)
SELECT {_COLUMNS}, (SELECT at FROM edge) AS edge
  FROM (SELECT 1) once LEFT JOIN (
    SELECT n.* FROM looked n
     WHERE {{fits}} AND n.fetched_at > coalesce((SELECT at FROM edge), '-infinity')
     ORDER BY n.fetched_at DESC, n.id DESC LIMIT {{limit}}) f ON true
  LEFT JOIN messor.pages p ON p.id = f.page_id
 ORDER BY f.fetched_at DESC, f.id DESC
"""

Cost = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]


class FetchFilter(Filters):
    """Filters of fetches; one of domain, page_id and url is required."""

    domain: DomainText | None = where(f"n.host_id IN {_HOSTS}", "Domain")
    page_id: int | None = where("", "Page", ge=1, le=LAST_ID)
    url: str | None = where("", "URL of a page", min_length=1, max_length=8_000)
    outcome: str | None = where("n.outcome = {}", "Outcome", min_length=1, max_length=100)
    provider: str | None = where("n.fetch_provider = {}", "Provider", min_length=1, max_length=100)
    since: Moment | None = where("n.fetched_at >= {}", "Since", indexed=True)
    until: Moment | None = where("n.fetched_at < {}", "Before", indexed=True)


@dataclass(frozen=True, slots=True)
class LoggedFetch:
    """One attempt to fetch a page."""

    id: int
    fetched_at: datetime
    page_id: int
    url: str | None  # None when the page was erased
    outcome: str
    status_code: int | None
    size: int | None
    duration_ms: int
    waited_ms: int
    delay_ms: int | None
    fetch_provider: str
    provider_cost: Cost | None
    quality_gate_failed: str | None
    rule: str
    policy_version: int
    robots_id: int | None
    final_url: str | None
    proxy_id: int | None
    signed_by: int | None  # the identity key; None: not signed
    error: dict[str, Any] | None
    detail: dict[str, Any] | None

    @classmethod
    def of(cls, row: Any) -> LoggedFetch:
        decoded = {name: _decode(row[name]) for name in ("error", "detail")}
        return cls(**{**row, **decoded})


async def _read(
    source: Source, wanted: FetchFilter, _: str, after: Position | None, limit: int
) -> tuple[list[LoggedFetch], Position | None]:
    if wanted.page_id is not None or wanted.url is not None:
        return await _of_page(source, wanted, after, limit)
    if wanted.domain is not None:
        return await _of_domain(source, wanted, after, limit)
    raise UsageError("Specify one of domain, page_id and url.")


async def _of_page(
    source: Source, wanted: FetchFilter, after: Position | None, limit: int
) -> tuple[list[LoggedFetch], Position | None]:
    pages = {wanted.page_id} if wanted.page_id is not None else set()
    if wanted.url is not None:
        pages.add(await page_queries.find(source, _parsed(wanted.url)))
    if len(pages) > 1:
        return [], None  # no page has two URLs
    values = Values()
    page = values.add(pages.pop())
    fits = [*_past(after, values), *values.conditions(wanted, indexed=True)]
    fits += values.conditions(wanted, without=("page_id", "url"))
    sql = OF_PAGE.format(page=page, fits=all_of(fits), limit=limit + 1)
    found = [LoggedFetch.of(row) for row in await source.fetch(sql, *values)]
    return found[:limit], _place(found[limit - 1]) if len(found) > limit else None


async def _of_domain(
    source: Source, wanted: FetchFilter, after: Position | None, limit: int
) -> tuple[list[LoggedFetch], Position | None]:
    values = Values()
    domain = values.add(wanted.domain)
    within = [*_past(after, values), *values.conditions(wanted, indexed=True)]
    if after is not None:  # as partitions are pruned by a plain comparison only
        within.append("n.fetched_at <= $2::text::timestamptz")
    fits = values.conditions(wanted, without=("domain", "page_id", "url"))
    sql = OF_DOMAIN.format(
        domain=domain,
        within=all_of(within),
        fits=all_of(fits),
        limit=limit + 1,
        scan=SCAN_LIMIT if fits else 0,
    )
    rows = await source.fetch(sql, *values)
    edge: datetime | None = rows[0]["edge"]
    found = [LoggedFetch.of(_without_edge(row)) for row in rows if row["id"] is not None]
    if len(found) > limit:
        return found[:limit], _place(found[limit - 1])
    return found, None if edge is None else Position(edge.isoformat(), str(LAST_ID))


def _past(after: Position | None, values: Values) -> list[str]:
    if after is None:
        return []
    return [_PAST.format(at=values.add(after.value), id=values.add(after.key))]


def _place(last: LoggedFetch) -> Position:
    return Position(last.fetched_at.isoformat(), str(last.id))


FETCHES = Listing(
    name="fetches",
    item=LoggedFetch,
    filters=FetchFilter,
    orders={"-fetched_at": Order("n.fetched_at", "timestamptz", "Newest first", descending=True)},
    reader=_read,
)


def _parsed(text: str) -> Url:
    url = parse(text if "://" in text else f"https://{text}")
    if url is None:
        raise UsageError(f"{text[:200]!r} is not a valid URL.")
    return url


def _without_edge(row: Any) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "edge"}


def _decode(text: str | None) -> dict[str, Any] | None:
    found = None if text is None else msgspec.json.decode(text)
    return found if found is None or isinstance(found, dict) else {"value": found}
