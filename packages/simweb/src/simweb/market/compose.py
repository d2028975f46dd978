"""The pages of one player: home, about, contact, an overview, and a page for each of its items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from simweb.chance import draw
from simweb.documents import modified_at
from simweb.epochs import Rates
from simweb.epochs import edition as edition_of
from simweb.items import links_block, slug
from simweb.market.cast import Item, Player
from simweb.market.grammar import Grammar
from simweb.market.script import labels
from simweb.markup import esc, piece
from simweb.pages import At, Content, Data, Page
from simweb.sites import base_url

_CHANGING = Rates(change=0.12)
_SIGNS = {"GBP": "£{}", "EUR": "{} €", "SGD": "S${}", "USD": "${}"}
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]


class Composer:
    """Writes a player's pages; `others` are the players that a directory may list."""

    def __init__(self, seed: int, player: Player, currency: str, others: Sequence[Player]) -> None:
        self._seed = seed
        self._player = player
        self._role = player.role
        self._currency = currency
        self._others = others
        self._labels = labels(player.role.language)
        self._items = player.items
        self._base = base_url(player.host, secure=False)

    def menu(self) -> list[Page]:
        role = self._role
        found = [self._page("/", self._player.name, self._home)]
        if self._items:
            name = self._caption("all").replace("{section}", role.section)
            watched = tuple(self.items())
            page = self._page(f"/{role.section}", name, self._overview)
            found.append(replace(page, watched=watched))
        makers = {"about": self._about, "contact": self._contact}
        for name in role.standing:
            caption = self._caption(name)
            found.append(self._page(f"/{slug(caption)}", caption, makers[name]))
        return found

    def items(self) -> list[Page]:
        return [self._item_page(item) for item in self._items]

    def _caption(self, name: str) -> str:
        captions: list[str] = self._labels[name]
        return draw(self._seed, self._player.host, "caption", name).choice(captions)

    def _page(self, path: str, name: str, compose: Callable[[At], Content]) -> Page:
        return Page(path, name, compose, language=self._role.language)

    def _item_path(self, item: Item) -> str:
        return f"/{self._role.section}/{slug(item.name)}"

    def _grammar(self, path: str, edition: int = 0, **settled: str) -> Grammar:
        rng = draw(self._seed, self._player.host, path, edition)
        return Grammar(rng, self._player.words, {**self._player.settled(), **settled})

    def _on(self, item: Item, edition: int = 0) -> Grammar:
        """The grammar for texts about an item."""
        settled = {
            "item": item.name if self._role.language == "de" else item.called,
            "subject": item.subject,
            "amount": self._cost(item, edition),
        }
        return self._grammar(self._item_path(item), edition, **settled)

    def _edition(self, item: Item, epoch: int) -> int:
        names = (self._seed, self._player.host, self._item_path(item))
        return edition_of(epoch, _CHANGING, *names) or 0

    def _card(self, item: Item, note: str) -> str:
        return piece("item_card", href=self._item_path(item), text=esc(item.name), note=esc(note))

    def _title(self, page: str) -> str:
        pattern = self._player.title
        town, is_at_home = self._player.spot.town, self._role.relevant or self._role.price
        if not is_at_home or town in page or town in self._player.name:
            pattern = pattern.replace(" in {town}", "")
        return self._grammar("title", page=page).write(pattern)

    def _home(self, _: At) -> Content:
        role, grammar = self._role, self._grammar("/")
        tagline = grammar.one(role.taglines)
        shown = tagline[:1].upper() + tagline[1:]
        title = self._grammar("/title", tagline=shown).write(self._player.home_title)
        sentences = grammar.some(role.intro, 5)
        cards = "".join(self._card(item, self._on(item).one(role.says)) for item in self._items)
        blocks = [
            piece("lead", text=esc(" ".join(sentences[:2]))),
            piece("item_cards", cards=cards) if cards else "",
            self._section(grammar, sentences[2:]),
        ]
        if "contact" in role.standing:
            blocks.append(self._call())
        data = (self._organisation(),) if self._player.schema else ()
        return Content(title, sentences[0], tuple(blocks), data, self._player.name)

    def _call(self) -> str:
        href = f"/{slug(self._caption('contact'))}"
        return piece("call", href=href, text=esc(self._caption("call")))

    def _section(self, grammar: Grammar, sentences: Sequence[str]) -> str:
        inner = "".join(
            piece("paragraph", text=esc(" ".join(sentences[place : place + 2])))
            for place in range(0, len(sentences), 2)
        )
        return piece("section", heading=esc(grammar.one(self._role.headings)), inner=inner)

    def _organisation(self) -> Data:
        rng = draw(self._seed, self._player.host, "organisation")
        data: dict[str, Any] = {
            "@context": "https://schema.org",
            "@type": self._player.schema,
            "name": self._player.name,
            "url": f"{self._base}/",
        }
        if "contact" in self._role.standing:
            data["telephone"] = f"+44 1632 96{rng.randrange(1000, 9999)}"
            data["address"] = {
                "@type": "PostalAddress",
                "streetAddress": self._street(),
                "addressLocality": self._player.spot.town,
                "addressCountry": self._player.spot.country,
            }
        return data

    def _street(self) -> str:
        rng = draw(self._seed, self._player.host, "street")
        return f"{rng.randrange(1, 120)} {rng.choice(self._player.words['street'])}"

    def _about(self, _: At) -> Content:
        grammar, caption = self._grammar("/about"), self._caption("about")
        sentences = grammar.some(self._role.story, 4)
        blocks = (
            piece("lead", text=esc(sentences[0])),
            self._section(grammar, sentences[1:] or sentences),
            self._section(grammar, grammar.some(self._role.intro, 3)),
        )
        return Content(self._title(caption), sentences[0], blocks, heading=caption)

    def _contact(self, _: At) -> Content:
        rng = draw(self._seed, self._player.host, "organisation")
        caption = self._caption("contact")
        lead = self._grammar("/contact").one(self._role.intro)
        card = piece(
            "contact",
            street=esc(self._street()),
            town=esc(self._player.spot.town),
            telephone=f"+44 1632 96{rng.randrange(1000, 9999)}",
            email=esc(f"hello@{self._player.domain}"),
            heading=esc(self._labels["hours"]),
            opens=f"{rng.randrange(7, 11):02}:00",
            closes=f"{rng.randrange(16, 21)}:30",
        )
        return Content(
            self._title(caption), lead, (piece("lead", text=esc(lead)), card), heading=caption
        )

    def _overview(self, at: At) -> Content:
        role, grammar = self._role, self._grammar("/overview")
        caption = self._caption("all").replace("{section}", role.section)
        lead = grammar.one(role.intro)
        cards = "".join(
            self._card(item, self._cost(item, self._edition(item, at.epoch)))
            for item in self._items
        )
        blocks = (piece("lead", text=esc(lead)), piece("item_cards", cards=cards))
        return Content(self._title(caption), lead, blocks, heading=caption)

    def _item_page(self, item: Item) -> Page:
        def compose(at: At) -> Content:
            return self._item(item, at.edition)

        path = self._item_path(item)
        return Page(path, item.name, compose, _CHANGING, language=self._role.language)

    def _item(self, item: Item, edition: int) -> Content:
        role, path = self._role, self._item_path(item)
        grammar, cost = self._on(item), self._cost(item, edition)
        sentences = grammar.some(role.says, 6)
        fresh = self._on(item, edition).one(role.says)
        related = [other for other in self._items if other != item][:4]
        blocks = [
            piece("lead", text=esc(" ".join(sentences[:2]))),
            self._facts(cost),
            self._listed(path) if role.listing else "",
            self._section(grammar, [*sentences[2:], fresh]),
            self._call() if "contact" in role.standing else "",
            links_block(
                self._labels["facts"], [(self._item_path(other), other.name) for other in related]
            ),
        ]
        data = self._thing(item, sentences[0], cost, edition)
        return Content(self._title(item.name), sentences[0], tuple(blocks), data, item.name)

    def _cost(self, item: Item, edition: int) -> str:
        bounds = self._role.price or self._role.amount
        if bounds is None:
            return ""
        base = draw(self._seed, self._player.host, item.name, "cost").randrange(*bounds)
        factor = draw(self._seed, self._player.host, item.name, edition).choice((0.9, 1.0, 1.1))
        amount = base * (factor if edition else 1.0)
        figure = f"{amount:,.2f}" if self._role.price else f"{round(amount, -2):,.0f}"
        return _SIGNS[self._currency].format(figure)

    def _facts(self, cost: str) -> str:
        if not self._role.price:
            return ""
        row = piece("fact", name=esc(self._labels["price"]), value=esc(cost))
        return piece("facts", heading=esc(self._labels["facts"]), rows=row)

    def _listed(self, path: str) -> str:
        """Organisations that a directory lists, with a link to each."""
        rng = draw(self._seed, self._player.host, path, "listed")
        chosen = rng.sample(list(self._others), min(8, len(self._others)))
        cards = "".join(
            piece(
                "item_card",
                href=f"http://{one.host}/",
                text=esc(one.name),
                note=esc(
                    f"{rng.randrange(1, 120)} {rng.choice(one.words['street'])}, {one.spot.town} · {rng.randrange(30, 50) / 10} / 5"
                ),
            )
            for one in chosen
        )
        return piece("item_cards", cards=cards)

    def _thing(self, item: Item, text: str, cost: str, edition: int) -> tuple[Data, ...]:
        kind = self._role.item_schema
        if not kind or not self._player.schema:
            return ()
        data: dict[str, Any] = {
            "@context": "https://schema.org",
            "@type": kind,
            "description": text,
        }
        figure = "".join(c for c in cost if c.isdigit() or c == ".")
        if kind in {"NewsArticle", "DiscussionForumPosting"}:
            data |= {"headline": item.name, "datePublished": f"{modified_at(edition):%Y-%m-%d}"}
        else:
            data |= {"name": item.name, "url": f"{self._base}{self._item_path(item)}"}
        if kind == "MonetaryGrant":
            data["funder"] = {"@type": "Organization", "name": self._player.name}
            data["amount"] = {
                "@type": "MonetaryAmount",
                "maxValue": figure,
                "currency": self._currency,
            }
        elif self._role.price:
            data["offers"] = {"@type": "Offer", "price": figure, "priceCurrency": self._currency}
        if kind == "Service":
            data["provider"] = {"@type": "Organization", "name": self._player.name}
        return (data,)
