"""Language detection by the letters of a text; the page's own claim is ignored.

Most pages are English, and English is recognised by its function words at a fraction of the cost.
Languages that share their letters with others are told apart by how often their trigrams stand in words
(`content/data/languages.json`, which `bench/learning/languages.py` writes); the rest by their letters alone.
"""

from __future__ import annotations

import re
from importlib import resources

import msgspec
from turbohtml.detect import detect_language

_ENOUGH = 40  # characters
_FIRST = 800  # usually enough, at half the cost
_PLENTY = 2_000
_SURE = 0.8
# Least mean score of a text's trigrams in its language, and by how much it clearly exceeds that in others.
_KNOWN = 2.5
_CLEARLY_APART = 0.3
# Least number of trigrams: in all, and one for so many characters. Fewer are foreign words in another script.
_MIN_TRIGRAMS = 25
_CHARACTERS = 6

# ISO 639-3, as the detector returns it, to ISO 639-1: languages with letters of their own.
_CODES = """
    amh:am ben:bn cmn:zh ell:el guj:gu heb:he hin:hi hye:hy jpn:ja kan:kn kat:ka khm:km kor:ko
    mal:ml mar:mr mya:my nep:ne ori:or pan:pa sin:si tam:ta tel:te tha:th yid:yi zho:zh
"""
_TWO_LETTERS = dict(pair.split(":") for pair in _CODES.split())

# Function words of English, and of neighbouring languages, some of which occur on bilingual pages.
_ENGLISH = frozenset(
    """
    about after all also and any are as at be because been before being between both but by can
    could do even every for from get had has have her here him his how if in into is it its just
    last like made make may might more most my new no not now of on one only or other our out over
    same she should so some such take than that the their them then there these they this those
    through to up us very was we were what when where which while who will with without would you
    your
    """.split()  # noqa: SIM905 - words in a row are easier to read
)
_FOREIGN = frozenset(
    """
    auf che da de dem der des di die du ei ein eine el en et fur het il ja je la las le les los mit
    nicht och og os pour que und une van von y
    """.split()  # noqa: SIM905
)
_SMALL = _ENGLISH | _FOREIGN
# Maximum characters per English function word, and minimum number of different ones.
_APART = 18
_KINDS = 16

_FILE = resources.files("messor.content") / "data" / "languages.json"
_LEARNT = msgspec.json.decode(_FILE.read_bytes(), type=dict[str, list[str]])
_LANGUAGES = tuple(_LEARNT)
_LANE = 16  # bits of a language's sum: no text that is read at once exceeds them
_words = re.compile(r"[^\W\d_]{3,}").findall


def _table() -> dict[str, int]:
    """Return by trigram its scores in all languages, each in a lane of its own: one sum adds them all."""
    found: dict[str, int] = {}
    for place, by_score in enumerate(_LEARNT.values()):
        for score, grams in enumerate(by_score, 1):
            value = score << (place * _LANE)
            for start in range(0, len(grams), 3):
                gram = grams[start : start + 3]
                found[gram] = found.get(gram, 0) + value
    return found


_TABLE = _table()


def written_in(text: str) -> str:
    """Return the ISO 639-1 code of a text's language; empty if too short or unclear."""
    if len(text) < _ENOUGH:
        return ""
    if len(text) >= _FIRST and _is_english(text[:_FIRST]):
        return "en"
    found, margin = _by_trigrams(text[:_FIRST])
    if found and margin < _CLEARLY_APART and len(text) > _FIRST:
        found, _ = _by_trigrams(text[:_PLENTY])
    return found or _by_letters(text)


def _by_trigrams(text: str) -> tuple[str, float]:
    """Return the language whose trigrams a text has, and how far the next one is behind; empty if none."""
    words = _words(text.lower())
    grams = [word[place : place + 3] for word in words for place in range(len(word) - 2)]
    if len(grams) < max(_MIN_TRIGRAMS, len(text) / _CHARACTERS):
        return "", 0.0
    summed = sum(map(_TABLE.get, grams, [0] * len(grams)))
    lanes = summed.to_bytes(len(_LANGUAGES) * _LANE // 8, "little")
    sums = memoryview(lanes).cast("H").tolist()
    second, first = sorted(sums)[-2:]
    if first < _KNOWN * len(grams):
        return "", 0.0
    return _LANGUAGES[sums.index(first)], (first - second) / len(grams)


def _by_letters(text: str) -> str:
    found = detect_language(text[:_PLENTY])
    if found.language is None or found.confidence < _SURE:
        return ""
    return _TWO_LETTERS.get(found.language, "")


def _is_english(text: str) -> bool:
    """Whether a text is clearly English: the detector would say so with confidence."""
    small = list(filter(_SMALL.__contains__, text.lower().split()))
    kinds = set(small)
    if len(small) * _APART < len(text) or not kinds.isdisjoint(_FOREIGN):
        return False
    return len(kinds) >= _KINDS
