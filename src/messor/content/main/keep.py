"""Selects the content blocks: of an article, those in the main box; of another page, those in no frame.

An article loses its headline and interspersed boilerplate. Phrases that accompany an article
without being part of it are known in several languages. Only the start of short blocks is checked:
in running text the same words are the author's own. On any other page (a product, a list, a contact
page), without running text to go by, everything is kept that is not clearly the site's frame.
"""

from __future__ import annotations

import re
from itertools import accumulate

from messor.content.main import hints
from messor.content.main.blocks import Blocks, Layout
from messor.content.main.headline import HEADINGS, is_title
from messor.content.main.weigh import Weights
from messor.content.memory import Memory

# Maximum length of a call to read, follow, subscribe or share.
MAX_ASIDE = 250
# Maximum length of a label: a credit, a date, a list of tags.
_MAX_LABEL = 100

_CALLS = r"""
    read\ (?:more|also|next|the\ full|our)\b | (?:see|show|load|find\ out|discover|learn)\ more\s*: |
    related\b.{0,20}: | see\ also\b | also(?:\ read|\ see|\ on)?\s*: | more\s*: | more\ (?:on|from)\b |
    don['\u2019]?t\ miss\b | recommended\ (?:for\ you|stories|reading|articles)\b | you\ (?:may|might)\ also\ like\b |
    follow\ .{2,60}\ (?:on|at)\ (?:facebook|twitter|instagram|linkedin|youtube|https?:) |
    follow\ (?:us|me)\b | find\ us\ on\b | join\ us\ on\b |
    sign\ up\ (?:for|to|here|now|today)\b | subscribe\b | get\ our\ newsletter\b |
    (?:click|tap)\ here\b | (?:please\ )?share\ this\b | (?:like|enjoyed?)\ this\ (?:story|article|post)\b |
    (?:leave|post|add|write)\ a\ (?:comment|reply)\b | tell\ us\ what\ you\ think\b |
    lire\ aussi\b | à\ lire\ aussi\b | partager\b | abonnez-vous\b |
    lesen\ sie\ auch\b | mehr\ zum\ thema\b | auch\ interessant\b | jetzt\ abonnieren\b |
    leia\ (?:também|mais)\b | veja\ também\b | le[ae]\ también\b | te\ puede\ interesar\b | síguenos\b |
    leggi\ anche\b | lees\ ook\b | baca\ juga\b | czytaj\ też\b | zobacz\ też\b | читайте\ также\b |
    les\ også\b | läs\ också\b | las\ även\b | ayr\u0131ca\ bak\u0131n\u0131z\b
"""
_LABELS = r"""
    (?:advert|advertisement|ad|ads|anzeige|werbung|publicidad|publicidade|publicité|pubblicità|
       iklan|reklama|annonce|advertentie|реклама|広告|sponsored)\W*$ |
    (?:no\ |\d+\ )?comments?\W*$ | (?:share|print|email|close|reply|loading)\W*$ |
    (?:image|photo|picture|video)s?(?:\ credit|\ source|\ by|\ courtesy)?\s*: |
    (?:image|photo|photograph)s?\ (?:credit|source|courtesy|by)\b | credits?\s*: | foto\s*: | fotos?\ credits?\b |
    copyright\b | all\ rights\ reserved |
    (?:filed\ under|tags?|tagged|topics?|categor(?:y|ies)|posted\ (?:in|on|by))\s*: |
    (?:filed\ under|posted\ (?:in|on|by)|published\ (?:on|in|by)|last\ (?:updated|modified)|
       updated\ (?:on|at)|(?:originally|first)\ published)\ |
    (?:updated|published)\s*: | (?:by|par|por|von)\ \w+(?:\ \w+)?$
"""
_is_call = re.compile(rf"\W*+(?:{_CALLS})", re.VERBOSE | re.IGNORECASE).match
# Copyright signs are not letters, so they are checked before non-letters are skipped.
_RIGHTS = r"[^\w©(]*+(?:©|\(c\)\ )"
_is_label = re.compile(rf"{_RIGHTS} | \W*+(?:{_LABELS})", re.VERBOSE | re.IGNORECASE).match

