"""Answers of a search server: it finds and counts, PostgreSQL shows.

A hit is shown from PostgreSQL, so what was erased, or has changed since, is never shown as it was;
the index may lag behind, the answer does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from messor.errors import UsageError
from messor.insight.questions import understand
from messor.insight.search import (
    COUNTED,
    MOST,
    USED_CONFIGS,
    VALUES,
    Facets,
    ResultPosition,
    SearchFilters,
    SearchResults,
    price_range,
    sealed,
    shown,
)
from messor.insight.search_server.client import (
    SearchServer,
    SearchServerDownError,
    SearchServerRefusedError,
)
from messor.insight.search_server.layout import parts_of
from messor.insight.search_server.query import facets_body, found_body
from messor.store.database import Connection, Database

ANSWERED_BY = "search server"


class NoIndexError(SearchServerDownError):
    """The server has no index yet."""


async def search(
    source: Connection | Database,
    server: SearchServer,
    typed: str,
    filters: SearchFilters,
    *,
    after: ResultPosition | None,
    limit: int,
) -> SearchResults:
    """A page of the best matches after a place of this server's."""
    question = understand(typed)
    if not 1 <= limit <= MOST:
        raise UsageError(f"A page has 1 to {MOST} results; {limit} were requested.")
    configs = await _configs(source)
    place = None if after is None else (after.rank, after.last)
    found: list[Mapping[str, Any]] = []
    if configs:
        body = found_body(question, filters, configs, place, limit + 1)
        found = (await _asked(server, body))["hits"]["hits"]
    hits = await shown(source, question, [_place(one) for one in found[:limit]])
    if len(found) <= limit:
        return SearchResults(hits, None, ANSWERED_BY)
    score, number = found[limit - 1]["sort"]
    following = sealed(ResultPosition(score, number, ANSWERED_BY), question, filters)
    return SearchResults(hits, following, ANSWERED_BY)


async def facets(
    source: Connection | Database, server: SearchServer, typed: str, filters: SearchFilters
) -> Facets:
    """Counts of all matches by facet."""
    question = understand(typed)
    configs = await _configs(source)
    if not configs:
        return Facets(0, is_exact=True)
    said = await _asked(server, facets_body(question, filters, configs))
    total = said["hits"]["total"]["value"]
    return Facets(min(total, COUNTED), total <= COUNTED, _by(said["aggregations"]))


def _by(said: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    by: dict[str, dict[str, int]] = {}
    for name, one in said.items():
        counts = _prices(one) if name == "price" else _counts(one)
        best = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:VALUES]
        if best:
            by[name] = dict(best)
    return by


def _counts(one: Mapping[str, Any]) -> dict[str, int]:
    return {str(bucket["key"]): bucket["doc_count"] for bucket in one["buckets"]}


def _prices(one: Mapping[str, Any]) -> dict[str, int]:
    return {
        price_range(f"{currency['key']} {bucket['key']}"): bucket["doc_count"]
        for currency in one["buckets"]
        for bucket in currency["ranges"]["buckets"]
        if bucket["doc_count"]
    }


def _place(hit: Mapping[str, Any]) -> tuple[int, int | None, float]:
    return (*parts_of(hit["_id"]), hit["sort"][0])


async def _configs(source: Connection | Database) -> list[str]:
    return [row["config"] for row in await source.fetch(USED_CONFIGS)]


async def _asked(server: SearchServer, body: dict[str, Any]) -> Any:
    try:
        return await server.ask("POST", f"{server.settings.alias}/_search", body)
    except SearchServerRefusedError as error:
        if error.status == 404:
            raise NoIndexError(
                f"The search server {server.place} has no index yet; make it with: "
                "messor search-index rebuild"
            ) from error
        raise
