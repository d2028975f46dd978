"""Search queries and filters as the body of a request, with the meaning that PostgreSQL gives them.

Each document is searched in its own language: one clause per language in use. OR binds less than the
words beside it, as in `websearch_to_tsquery`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from messor.insight.highlights import fold
from messor.insight.questions import SearchQuery
from messor.insight.search import COUNTED, PRICE_EDGES, VALUES, SearchFilters

WEIGHTS = (("title", 10), ("about", 4), ("body", 1))
_PARTS = re.compile(r'-?"[^"]*"?|\S+')
_OR = "or"

Clause = dict[str, Any]


def found_body(
    question: SearchQuery,
    filters: SearchFilters,
    configs: Sequence[str],
    after: tuple[float, int] | None,
    limit: int,
) -> dict[str, Any]:
    """The request for a page of matches, best first."""
    body: dict[str, Any] = {
        "size": limit,
        "query": _query(question, filters, configs),
        "sort": [{"_score": "desc"}, {"number": "desc"}],
        "track_total_hits": False,
        "_source": False,
    }
    if after is not None:
        body["search_after"] = list(after)
    return body


def facets_body(
    question: SearchQuery, filters: SearchFilters, configs: Sequence[str]
) -> dict[str, Any]:
    """The request for counts of all matches."""
    names = {
        "domain": "domain_name", "kind": "kind", "brand": "brand", "category": "category",
        "availability": "availability", "rating": "rating_floor",
    }  # fmt: skip
    aggregations: dict[str, Any] = {
        name: {"terms": {"field": field, "size": VALUES}} for name, field in names.items()
    }
    edges = [None, *PRICE_EDGES, None]
    ranges = [
        {"key": str(at), **({} if low is None else {"from": low}), **({} if high is None else {"to": high})}
        for at, (low, high) in enumerate(pairwise(edges))
    ]  # fmt: skip
    aggregations["price"] = {
        "terms": {"field": "currency", "missing": "?", "size": VALUES},
        "aggs": {"ranges": {"range": {"field": "price", "ranges": ranges}}},
    }
    return {
        "size": 0,
        "query": _query(question, filters, configs),
        "aggs": aggregations,
        "track_total_hits": COUNTED + 1,
    }


def _query(question: SearchQuery, filters: SearchFilters, configs: Sequence[str]) -> Clause:
    languages = [_in_language(question, config) for config in configs]
    return {
        "bool": {
            "filter": _filters(filters),
            "must": [{"bool": {"should": languages, "minimum_should_match": 1}}],
        }
    }


def _filters(filters: SearchFilters) -> list[Clause]:
    lists = {
        "kind": filters.kinds,
        "domain_name": filters.domains,
        "brand": filters.brands,
        "category": filters.categories,
        "availability": filters.availability,
    }
    found: list[Clause] = [
        {"terms": {field: list(values)}} for field, values in lists.items() if values
    ]
    price = {"gte": filters.min_price, "lte": filters.max_price}
    if stated := {name: value for name, value in price.items() if value is not None}:
        found.append({"range": {"price": stated}})
    if filters.currency is not None:
        found.append({"term": {"currency": filters.currency}})
    if filters.min_rating is not None:
        found.append({"range": {"rating": {"gte": filters.min_rating}}})
    if filters.min_confidence is not None:
        found.append({"range": {"confidence": {"gte": filters.min_confidence}}})
    return found


def _in_language(question: SearchQuery, config: str) -> Clause:
    """The question to the documents of one language."""
    fields = [f"text.{config}.{part}^{weight}" for part, weight in WEIGHTS]
    must: list[Clause] = []
    if groups := [_all_of(group, fields) for group in _alternatives(question.words)]:
        must.append(_any_of(groups))
    must += [_beginning(one, config) for one in question.beginnings]
    unwanted = [_beginning(one, config) for one in question.unwanted]
    return {
        "bool": {
            "filter": [{"term": {"config": config}}],
            "must": must or [{"match_none": {}}],
            "must_not": unwanted,
        }
    }


def _alternatives(words: str) -> list[list[str]]:
    """The parts between ORs; an OR at either end is a word like any other."""
    parts = _PARTS.findall(words)
    groups: list[list[str]] = [[]]
    for at, part in enumerate(parts):
        if part.lower() == _OR and groups[-1] and at + 1 < len(parts):
            groups.append([])
        else:
            groups[-1].append(part)
    return [group for group in groups if group]


def _any_of(clauses: list[Clause]) -> Clause:
    if len(clauses) == 1:
        return clauses[0]
    return {"bool": {"should": clauses, "minimum_should_match": 1}}


def _all_of(parts: list[str], fields: list[str]) -> Clause:
    """Words, phrases and what is excluded, all at once. Words that say nothing are left out."""
    wanted = [part for part in parts if not part.startswith("-")]
    plain = " ".join(fold(part) for part in wanted if '"' not in part)
    phrases = [fold(part.strip('"')) for part in wanted if '"' in part]
    must = [_match(plain, fields)] if re.search(r"\w", plain) else []
    # A phrase that says nothing is left out, too, unless it is all there is.
    silent = "all" if must or len(phrases) > 1 else "none"
    must += [_phrase(each, fields, silent) for each in phrases if re.search(r"\w", each)]
    excluded = [fold(part.strip('-"')) for part in parts if part.startswith("-")]
    must_not = [_phrase(each, fields) for each in excluded if re.search(r"\w", each)]
    if not must and not must_not:
        return {"match_none": {}}
    return {"bool": {"must": must or [{"match_all": {}}], "must_not": must_not}}


def _match(text: str, fields: list[str]) -> Clause:
    """Every word in any of the fields."""
    return {
        "multi_match": {"query": text, "type": "cross_fields", "operator": "and", "fields": fields}
    }


def _phrase(text: str, fields: list[str], silent: str = "none") -> Clause:
    given = {"query": text, "type": "phrase", "fields": fields, "zero_terms_query": silent}
    return {"multi_match": given}


def _beginning(beginning: str, config: str) -> Clause:
    """Words that begin so, in any part of the text."""
    text = fold(beginning).strip().lower()
    return {
        "bool": {
            "should": [
                {"prefix": {f"text.{config}.{part}": {"value": text}}} for part, _ in WEIGHTS
            ],
            "minimum_should_match": 1,
        }
    }
