"""Phrases that accompany an article without being part of it, in several languages.

Only the start of short blocks is checked: in running text the same words are the author's own.
"""

from __future__ import annotations

import re

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
