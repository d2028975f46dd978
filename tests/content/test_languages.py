"""The language of a text: English by its small words, and any other by its letters."""

from __future__ import annotations

import pytest
from turbohtml.detect import LanguageMatch, detect_language

from messor.content import languages
from messor.content.languages import written_in
from messor.content.view import PageView
from tests.content.views import corpus_pages

ENGLISH = (
    "We keep the tools sharp and the prices plain, because most of our neighbours come here with "
    "something that should have lasted longer than it did. If there is a part that we do not have, "
    "it can be ordered from the makers, and you may wait for it with a cup of tea. Every month we "
    "publish what we learned about old clocks and what we got wrong. When the shop was opened there "
    "were only two of us, and both had been without work for a while. "
)
GERMAN = (
    "Wir halten das Werkzeug scharf und die Preise niedrig, denn die meisten Nachbarn kommen mit "
    "etwas, das l\u00e4nger h\u00e4tte halten sollen. Wenn ein Teil fehlt, kann es bestellt werden, und wer "
    "warten m\u00f6chte, bekommt eine Tasse Tee. Jeden Monat schreiben wir auf, was wir \u00fcber alte Uhren "
    "gelernt haben und was nicht gelungen ist. "
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the letters were counted of."""
    seen: list[str] = []

    def counting(text: str) -> LanguageMatch:
        seen.append(text)
        return detect_language(text)

    monkeypatch.setattr(languages, "detect_language", counting)
    return seen


def test_english_is_known_by_its_small_words(asked: list[str]) -> None:
    assert written_in(ENGLISH * 2) == "en"
    assert asked == []


@pytest.mark.parametrize(
    "text, language",
    [
        (ENGLISH, "en"),  # too short to tell by words alone
        (GERMAN * 3, "de"),
        (ENGLISH[:200] + GERMAN * 3, "de"),
        ("the of and to in is it for " * 60, ""),  # always the same words
    ],
)
def test_where_words_do_not_tell_letters_are_counted(
    asked: list[str], text: str, language: str
) -> None:
    told = written_in(text)
    assert asked
    if language:
        assert told == language


def test_a_page_in_two_languages_is_not_taken_for_english_by_its_words(asked: list[str]) -> None:
    written_in((ENGLISH + GERMAN) * 2)
    assert asked


def test_short_texts_tell_nothing() -> None:
    assert written_in("All of this is English.") == ""


def test_words_and_letters_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {}
    for url, html in corpus_pages("articles"):
        lines, _ = PageView.of(html, url).visible_lines.outside(("nav", "footer"))
        text = "\n".join(line for line in lines if len(line) > 40)
        told[text] = written_in(text)
    assert "en" in told.values()
    monkeypatch.setattr(languages, "_ENGLISH", frozenset())
    assert {text: written_in(text) for text in told} == told