# Their prefixes, for those that start with an ASCII letter. A lookup is many times faster than
# trying every phrase and rules out nearly every block.
_OPENINGS = frozenset(
    (
        "abo", "add", "ads", "adv", "all", "als", "ann", "anz", "auc", "ayr", "bac", "cat", "cli",
        "clo", "com", "cop", "cre", "czy", "dis", "don", "ema", "enj", "fil", "fin", "fir", "fol",
        "fot", "get", "ikl", "ima", "jet", "joi", "las", "lea", "lee", "leg", "lei", "les", "lik",
        "lir", "loa", "meh", "mor", "ori", "par", "pho", "pic", "ple", "por", "pos", "pri", "pub",
        "rea", "rec", "rek", "rel", "rep", "see", "sha", "sho", "sig", "spo", "sub", "tag", "tap",
        "tel", "top", "upd", "vej", "vid", "von", "wer", "wri", "you", "zob", "by ", "no ", "te ",
    )
)  # fmt: skip
_SHORTEST = "ad"  # followed by any character
_ALL_HEADINGS = HEADINGS | {"h4", "h5", "h6"}
_LOOSE = frozenset(("p", "", "blockquote", "figcaption"))
_LINKED = 0.95
_MOSTLY_LINKED = 0.8
_REPEATED = 40
_FRAME = (
    hints.NAVIGATION | hints.FOOTER | hints.DIALOG | hints.SHARE | hints.SIGNUP | hints.FORM | hints.CONSENT
)  # fmt: skip
# Maximum share of a page's text in a part of the frame; cookie lists may hold most of it.
_SHARE = 0.5
_CONSENT_SHARE = 0.85
_MAIN_SHARE = 0.3
_LETTER = re.compile(r"[^\W_]")


def may_begin(signs: str) -> bool:
    """Whether a text with these first three characters may be an aside."""
    start = signs.lower()
    is_word = start.isascii() and start[:1].isalpha()
    return not is_word or start in _OPENINGS or start[:2] == _SHORTEST


def is_aside(text: str) -> bool:
    """Whether a block of at most MAX_ASIDE characters accompanies the article instead of being part
    of it.
    """
    start = text[:3].lower()
    if not may_begin(start):
        return False
    if start.isascii() and start[:1].isdigit() and "omment" not in text.lower():
        return False  # numbers only if they count comments
    return _is_phrase(text)


def _is_phrase(text: str) -> bool:
    return bool(_is_call(text)) or (len(text) <= _MAX_LABEL and bool(_is_label(text)))


def keep_article(
    layout: Layout, weights: Weights, root: int, titles: tuple[str, ...], memory: Memory
) -> list[int]:
    """Return the indices of the blocks of an article whose box is `root`."""
    blocks = layout.blocks
    kinds, texts, sizes, linked = blocks.kinds, blocks.texts, blocks.sizes, blocks.linked
    start, end = layout.boxes.starts[root], layout.boxes.ends[root]
    all_furniture = weights.is_boilerplate(layout, root)
    begins, asides = memory.memo(may_begin), memory.memo(is_aside)
    kept: list[int] = []
    seen: set[str] = set()
    for place in range(start, end) if all_furniture else weights.free_within(start, end):
        kind, text, size = kinds[place], texts[place], sizes[place]
        if linked[place] and kind in _LOOSE and _leads_elsewhere(text, size, linked[place]):
            continue
        if size <= MAX_ASIDE and begins[text[:3]] and kind != "pre" and asides[text]:
            continue
        if kind in HEADINGS and is_title(text, titles):
            continue
        if size >= _REPEATED:
            if text in seen:
                continue
            seen.add(text)
        kept.append(place)
    return _without_loose_headings(blocks, kept)


