"""Analysis and mappings of the stand-in: what a field accepts, and the words of a text.

The analyzers approximate Lucene's: the same kind of stemmer, and stop words of English alone.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import Any

import snowballstemmer

STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "for",
        "if",
        "in",
        "into",
        "is",
        "it",
        "no",
        "not",
        "of",
        "on",
        "or",
        "such",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "will",
        "with",
    ]
)  # Lucene's list for English
KEYWORD_BYTES = 32_766
_WORD = re.compile(r"\w+")
TYPES = {"integer", "long", "double", "keyword", "text", "date"}


class WrongMappingError(Exception):
    """A mapping that a server would not accept."""


class WrongFieldError(Exception):
    """A value that does not fit its field."""


@cache
def _stemmer(name: str) -> Any:
    return snowballstemmer.stemmer("porter" if name == "english" else name)


def analyzers() -> set[str]:
    return {*snowballstemmer.algorithms(), "standard"} - {"porter"}


def words(text: str, analyzer: str) -> list[str]:
    found = [word.lower() for word in _WORD.findall(text)]
    if analyzer == "standard":
        return found
    if analyzer == "english":
        found = [word for word in found if word not in STOP]
    stemmed: list[str] = _stemmer(analyzer).stemWords(found)
    return stemmed


def fields_of(mapping: dict[str, Any], prefix: str = "") -> dict[str, dict[str, Any]]:
    """The leaves of a mapping by their path; raises what a server would."""
    found: dict[str, dict[str, Any]] = {}
    for name, one in mapping.get("properties", {}).items():
        path = f"{prefix}{name}"
        if "properties" in one:
            found |= fields_of(one, f"{path}.")
            continue
        if one.get("type") not in TYPES:
            raise WrongMappingError(
                f"No handler for type [{one.get('type')}] declared on field [{name}]"
            )
        if one.get("analyzer", "standard") not in analyzers():
            raise WrongMappingError(
                f"analyzer [{one['analyzer']}] has not been configured in mappings"
            )
        found[path] = one
    return found


def checked(
    fields: dict[str, dict[str, Any]], source: dict[str, Any], prefix: str = ""
) -> dict[str, Any]:
    """A document's values by path; fields that the mapping does not know are kept unread."""
    values: dict[str, Any] = {}
    for name, value in source.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict):
            values |= checked(fields, value, f"{path}.")
        elif path in fields and value is not None:
            _require(path, fields[path]["type"], value)
            values[path] = value
    return values


def _require(path: str, kind: str, value: Any) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    fits = {
        "integer": whole and -(2**31) <= value < 2**31,
        "long": whole and -(2**63) <= value < 2**63,
        "double": whole or isinstance(value, float),
        "keyword": isinstance(value, (str, int, float))
        and len(str(value).encode()) <= KEYWORD_BYTES,
        "text": isinstance(value, str),
        "date": isinstance(value, str) and _is_date(value),
    }
    if not fits[kind]:
        raise WrongFieldError(f"failed to parse field [{path}] of type [{kind}]")


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
