"""Splits titles: most sites write the page's subject, a separator, and their own name."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_CUTS = re.compile(r"\s+[|·•\u2013\u2014»:-]\s+")
_FINE_CUTS = re.compile(r"\s+[|·•\u2013\u2014»:-]\s+|[:,]\s+")

# Words that occur in names of organisations.
KINDS = """
academy accountants accounting advisers advisors agency airline archive architects association
bakery bank bar bikes bistro blog boutique brewery builders bureau butcher café casino cathedral
centre center chamber chambers charity church cinema clinic club college commission committee
company consulting cooperative council dealership dental dentistry department dermatology directory
doctors electricians embassy encyclopedia estate-agents factory farm federation festival florist
food-bank foodbank forum foundation fund galeria gallery garage gazette grill guesthouse guild gym
hairdresser herald hospice hospital hostel hotel inn institute institution joinery journal kennels
kindergarten kitchen klinik laboratory laundry law-firm library links listings magazine mart
ministry mission mosque museum news nursery observatory office opticians orchestra outfitters
pantry parish pharmacy physio physiotherapy pizzeria plumbers portal post praxis practice press
publishers pub radio relief restaurant retailer roofing salon school shelter shop society solicitors
spa stables store studio supermarket supplies surgery synagogue tavern temple theatre times tribune
trust union university veterinary wiki wikipedia winery workshop zoo
""".replace("-", " ")
ORGANISATION_WORDS = (
    *("estate agents", "food bank", "law firm"),
    *(set(KINDS.split()) - {"estate", "agents", "food", "law", "firm"}),
)

_SHORTEST_INITIALS = 3


@dataclass(frozen=True, slots=True)
class Title:
    """The parts of a title; a single part may be either, so it is both."""

    topic: str
    organisation: str
    is_whole: bool

    @property
    def name_alone(self) -> str:
        """The organisation's name, if separate from the subject."""
        return "" if self.is_whole else self.organisation

    @property
    def is_one_word(self) -> bool:
        """Whether the title is a single word, which names neither a subject nor an organisation."""
        return self.is_whole and len(self.topic.split()) == 1

    @classmethod
    def of(cls, text: str, domain: str = "") -> Title:
        """The name is the part that the domain derives from, else the last one."""
        label = _letters(domain.partition(".")[0])
        parts = [part.strip() for part in _CUTS.split(text) if part.strip()]
        for pieces in (parts, [p.strip() for p in _FINE_CUTS.split(text) if p.strip()]):
            places = [place for place, piece in enumerate(pieces) if _is_of(piece, label)]
            if places and len(pieces) > 1:
                place = places[-1]
                rest = pieces[:place] + pieces[place + 1 :]
                return cls(" ".join(rest), pieces[place], is_whole=False)
        if len(parts) < 2:
            whole = parts[0] if parts else ""
            if _is_of(whole, label):
                return cls("", whole, is_whole=False)
            return cls(whole, whole, is_whole=True)
        return cls(" ".join(parts[:-1]), parts[-1], is_whole=False)


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in plain if c.isalnum() and not unicodedata.combining(c))


def _is_of(piece: str, label: str) -> bool:
    """Whether a domain's label is made of a name, of all but its first or last word, or its initials."""
    words = piece.split()
    if len(label) >= _SHORTEST_INITIALS and label in _initials(words):
        return True
    if len(label) < 4:
        return False
    tried = [words, words[1:], words[:-1]]
    made = [_letters(" ".join(some)) for some in tried if some]
    return any(
        len(name) >= 4 and (name == label or (name in label and len(name) * 3 >= len(label) * 2))
        for name in made
    )


def _initials(words: list[str]) -> set[str]:
    """The initials of a name, with and without its small words: "nea" of "Endowment for the Arts"."""
    large = [word for word in words if not word[:1].islower()]
    return {_letters("".join(word[:1] for word in some)) for some in (words, large)}