def _leads_elsewhere(text: str, size: int, linked: int) -> bool:
    """Whether a block is only a link to another page."""
    if size <= 12:
        return False
    share = linked / size
    if share > _LINKED and not text.startswith(("http", "www.")):
        return True
    return share > _MOSTLY_LINKED and size > 60


def _without_loose_headings(blocks: Blocks, kept: list[int]) -> list[int]:
    """Drop headings followed only by another heading of links, or by the end."""
    kinds, sizes = blocks.kinds, blocks.sizes
    result: list[int] = []
    follows = False
    for place in reversed(kept):
        if kinds[place] in _ALL_HEADINGS:
            linked = blocks.linked[place] * 2 > sizes[place]
            if not result or (linked and not follows):
                continue
        else:
            follows = sizes[place] >= _REPEATED
        result.append(place)
    result.reverse()
    return result


def keep_page(
    layout: Layout, weights: Weights, headline: int | None, *, is_product: bool
) -> list[int]:
    """Return the indices of the blocks inside the frame; all blocks if nothing is left."""
    blocks = layout.blocks
    texts, sizes, linked = blocks.texts, blocks.sizes, blocks.linked
    totals = [0, *accumulate(sizes)]
    # On a product page, other products are not content; on a list they may be all there is.
    named = _FRAME | hints.RELATED if is_product else _FRAME
    frame = _Frame(layout, weights, totals)
    frame.find(headline, named)
    start, end = frame.main_area()
    before = headline or 0
    kept: list[int] = []
    seen: set[str] = set()
    for place in range(start, end):
        text, size = texts[place], sizes[place]
        if frame.blocks[place] or text in seen:
            continue
        if not (text[0].isalnum() or _LETTER.search(text)):
            continue
        if place < before and linked[place] * 2 > size:
            continue  # links before the headline lead elsewhere
        if size >= _REPEATED:
            seen.add(text)
        kept.append(place)
    return kept or list(range(len(texts)))


class _Frame:
    """The boxes and blocks of the site's frame."""

    def __init__(self, layout: Layout, weights: Weights, totals: list[int]) -> None:
        self.blocks = [False] * len(layout.blocks.texts)
        self._boxes: set[int] = set()  # boxes with hints
        self._layout = layout
        self._weights = weights
        self._totals = totals

    def find(self, headline: int | None, named: int) -> None:
        boxes = self._layout.boxes
        telling = named | hints.HIDDEN
        until = 0  # end of the last box found; boxes that start before it are inside it
        for place, found in boxes.hints.items():
            start, end = boxes.starts[place], boxes.ends[place]
            if start < until:
                self._boxes.add(place)
            elif found & telling and start < end:
                holds_headline = headline is not None and start <= headline < end
                # Hidden text may be in a tab, where descriptions often are.
                is_named = found & named > 0 or not self._weights.within(start, end)
                if is_named and not holds_headline and self._is_small(start, end, found):
                    self._boxes.add(place)
                    self.blocks[start:end] = [True] * (end - start)
                    until = end

    def _is_small(self, start: int, end: int, found: int) -> bool:
        held = self._totals[end] - self._totals[start]
        if found & hints.CONSENT:
            return held <= self._totals[-1] * _CONSENT_SHARE
        if found & (hints.MAIN | hints.BODY | hints.ARTICLE):
            return False
        return held <= self._totals[-1] * _SHARE

    def main_area(self) -> tuple[int, int]:
        """Return the block range of the main element if it has enough text, else of the whole page."""
        boxes, totals = self._layout.boxes, self._totals
        enough = totals[-1] * _MAIN_SHARE
        for place in boxes.hints:  # the tag itself is a hint
            if boxes.tags[place] == "main" and place not in self._boxes:
                start, end = boxes.starts[place], boxes.ends[place]
                if totals[end] - totals[start] >= enough:
                    return start, end
        return boxes.starts[0], boxes.ends[0]
