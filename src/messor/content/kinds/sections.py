"""Sections of a page: headings of one level, each followed by text.

A list of services, programs or roles is usually written so. What a section is, its reader decides.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from messor.content.dates import fold
from messor.content.lines import Line
from messor.content.view import PageView

MAX_NAME = 80
MIN_TEXT = 30
# Headings of sections that are about the site itself.
_FRAME = re.compile(
    r"(?<!\w)(?:contact|kontakt|about|uber uns|faq|questions?|fragen|testimonials?|reviews?|kunden|news|"
    r"newsletter|blog|opening|offnungszeiten|follow|share|related|cookie|privacy|login|team|partners?|"
    r"who can|who may|eligibility|how to|when|where|hours|donate|why|warum|our services|services|unsere leistungen|leistungen|nos services|nuestros servicios|"
    r"i nostri servizi|onze diensten|our clients|get in touch|how it works|comments?|archives?|"
    r"categories|search|menu|navigation|footer|social|subscribe|address|adresse|location|avis|temoignages|"
    r"horaires|contacto|contatti|sobre|chi siamo|over ons)(?!\w)"
)


def read_sections(page: PageView) -> list[tuple[Line, Line]]:
    """Return the headings of the usual level, each with the text below it."""
    found = [
        (line, text)
        for line in page.lines
        if 2 <= line.level <= 4 and _names(line) and (text := text_below(page, line)) is not None
    ]
    levels = [line.level for line, _ in found]
    usual = max(sorted(set(levels)), key=levels.count, default=0)
    return [each for each in found if each[0].level == usual]


def heading_of(page: PageView) -> Line | None:
    """Return the page's main heading."""
    return next((line for line in page.lines if line.level == 1), None)


def folders_of(page: PageView) -> list[str]:
    """Return the parts of the page's path, as words."""
    parts = urlsplit(page.url).path.split("/")
    return [fold(part.rpartition(".")[0] or part).replace("-", " ") for part in parts if part]


def text_below(page: PageView, line: Line) -> Line | None:
    """Return the text that follows a heading before the next one."""
    for following in page.lines[line.number + 1 : line.number + 4]:
        if following.level or following.region in ("nav", "footer", "aside"):
            return None
        if len(following.text) >= MIN_TEXT:
            return following
    return None


def _names(line: Line) -> bool:
    return (
        3 <= len(line.text) <= MAX_NAME
        and line.region not in ("nav", "footer", "aside", "header")
        and line.text[-1] not in "?!.:"
        and not _FRAME.search(fold(line.text))
    )
