"""The HTML of a catalogue host's pages: shared blocks, and each page's own blocks.

The link graph resembles a shop's: the homepage links to two dozen pages, each further page to two
or three new ones, and all other links repeat known pages.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from simweb.chance import Draw, draw
from simweb.markup import esc, piece, template
from simweb.prose import Writer

_SECTIONS = ("garden", "kitchen", "workshop", "reading", "travel", "craft", "office", "hall")
_HOME_SHARE = 5  # one in five homepage links leads to a new page
_NAV_SHARE = 10  # one link in ten is in the navigation
_BYTES_PER_LINK = 425  # 51,000 bytes carry 120 links
_TEXT_SHARE = 0.2
_SENTENCES = 400
_DISPLAYS = ("block", "flex", "grid", "inline-block")


@dataclass(frozen=True, slots=True)
class Plan:
    seed: int
    host: str
    pages: int
    page_bytes: int
    base: str  # scheme and host
    neighbour: str  # a URL on another host


class CataloguePages:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._names = (plan.seed, plan.host)
        self._links = max(6, round(plan.page_bytes / _BYTES_PER_LINK))
        self._nav_links = max(3, self._links // _NAV_SHARE)
        # Sentences are shared by the hosts of a world to save time.
        writer = Writer(draw(plan.seed, "catalogue"), kind="shop")
        self._sentences = [esc(writer.sentence()) for _ in range(_SENTENCES)]
        self._headings = [esc(writer.heading()) for _ in range(60)]
        self._titles = [self._title(index, writer) for index in range(plan.pages)]
        self.paths = [self._path(index) for index in range(plan.pages)]
        self._cards = [self._card(index) for index in range(plan.pages)]

    def _title(self, index: int, writer: Writer) -> str:
        name = f"{writer.word('adjective')} {writer.word('thing')}".capitalize()
        return f"{name} {index}" if index else f"Welcome to {self._plan.host}"

    def _path(self, index: int) -> str:
        if index == 0:
            return "/"
        return (
            f"/{_SECTIONS[index % len(_SECTIONS)]}/{self._titles[index].lower().replace(' ', '-')}"
        )

    def _card(self, index: int) -> str:
        price = f"{5 + index * 37 % 9000 / 100:.2f}"
        return piece(
            "card", index=index, href=self.paths[index], text=self._titles[index], price=price
        )

    def new_links(self, index: int) -> range:
        """The pages that this page is the first to link."""
        return range(
            min(self._first_new(index), self._plan.pages),
            min(self._first_new(index + 1), self._plan.pages),
        )

    def _first_new(self, index: int) -> int:
        if index == 0:
            return 1
        return 1 + max(3, self._links // _HOME_SHARE) + (index - 1) * 5 // 2

    def shared(self) -> tuple[str, str, str]:
        """The blocks above, between and below a page's own, padded to the wanted size."""
        nav = "".join(
            piece("nav_link", href=path, text=title)
            for path, title in list(zip(self.paths, self._titles, strict=True))[: self._nav_links]
        )
        middle = template("catalogue-middle.html").substitute(brand=self._plan.host, nav=nav)
        bottom = template("catalogue-bottom.html").substitute(
            about=self._sentences[0], neighbour=self._plan.neighbour, host=self._plan.host
        )
        used = len(middle) + len(bottom) + sum(map(len, self.own(self._plan.pages // 2, 0)))
        return self._top(self._plan.page_bytes - used), middle, bottom

    def _top(self, size: int) -> str:
        """Style and script, as a real page has them, as much as the size requires."""
        rng = draw(*self._names, "top")
        style, script = "", ""
        while len(style) + len(script) < size - 420:
            if len(style) <= len(script):
                style += _rule(rng)
            else:
                script += _statement(rng)
        return template("catalogue-top.html").substitute(style=style, script=script)

    def own(self, index: int, edition: int) -> tuple[str, str]:
        """The page's own part of the head, and its main content."""
        rng = draw(*self._names, index)
        lead = f"{self._titles[index]}: {rng.choice(self._sentences)}"
        price = f"{draw(*self._names, index, edition).uniform(5, 95):.2f}"
        url = f"{self._plan.base}{self.paths[index]}"
        head = template("catalogue-head.html").substitute(
            title=self._titles[index],
            description=lead,
            url=url,
            data=self._data(index, price, url),
        )
        return head, self._main(rng, index, lead, price)

    def _data(self, index: int, price: str, url: str) -> str:
        offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR", "url": url}
        product = {
            "@context": "https://schema.org",
            "@type": "Product",
            "name": self._titles[index],
            "sku": f"{self._plan.host}-{index}",
            "offers": offer,
        }
        return json.dumps(product)

    def _main(self, rng: Draw, index: int, lead: str, price: str) -> str:
        rows = "".join(
            piece("row", name=label, value=rng.randrange(5, 900), note=rng.choice(self._headings))
            for label in ("Width", "Height", "Weight", "Warranty", "In stock", "Batch")
        )
        return template("catalogue-main.html").substitute(
            heading=self._titles[index],
            lead=lead,
            price=price,
            stock=rng.choice(("In stock", "Ready in a week", "Last pieces")),
            sections=self._prose(rng),
            caption=rng.choice(self._headings),
            rows=rows,
            related=rng.choice(self._headings),
            cards="".join(self._cards[other] for other in self._linked(rng, index)),
        )

    def _linked(self, rng: Draw, index: int) -> list[int]:
        new = self.new_links(index)
        known = self._links - self._nav_links - len(new) - 1
        known_until = max(1, min(self._first_new(index), self._plan.pages))
        linked = rng.choices(range(known_until), k=max(0, known))
        place = rng.randrange(len(linked) + 1)
        return [*linked[:place], *new, *linked[place:]]

    def _prose(self, rng: Draw) -> str:
        """Paragraphs until visible text makes up its share of the page."""
        remaining = self._plan.page_bytes * _TEXT_SHARE - self._links * 26 - 300
        sections = []
        while remaining > 150:
            longest = max(1, min(7, int(remaining / 160)))
            counts = (rng.randint(min(4, longest), longest) for _ in range(2))
            texts = [" ".join(rng.choices(self._sentences, k=count)) for count in counts]
            remaining -= sum(map(len, texts))
            inner = "".join(piece("paragraph", text=text) for text in texts)
            sections.append(piece("section", heading=rng.choice(self._headings), inner=inner))
        return "".join(sections)


def _rule(rng: Draw) -> str:
    numbers = {name: rng.randrange(1, 40) for name in "abcd"}
    colour = f"{rng.randrange(1 << 24):06x}"
    name = f"part-{rng.randrange(9000)}"
    return piece("rule", name=name, display=rng.choice(_DISPLAYS), colour=colour, **numbers)


def _statement(rng: Draw) -> str:
    numbers = {name: rng.randrange(1, 40) for name in "abc"}
    return piece("statement", name=f"part-{rng.randrange(9000)}", **numbers)
