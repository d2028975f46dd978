"""Evidence: the piece of a page that a field was read from, and how its value was derived.

A field's value is derived from its quote alone, so anyone with the page's decoded text can verify
it: the quote occurs there literally, and its normaliser yields the value again. What is not on the
page cannot become a field. Finding quotes is the job of `spans`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from messor.content.plain import from_html, from_json, one_space
from messor.core.lazy import lazy
from messor.web.text import storable

# Converts plain text to a JSON value; None if the text contains no such value.
Normaliser = Callable[[str], Any]

# Longer quotes are truncated; the value is derived from what remains.
MAX_QUOTE = 20_000
MAX_PATH = 300

# Quotes from these sources are the content of a string in JSON or in a script; all others are HTML.
JSON_SOURCES = frozenset(("json_ld", "state"))


class Evidence(msgspec.Struct, frozen=True):
    """Where a field's value comes from: `method` is `source:normaliser`, as in `json_ld:amount`."""

    method: str
    quote: str  # literal text of the decoded page
    path: str = ""  # of the node or key, for people

    @property
    def source(self) -> str:
        return self.method.partition(":")[0]

    @property
    def normaliser(self) -> str:
        return self.method.partition(":")[2]


class EvidencedField(msgspec.Struct, frozen=True):
    """One value of a record, its confidence (0 to 1) and its evidence."""

    value: Any
    confidence: float
    evidence: Evidence

    def as_json(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "confidence": round(self.confidence, 3),
            "evidence": {
                "method": self.evidence.method,
                "quote": self.evidence.quote,
                "path": self.evidence.path,
            },
        }


class Normalisers:
    """Normalisers by name. Each group of record kinds registers its own."""

    def __init__(self) -> None:
        self._known: dict[str, Normaliser] = {}
        self._raw: set[str] = set()

    def add(self, name: str, normaliser: Normaliser, *, raw: bool = False) -> None:
        """Register a normaliser; a `raw` one gets the quote with its markup."""
        if self._known.setdefault(name, normaliser) is not normaliser:
            raise ValueError(f"A different normaliser called {name!r} is already registered.")
        if raw:
            self._raw.add(name)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def value(self, method: str, quote: str) -> Any:
        """Return the value a method derives from a quote, or None."""
        source, _, name = method.partition(":")
        return self.apply(source, name, quote)

    def apply(self, source: str, name: str, quote: str) -> Any:
        """The same, with the method given as source and normaliser."""
        normalise = self._known.get(name)
        if normalise is None:
            return None
        if name in self._raw:
            return normalise(quote)
        plain = from_json(quote) if source in JSON_SOURCES else from_html(quote)
        return normalise(storable(plain))


NORMALISERS = Normalisers()


def make_field(
    source: str, normaliser: str, quote: str, *, confidence: float, path: str = ""
) -> EvidencedField | None:
    """Return a field with the value derived from its quote, or None.

    The quote must be a piece of the decoded page: the caller has just cut it out of there.
    """
    quote = quote.strip()[:MAX_QUOTE]
    if not quote or storable(quote) != quote:
        return None
    value = NORMALISERS.apply(source, normaliser, quote)
    if value is None or value == "":
        return None
    evidence = Evidence(f"{source}:{normaliser}", quote, storable(path[:MAX_PATH]))
    return EvidencedField(value, confidence, evidence)


def supports(field: EvidencedField, decoded: str) -> bool:
    """Whether a page's decoded text contains the field's quote and the quote yields the value."""
    evidence = field.evidence
    if not evidence.quote or evidence.quote not in decoded:
        return False
    return bool(NORMALISERS.value(evidence.method, evidence.quote) == field.value)


def _text(limit: int) -> Normaliser:
    return lambda text: one_space(text)[:limit].rstrip()


NORMALISERS.add("text", _text(500))
NORMALISERS.add("long_text", _text(MAX_QUOTE))


@dataclass(frozen=True)
class Passage:
    """A quote from one place of a page: `source` is html, meta, microdata, rdfa or json_ld."""

    source: str
    quote: str
    path: str = ""

    @lazy
    def text(self) -> str:
        undo = from_json if self.source in JSON_SOURCES else from_html
        return one_space(undo(self.quote[:MAX_QUOTE]))

    def field(self, normaliser: str = "text", confidence: float = 0.9) -> EvidencedField | None:
        """Return the field the passage supports, or None."""
        return make_field(
            self.source, normaliser, self.quote, confidence=confidence, path=self.path
        )


def fields(**found: EvidencedField | None) -> dict[str, EvidencedField]:
    """Return only the supported fields."""
    return {name: field for name, field in found.items() if field is not None}
