"""A passage: a piece of a page with its literal quote, from which a record field is derived."""

from __future__ import annotations

from dataclasses import dataclass

from messor.content.evidence import JSON_SOURCES, MAX_QUOTE, EvidencedField, make_field
from messor.content.plain import from_html, from_json, one_space
from messor.core.lazy import lazy


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
