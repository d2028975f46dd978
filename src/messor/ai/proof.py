"""Proves model answers: each value is searched on the page and derived again from the text there.

An answer is only a hint where to look. A value whose words are not visible on the page, or do not
yield such a value, is rejected, and so is a record without its subject. Rejected values are kept as
unverified, with the reason.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

import messor.content.products.normalise  # noqa: F401 - registers its normalisers
from messor.ai.questions import kind_of
from messor.ai.visible_text import VisibleText
from messor.content.amounts import MONEY
from messor.content.evidence import EvidencedField, make_field, supports
from messor.content.records import Record
from messor.content.validation import validated
from messor.content.view import PageView

PARSER = "ai"
CONFIDENCE = 0.7
_BARE = 4  # a shorter number needs an adjacent currency to be an amount
# A standalone number, not the end of a name such as AB-33.
_NUMBER = re.compile(r"(?<![\w\-\u2010-\u2015])\d[\d.,'\u2019\s]*(?![\w\-])")


@dataclass(frozen=True, slots=True)
class Unverified:
    """A value, or a whole record if the field is empty, that the page does not support."""

    kind: str
    field: str
    value: Any
    reason: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Prover:
    """Proves answers about one page."""

    def __init__(self, page: PageView, seen: VisibleText, version: str) -> None:
        self._page = page
        self._seen = seen
        self._version = version
        self._links: list[tuple[int, int, Any]] | None = None
        self.unverified: list[Unverified] = []

    def records(self, answer: dict[str, list[dict[str, str | None]]]) -> list[Record]:
        """Return the records of an answer that the page supports."""
        made = [
            record
            for kind, said in answer.items()
            for each in said
            if (record := self._record(kind, each)) is not None
        ]
        good, rejected = validated(made)
        for each in rejected:
            self.unverified.append(Unverified(each.kind, each.field, None, each.reason))
        return good

    def _record(self, kind: str, said: dict[str, str | None]) -> Record | None:
        stated = {name: text for name, text in said.items() if text and text.strip()}
        head = kind_of(kind).subject
        head = head if head in stated else None
        near: int | None = None
        found: dict[str, EvidencedField] = {}
        for name in sorted(stated, key=lambda each: each != head):
            if (
                name != head
                and head in found
                and _is_prose(kind, name)
                and stated[name] == stated[head]
            ):
                said_of = f"Its words are those of the {head}."
                self.unverified.append(Unverified(kind, name, stated[name], said_of))
                continue
            proved = self._prove(kind, name, stated[name], near)
            if proved is None:
                continue
            found[name], place = proved
            near = place if near is None else near
        if head is not None and head not in found:
            self.unverified.append(Unverified(kind, "", said, f"Its {head} is not on the page."))
            return None
        self._derive(kind, found, near)
        if not found:
            return None
        sure = CONFIDENCE * len(found) / max(len(stated), len(found))
        return Record(kind, round(sure, 3), PARSER, self._version, found)

    def _prove(
        self, kind: str, name: str, text: str, near: int | None
    ) -> tuple[EvidencedField, int] | None:
        normaliser = kind_of(kind).normaliser(name)
        places = list(self._seen.find(text))
        if near is not None:
            places.sort(key=lambda place: abs(place[0] - near))
        for place in places:
            begin, end = self._whole_money(normaliser, *place)
            field = self._field(normaliser, begin, end)
            if field is not None:
                return field, begin
        reason = "Its words do not say such a value." if places else "It is not seen on the page."
        self.unverified.append(Unverified(kind, name, text, reason))
        return None

    def _field(self, normaliser: str, begin: int, end: int) -> EvidencedField | None:
        quote = self._seen.source[begin:end]
        if normaliser == "money_amount" and not MONEY.search(quote) and not _is_number(quote):
            return None
        field = make_field("html", normaliser, quote, confidence=CONFIDENCE, path="model")
        return field if field and supports(field, self._seen.source) else None

    def _whole_money(self, normaliser: str, begin: int, end: int) -> tuple[int, int]:
        """Return a bare number together with an adjacent currency."""
        if not normaliser.startswith("money_"):
            return begin, end
        start = max(0, begin - 12)
        for match in MONEY.finditer(self._seen.source[start : end + 12]):
            if start + match.start() <= begin and end <= start + match.end():
                return start + match.start(), start + match.end()
        return begin, end

    def _derive(self, kind: str, found: dict[str, EvidencedField], near: int | None) -> None:
        """Derive further fields from proven words: a currency, an action, the link around a title."""
        amount = next((found[n] for n in ("price", "amount", "salary") if n in found), None)
        if amount is not None and "currency" not in found:
            self._again(found, "currency", "money_currency", amount)
        declared = kind_of(kind)
        for name, source in declared.derived.items():
            if source in found and name not in found:
                self._again(found, name, declared.normaliser(name), found[source])
        if near is not None and declared.is_linked:
            self._link(found, near)

    def _again(
        self, found: dict[str, EvidencedField], name: str, normaliser: str, field: EvidencedField
    ) -> None:
        made = make_field(
            "html", normaliser, field.evidence.quote, confidence=CONFIDENCE, path="model"
        )
        if made is not None:
            found[name] = made

    def _link(self, found: dict[str, EvidencedField], near: int) -> None:
        for begin, end, anchor in self._anchors():
            if begin <= near < end:
                field = self._page.attribute(anchor, "href").field("link", CONFIDENCE)
                if field is not None and supports(field, self._seen.source):
                    found["url"] = field
                return

    def _anchors(self) -> list[tuple[int, int, Any]]:
        if self._links is None:
            source, self._links = self._page.source, []
            for anchor in self._page.anchors:
                begin = source.after(anchor, closing=False)
                end = source.before(anchor, closing=True)
                if begin is not None and end is not None:
                    self._links.append((begin, end, anchor))
        return self._links


def _is_number(quote: str) -> bool:
    """Whether a text without a currency can still be an amount."""
    return len(quote) >= _BARE and _NUMBER.search(quote) is not None


def _is_prose(kind: str, name: str) -> bool:
    """Whether a field accepts any words: the record's own name then adds nothing."""
    return kind_of(kind).normaliser(name) in ("text", "long_text")
