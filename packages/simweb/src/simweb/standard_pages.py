"""The pages nearly every site has: home, about, contact, questions, prices, news, privacy."""

from __future__ import annotations

from simweb.chance import draw
from simweb.epochs import Rates
from simweb.items import Assortment, links_block
from simweb.markup import esc, piece
from simweb.pages import At, Charter, Content, Data, Page
from simweb.prose import Writer, label
from simweb.sites import base_url
from simweb.trades import TRADES

PRIVATE = "/private/staff"
_NEWS = Rates(change=0.5)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


class StandingPages:
    def __init__(self, seed: int, charter: Charter, assortment: Assortment) -> None:
        self._seed = seed
        self._charter = charter
        self._assortment = assortment
        self._base = base_url(charter.host, secure=charter.secure)

    def pages(self) -> list[Page]:
        language, items = self._charter.language, self._assortment.items
        named = {name: label(language, name) for name in ("home", "about", "contact", "faq")}
        found = [
            Page("/", named["home"], self._home, watched=items, language=language),
            Page("/about", named["about"], self._about, language=language),
            Page("/contact", named["contact"], self._contact, language=language),
            Page("/faq", named["faq"], self._faq, language=language),
            Page(
                "/pricing",
                label(language, "pricing"),
                self._pricing,
                watched=items,
                language=language,
            ),
            Page("/news", label(language, "news"), self._news, _NEWS, language=language),
            Page(
                "/privacy",
                label(language, "privacy"),
                self._privacy,
                language=language,
                robots_meta="noindex, follow",
            ),
            Page(PRIVATE, label(language, "staff"), self._staff, language=language, listed=False),
        ]
        if self._charter.second_language:
            found.append(self._welcome(self._charter.second_language))
        return found

    def _writer(self, path: str, edition: int = 0, language: str | None = None) -> Writer:
        names = (self._seed, self._charter.host, path, edition)
        return Writer(draw(*names), language or self._charter.language, self._charter.kind)

    def _title(self, name: str) -> str:
        return f"{label(self._charter.language, name)} · {self._charter.name}"

    def _home(self, at: At) -> Content:
        writer = self._writer("/")
        lead = writer.paragraph(2)
        shown = self._assortment.present(at.epoch)[:8]
        cards = "".join(
            piece("item_card", href=seat.path, text=esc(seat.name), note=esc(detail.facts[0][1]))
            for seat, detail in shown
        )
        categories = [(page.path, page.name) for page in self._assortment.categories]
        blocks = (
            piece("lead", text=esc(lead)),
            links_block(label(self._charter.language, "all"), categories),
            piece("item_cards", cards=cards),
            *_sections(writer, 2),
            piece("call", href="/contact", text=esc(label(self._charter.language, "call"))),
        )
        return Content(self._charter.name, lead, blocks, (self._organisation(),))

    def _organisation(self) -> Data:
        """The organisation, with address, telephone and opening hours."""
        rng = draw(self._seed, self._charter.host, "organisation")
        writer = Writer(rng, self._charter.language, self._charter.kind)
        street = (
            f"{rng.randrange(1, 120)} {rng.choice(('Mill', 'Harbour', 'Church', 'Elm'))} Street"
        )
        address = {
            "@type": "PostalAddress",
            "streetAddress": street,
            "addressLocality": writer.word("town"),
        }
        hours = {
            "@type": "OpeningHoursSpecification",
            "dayOfWeek": list(_WEEKDAYS),
            "opens": f"{rng.randrange(7, 11):02}:00",
            "closes": f"{rng.randrange(16, 22)}:30",
        }
        return {
            "@context": "https://schema.org",
            "@type": TRADES[self._charter.kind].organisation_type,
            "name": self._charter.name,
            "url": f"{self._base}/",
            "telephone": f"+44 1632 96{rng.randrange(1000, 9999)}",
            "email": f"hello@{self._charter.domain}",
            "address": address,
            "openingHoursSpecification": hours,
        }

    def _about(self, _: At) -> Content:
        writer = self._writer("/about")
        lead = writer.sentence()
        return Content(self._title("about"), lead, (_lead(lead), *_sections(writer, 4)))

    def _contact(self, _: At) -> Content:
        organisation = self._organisation()
        address, hours = organisation["address"], organisation["openingHoursSpecification"]
        card = piece(
            "contact",
            street=esc(address["streetAddress"]),
            town=esc(address["addressLocality"]),
            telephone=esc(organisation["telephone"]),
            email=esc(organisation["email"]),
            heading=esc(label(self._charter.language, "hours")),
            opens=hours["opens"],
            closes=hours["closes"],
        )
        lead = self._writer("/contact").sentence()
        return Content(self._title("contact"), lead, (_lead(lead), card), (organisation,))

    def _faq(self, _: At) -> Content:
        writer = self._writer("/faq")
        pairs = [(writer.question(), writer.paragraph(2)) for _ in range(6)]
        blocks = [piece("question", question=esc(q), answer=esc(a)) for q, a in pairs]
        entities = [
            {"@type": "Question", "name": q, "acceptedAnswer": {"@type": "Answer", "text": a}}
            for q, a in pairs
        ]
        data = {"@context": "https://schema.org", "@type": "FAQPage", "mainEntity": entities}
        return Content(self._title("faq"), pairs[0][0], tuple(blocks), (data,))

    def _pricing(self, at: At) -> Content:
        lead = self._writer("/pricing").sentence()
        rows = "".join(
            piece("price_row", href=seat.path, name=esc(seat.name), value=esc(detail.facts[0][1]))
            for seat, detail in self._assortment.present(at.epoch)
        )
        return Content(self._title("pricing"), lead, (_lead(lead), piece("prices", rows=rows)))

    def _news(self, at: At) -> Content:
        """The newest entry first; older ones stay as they were."""
        writers = [self._writer("/news", edition) for edition in range(at.edition, -1, -1)]
        blocks = tuple(block for writer in writers for block in _sections(writer, 1))
        return Content(self._title("news"), writers[0].sentence(), blocks)

    def _privacy(self, _: At) -> Content:
        writer = self._writer("/privacy")
        return Content(self._title("privacy"), writer.sentence(), tuple(_sections(writer, 3)))

    def _staff(self, _: At) -> Content:
        writer = self._writer(PRIVATE)
        return Content(self._title("staff"), writer.sentence(), tuple(_sections(writer, 1)))

    def _welcome(self, language: str) -> Page:
        """One page in another language."""
        name = f"{label(language, 'home')} ({language})"

        def compose(_: At) -> Content:
            writer = self._writer(f"/{language}/", language=language)
            lead = writer.sentence()
            title = f"{label(language, 'home')} · {self._charter.name}"
            return Content(title, lead, (_lead(lead), *_sections(writer, 3)))

        return Page(f"/{language}/", name, compose, language=language)


def _lead(text: str) -> str:
    return piece("lead", text=esc(text))


def _sections(writer: Writer, count: int) -> list[str]:
    sections = []
    for _ in range(count):
        inner = "".join(piece("paragraph", text=esc(text)) for text in writer.paragraphs(2))
        sections.append(piece("section", heading=esc(writer.heading()), inner=inner))
    return sections
