"""Evidence: the piece of a page that a field was read from, and how its value was made of it.

A field's value is made of its quote and of nothing else, so whoever holds the page's decoded text
can check it: the quote stands there literally, and its normaliser yields the value again. What is
not on the page cannot become a field. Where quotes are looked for is left to `source`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from messor.content.plain import from_html, from_json, one_space
from messor.web.text import storable

# Makes a JSON value of plain text; None when the text does not say such a thing.
Normaliser = Callable[[str], Any]

# Longer quotes are cut; the value is then made of what remains.
MAX_QUOTE = 20_000
MAX_PATH = 300

# Quotes from these are the inside of a string in JSON or in a script; all others are HTML.
JSON_SOURCES = frozenset(("json_ld", "state"))


class Evidence(msgspec.Struct, frozen=True):
    """Where a field's value stands: `method` is `source:normaliser`, as in `json_ld:amount`."""

    method: str
    quote: str  # literally as in the decoded page
    path: str = ""  # of the node or of the key, for people

    @property
    def source(self) -> str:
        return self.method.partition(":")[0]

    @property
    def normaliser(self) -> str:
        return self.method.partition(":")[2]


class EvidencedField(msgspec.Struct, frozen=True):
    """One value of a record, how sure it is (0 to 1), and what supports it."""

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
    """Normalisers by name. A family of records brings its own along with those of others."""

    def __init__(self) -> None:
        self._known: dict[str, Normaliser] = {}
        self._raw: set[str] = set()

    def add(self, name: str, normaliser: Normaliser, *, raw: bool = False) -> None:
        """Give a normaliser its name; a `raw` one sees the quote with its markup."""
        if self._known.setdefault(name, normaliser) is not normaliser:
            raise ValueError(f"There is another normaliser called {name!r}.")
        if raw:
            self._raw.add(name)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def value(self, method: str, quote: str) -> Any:
        """What a quote says by a method, None when nothing."""
        source, _, name = method.partition(":")
        return self.said(source, name, quote)

    def said(self, source: str, name: str, quote: str) -> Any:
        """The same, by the two parts of a method."""
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
    """A field whose value is what its quote says; None when it says no such thing.

    The quote has to be a piece of the decoded page; whoever calls has just cut it out of there.
    """
    quote = quote.strip()[:MAX_QUOTE]
    if not quote or storable(quote) != quote:
        return None
    value = NORMALISERS.said(source, normaliser, quote)
    if value is None or value == "":
        return None
    evidence = Evidence(f"{source}:{normaliser}", quote, storable(path[:MAX_PATH]))
    return EvidencedField(value, confidence, evidence)


def supports(field: EvidencedField, decoded: str) -> bool:
    """Whether a page's decoded text holds the field's quote, and the quote says the value."""
    evidence = field.evidence
    if not evidence.quote or evidence.quote not in decoded:
        return False
    return bool(NORMALISERS.value(evidence.method, evidence.quote) == field.value)


def _text(limit: int) -> Normaliser:
    return lambda text: one_space(text)[:limit].rstrip()


NORMALISERS.add("text", _text(500))
NORMALISERS.add("long_text", _text(MAX_QUOTE))
