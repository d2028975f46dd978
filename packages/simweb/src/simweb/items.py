"""The item, category and home pages of a trade's site."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from simweb import prose
from simweb.chance import draw
from simweb.epochs import Rates, edition
from simweb.markup import esc, piece
from simweb.pages import At, Charter, Content, Page
from simweb.prose import Writer, label
from simweb.sites import base_url
from simweb.trades import TRADES, Detail, Item

RATES = Rates(change=0.08, vanish=0.02, appear=0.08)
_RELATED = 5


def slug(name: str) -> str:
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_name).strip("-")


@dataclass(frozen=True, slots=True)
class Seat:
    """An item's place in its site: name, category, path."""

    name: str
    category: str
    path: str


class Assortment:
    """All items of a site, their categories and the pages that show them."""

    def __init__(self, seed: int, charter: Charter) -> None:
        self.charter = charter
        self._seed = seed
        self._base = base_url(charter.host, secure=charter.secure)
        self._trade = TRADES[charter.kind]
        self._seats = self._draw_seats()
        self.items = tuple(self._item_page(seat) for seat in self._seats)
        self.categories = tuple(self._category_page(name) for name in self._categories())

    def _names(self, path: str) -> tuple[object, ...]:
        return (self._seed, self.charter.host, path)

    def _categories(self) -> list[str]:
        return list(dict.fromkeys(seat.category for seat in self._seats))

    def _draw_seats(self) -> list[Seat]:
        """As many items as the charter requires, in the order of their categories."""
        charter = self.charter
        catalogue = prose.items(charter.language, charter.kind)
        named = [(name, category) for category, names in catalogue.items() for name in names]
        rounds = -(-charter.items // len(named))
        named = [
            (f"{name} {round_ + 1}" if round_ else name, category)
            for round_ in range(rounds)
            for name, category in named
        ]
        chosen = draw(self._seed, charter.host, "items").sample(range(len(named)), charter.items)
        return [
            Seat(name, category, f"{self.category_path(category)}{slug(name)}")
            for name, category in (named[place] for place in sorted(chosen))
        ]

    def detail(self, seat: Seat, at_edition: int) -> Detail:
        names = self._names(seat.path)
        return self._trade.describe(
            Item(
                seat.name,
                f"{self._base}{seat.path}",
                self.charter.name,
                self.charter.currency,
                at_edition,
                draw(*names, "steady"),
                draw(*names, "fresh", at_edition),
            )
        )

    def present(self, epoch: int) -> list[tuple[Seat, Detail]]:
        """The items that exist at that epoch, as they are then."""
        editions = ((s, edition(epoch, RATES, *self._names(s.path))) for s in self._seats)
        return [(seat, self.detail(seat, found)) for seat, found in editions if found is not None]

    def _item_page(self, seat: Seat) -> Page:
        def compose(at: At) -> Content:
            return self._compose_item(seat, at.edition)

        return Page(seat.path, seat.name, compose, RATES, language=self.charter.language)

    def _compose_item(self, seat: Seat, at_edition: int) -> Content:
        language = self.charter.language
        rng = draw(*self._names(seat.path), "prose")
        writer = Writer(rng, language, self.charter.kind)
        detail = self.detail(seat, at_edition)
        lead = f"{seat.name}: {writer.sentence()}"
        siblings = [s for s in self._seats if s != seat and self._is_there_first(s)]
        related = rng.sample(siblings, min(_RELATED, len(siblings)))
        blocks = (
            piece("lead", text=esc(lead)),
            self._facts(detail),
            *(piece("paragraph", text=esc(text)) for text in writer.paragraphs(rng.randint(2, 5))),
            piece("call", href="/contact", text=esc(label(language, "call"))),
            links_block(label(language, "related"), [(s.path, s.name) for s in related]),
        )
        data = {**detail.data, "description": lead}
        title = f"{seat.name} · {self.charter.name}"
        return Content(title, lead, blocks, (data, self._crumbs(seat)))

    def _facts(self, detail: Detail) -> str:
        language = self.charter.language
        rows = "".join(
            piece("fact", name=esc(prose.term(language, name)), value=esc(value))
            for name, value in detail.facts
        )
        return piece("facts", heading=esc(label(language, "facts")), rows=rows)

    def _is_there_first(self, seat: Seat) -> bool:
        return edition(0, RATES, *self._names(seat.path)) is not None

    def _crumbs(self, seat: Seat) -> dict[str, object]:
        steps = [("/", self.charter.name), (self.category_path(seat.category), seat.category)]
        elements = [
            {"@type": "ListItem", "position": n, "name": name, "item": f"{self._base}{path}"}
            for n, (path, name) in enumerate([*steps, (seat.path, seat.name)], 1)
        ]
        return {
            "@context": "https://schema.org",
            "@type": "BreadcrumbList",
            "itemListElement": elements,
        }

    def category_path(self, category: str) -> str:
        return f"/{self._trade.section}/{slug(category)}/"

    def _category_page(self, category: str) -> Page:
        def compose(at: At) -> Content:
            return self._compose_category(category, at.epoch)

        path = self.category_path(category)
        watched = tuple(
            page for page, s in zip(self.items, self._seats, strict=True) if s.category == category
        )
        return Page(path, category, compose, watched=watched, language=self.charter.language)

    def _compose_category(self, category: str, epoch: int) -> Content:
        path = self.category_path(category)
        writer = Writer(draw(*self._names(path)), self.charter.language, self.charter.kind)
        lead = writer.paragraph(2)
        shown = [(seat, d) for seat, d in self.present(epoch) if seat.category == category]
        cards = "".join(
            piece("item_card", href=seat.path, text=esc(seat.name), note=esc(detail.facts[0][1]))
            for seat, detail in shown
        )
        blocks = (piece("lead", text=esc(lead)), piece("item_cards", cards=cards))
        return Content(f"{category} · {self.charter.name}", lead, blocks)


def links_block(heading: str, links: list[tuple[str, str]]) -> str:
    if not links:
        return ""
    entries = "".join(piece("link_entry", href=esc(href), text=esc(text)) for href, text in links)
    return piece("links", heading=esc(heading), entries=entries)
