"""Titles taken apart: most sites write "what the page is about", a mark, and their own name."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CUTS = re.compile(r"\s+[|·•\u2013\u2014»:-]\s+")

# Words by which organisations of any kind call themselves.
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


@dataclass(frozen=True, slots=True)
class Title:
    """The parts of a title; a title of one part may be either, so it is both."""

    topic: str
    organisation: str
    is_whole: bool

    @classmethod
    def of(cls, text: str) -> Title:
        parts = [part.strip() for part in _CUTS.split(text) if part.strip()]
        if len(parts) < 2:
            whole = parts[0] if parts else ""
            return cls(whole, whole, is_whole=True)
        return cls(" ".join(parts[:-1]), parts[-1], is_whole=False)
