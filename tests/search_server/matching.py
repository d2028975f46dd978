"""The part of the query language that Messor uses; anything else is refused, as a server does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.search_server.analysis import words

Matched = float | None  # the score; None if it does not match


class WrongQueryError(Exception):
    """A request body that a server would not parse."""


@dataclass
class Stored:
    """One document as stored, with its words by text field."""

    key: str
    version: int
    source: dict[str, Any]
    values: dict[str, Any]
    texts: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Matcher:
    """Scores documents of an index with this mapping."""

    fields: dict[str, dict[str, Any]]

    def score(self, query: dict[str, Any], document: Stored) -> Matched:
        ((kind, given),) = query.items()
        if kind not in (
            "bool",
            "match_all",
            "match_none",
            "term",
            "terms",
            "range",
            "prefix",
            "multi_match",
        ):
            raise WrongQueryError(f"unknown query [{kind}]")
        found: Matched = getattr(self, f"_{kind}")(given, document)
        return found

    def _match_all(self, _: Any, __: Stored) -> Matched:
        return 1.0

    def _match_none(self, _: Any, __: Stored) -> Matched:
        return None

    def _bool(self, given: dict[str, Any], document: Stored) -> Matched:
        if unknown := given.keys() - {
            "must",
            "should",
            "filter",
            "must_not",
            "minimum_should_match",
        }:
            raise WrongQueryError(f"[bool] query does not support [{min(unknown)}]")
        if any(self.score(one, document) is None for one in given.get("filter", [])):
            return None
        if any(self.score(one, document) is not None for one in given.get("must_not", [])):
            return None
        must = [self.score(one, document) for one in given.get("must", [])]
        should = [self.score(one, document) for one in given.get("should", [])]
        hits = [one for one in should if one is not None]
        if None in must or len(hits) < given.get("minimum_should_match", 0):
            return None
        return sum(one for one in must if one is not None) + sum(hits)

    def _term(self, given: dict[str, Any], document: Stored) -> Matched:
        ((path, wanted),) = given.items()
        return 1.0 if document.values.get(path) == wanted else None

    def _terms(self, given: dict[str, Any], document: Stored) -> Matched:
        ((path, wanted),) = given.items()
        return 1.0 if document.values.get(path) in wanted else None

    def _range(self, given: dict[str, Any], document: Stored) -> Matched:
        ((path, limits),) = given.items()
        value = document.values.get(path)
        if value is None or value < limits.get("gte", value) or value > limits.get("lte", value):
            return None
        return 1.0

    def _prefix(self, given: dict[str, Any], document: Stored) -> Matched:
        ((path, wanted),) = given.items()
        return (
            1.0
            if any(one.startswith(wanted["value"]) for one in document.texts.get(path, ()))
            else None
        )

    def _multi_match(self, given: dict[str, Any], document: Stored) -> Matched:
        paths = {
            path: float(weight or 1)
            for path, _, weight in (one.partition("^") for one in given["fields"])
        }
        asked = words(given["query"], self._analyzer(next(iter(paths))))
        if not asked:
            return 1.0 if given.get("zero_terms_query", "none") == "all" else None
        if given["type"] == "phrase":
            return self._phrase(asked, paths, document)
        if given["type"] != "cross_fields" or given.get("operator") != "and":
            raise WrongQueryError(f"[multi_match] unknown type [{given['type']}]")
        total = 0.0
        for word in asked:
            weights = [
                weight for path, weight in paths.items() if word in document.texts.get(path, ())
            ]
            if not weights:
                return None
            total += max(weights)
        return total

    def _phrase(self, asked: list[str], paths: dict[str, float], document: Stored) -> Matched:
        for path, weight in paths.items():
            text = document.texts.get(path, [])
            if any(text[at : at + len(asked)] == asked for at in range(len(text))):
                return weight
        return None

    def _analyzer(self, path: str) -> str:
        return str(self.fields.get(path, {}).get("analyzer", "standard"))

    def aggregated(self, wanted: dict[str, Any], documents: list[Stored]) -> dict[str, Any]:
        return {name: self._aggregation(one, documents) for name, one in wanted.items()}

    def _aggregation(self, wanted: dict[str, Any], documents: list[Stored]) -> dict[str, Any]:
        if "range" in wanted:
            return {
                "buckets": [
                    self._bucket(wanted["range"], one, documents)
                    for one in wanted["range"]["ranges"]
                ]
            }
        if "terms" not in wanted:
            raise WrongQueryError(f"Unknown aggregation type [{next(iter(wanted))}]")
        terms = wanted["terms"]
        groups: dict[Any, list[Stored]] = {}
        for document in documents:
            value = document.values.get(terms["field"], terms.get("missing"))
            if value is not None:
                groups.setdefault(value, []).append(document)
        best = sorted(groups.items(), key=lambda pair: (-len(pair[1]), str(pair[0])))[
            : terms["size"]
        ]
        return {
            "buckets": [
                {
                    "key": key,
                    "doc_count": len(group),
                    **self.aggregated(wanted.get("aggs", {}), group),
                }
                for key, group in best
            ]
        }

    def _bucket(
        self, wanted: dict[str, Any], limits: dict[str, Any], documents: list[Stored]
    ) -> dict[str, Any]:
        values = [one.values[wanted["field"]] for one in documents if wanted["field"] in one.values]
        inside = [
            one
            for one in values
            if limits.get("from", one) <= one and one < limits.get("to", one + 1)
        ]
        return {"key": limits["key"], "doc_count": len(inside)}
