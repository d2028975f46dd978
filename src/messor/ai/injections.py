"""Prompt injection: lines of a page that address a machine instead of a visitor.

Such lines, and what they dictate, are withheld from the model, and no value is accepted because of
them. The patterns are a fixed list and cannot be complete, so a value must also occur elsewhere on
the page. All patterns take linear time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from messor.content.dates import fold

_REACH = 6  # lines after an instruction that may hold what it dictates
_PIECE = 4_000  # characters of a long line checked together
_OVERLAP = 400
_SHORT = 10  # a shorter line is an injection only as a role marker
_SIGN = frozenset("<>[]!:#{}")

_UNDO = (
    r"ignor\w*|disregard\w*|forget|overrid\w*|bypass\w*|discard\w*|vergiss\w*|missacht\w*"
    r"|olvid\w*|oubli\w*|dimentica\w*|esquec\w*|negeer\w*|zignoruj\w*|omit\w*"
)
_RULES = (
    r"instruct\w*|prompts?|rules?|directions?|guidelines?|previous|prior|above|earlier|system"
    r"|anweisung\w*|regeln|instruccion\w*|instruc\w*|consignes?|istruzion\w*|instructies|polecen\w*"
)
_MACHINE = (
    r"a\.?i\.?|llms?|\w{0,16}gpt\w{0,16}|language models?|assistants?|chatbots?"
    r"|crawlers?|scrapers?|bots?|agents?|extractors?|parsers?|machine readers?|ki|sprachmodell\w*"
    r"|modele de langage|modelo de lenguaje|automated (?:readers?|systems?)"
)
_DO = (
    r"must|should|shall|please|do not|don't|never|always|output|outputs|respond|reply|answer|return"
    r"|say|says|set|report|extract|print|write|include|add|append|record|note|treat|use|replace|emit"
    r"|copy|state|claim|list|attention|reading|read|muss|sollst|bitte|debes?|devez|doit"
)
_ANSWER = "output|results?|response|reply|answer|summary|extraction|json"
_ORDERS = (
    re.compile(rf"\b(?:{_UNDO})\b.{{0,80}}?\b(?:{_RULES})\b"),
    re.compile(rf"\b(?:{_MACHINE})\b.{{0,80}}?\b(?:{_DO})\b"),
    re.compile(rf"\b(?:{_DO})\b.{{0,40}}?\b(?:{_MACHINE})\b"),
    re.compile(
        r"\b(?:system|developer|hidden|secret) (?:prompt|message|instruction|note|override)"
    ),
    re.compile(
        r"\b(?:new|updated|important|special|real|actual|final) (?:instruction|order|directive|task)"
    ),
    re.compile(
        r"\byou (?:are|must|should|will) (?:now|an?|be|act|only|output|respond|return|ignore)\b"
    ),
    re.compile(
        r"\b(?:act as|pretend (?:to|that)|jailbreak|do anything now|developer mode|as an ai)\b"
    ),
    re.compile(
        r"\b(?:respond|reply|answer|output|emit|antworte|responde|repondez)\b"
        r".{0,40}?(?:\bjson\b|\bonly with\b|\bexactly\b|\bthe following\b|\bwith\b|\bmit\b|[{\[\"`:])"
    ),
    re.compile(
        rf"\byour (?:{_ANSWER})\b.{{0,30}}?\b(?:contains?|includes?|mentions?|lists?|names?|reads?|starts?|ends?)\b"
    ),
    re.compile(
        rf"\b(?:write|put|mention|include|name|state|say|list|repeat|cite)\b.{{0,60}}?\bin(?:to)? (?:your|the) (?:{_ANSWER})\b"
    ),
    re.compile(
        r"\bautomat(?:ed|ic|ically)\b.{0,20}?\b(?:summar\w+|extract\w+|analy\w+|reading|answers?)\b.{0,20}?:"
    ),
    re.compile(
        r"\b(?:return|print|write|produce|copy|append)\b.{0,40}?(?:\bjson\b|\bverbatim\b|[{`]|!\[)"
    ),
    re.compile(
        r"\b(?:set|change|replace|use|report|record|extract|overwrite|make|treat)\b.{0,40}?"
        r"\b(?:price|title|name|amount|field|value|offer|label|record|discount|code|email|phone|relevant)s?"
        r"\b.{0,20}?(?:\bto\b|\bas\b|\bwith\b|=|:)"
    ),
    re.compile(
        r"<\|?/?(?:im_start|im_end|system|user|assistant|endoftext|s|sys)\|?>|\[/?inst\]|<</?sys"
    ),
    re.compile(r"^\W{0,6}(?:system|assistant|user|developer|human|instruction)s?\s?\W?\s?:"),
    re.compile(r"#{2,}\s?(?:system|instruction|response|task|new)"),
    re.compile(r"\bend of (?:the )?(?:data|page|text|document|input|content|context)\b"),
    re.compile(r"<<<|>>>|\bdata-[0-9a-f]{6}"),
    re.compile(r"!\[[^\]\n]{0,200}\]\s?\("),
    re.compile(r"\b(?:exfiltrat\w*|tool[_ ]call|function[_ ]call|base64|api[_ ]?key|passwords?:)"),
)
_SQUASHED = re.compile(
    r"(?:ignore|disregard|forget|override)(?:all|any|the|your|my|these|of)*"
    r"(?:previous|prior|above|earlier|system)?(?:instruction|prompt|rule|direction)"
)
# What an instruction dictates: JSON, a list of fields, an exfiltration link.
_DICTATED = re.compile(
    r"[\"'{\[]?\s?\b(?:title|price|name|label|amount|currency|code|discount|records?|value|email|phone"
    r"|relevant|quote|url|question|answer|deadline|funder)\b"
    r"(?:[\"']?\s?[:=]|.{0,30}?\b(?:is|are|to|becomes|(?:should|must|shall|will) be)\b)"
    r"|^\W*[{}\[\]]|https?://\S+[?&=]"
)
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u03bf\u03b1\u03b9\u0131",
    "aeopcyxijsoaii",
)


def injection_lines(lines: Sequence[str]) -> set[int]:
    """Return the numbers of lines that address a machine, and of those they dictate."""
    found: set[int] = set()
    left = 0
    for number, line in enumerate(lines):
        if not line:
            continue
        if is_injection(line):
            found.add(number)
            left = _REACH
        elif left:
            left -= 1
            if _DICTATED.search(_plain(line[:_PIECE])):
                found.add(number)
    return found


def is_injection(line: str) -> bool:
    """Whether any part of a line addresses a machine."""
    if len(line) < _SHORT and _SIGN.isdisjoint(line):
        return False
    steps = range(0, max(len(line) - _OVERLAP, 1), _PIECE - _OVERLAP)
    return any(_addresses_machine(_plain(line[at : at + _PIECE])) for at in steps)


def _addresses_machine(plain: str) -> bool:
    if any(sign.search(plain) for sign in _ORDERS):
        return True
    return _SQUASHED.search(re.sub(r"[\W_]+", "", plain)) is not None


def _plain(line: str) -> str:
    """Return the line in lower case, homoglyphs normalised, white space collapsed."""
    if line.isascii():
        return " ".join(line.lower().split())
    text = unicodedata.normalize("NFKC", line)
    visible = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Co", "Mn"))
    return " ".join(fold(visible).translate(_LOOKALIKES).split())
