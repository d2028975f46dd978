# ruff: noqa: RUF001 - letters of other scripts
"""The language of a text: English by its small words, others by trigrams, or by letters of their own."""

from __future__ import annotations

import pytest

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
    """The texts whose trigrams were counted."""
    seen: list[str] = []
    by_trigrams = languages._by_trigrams

    def counting(text: str) -> tuple[str, float]:
        seen.append(text)
        return by_trigrams(text)

    monkeypatch.setattr(languages, "_by_trigrams", counting)
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
def test_where_words_do_not_tell_trigrams_are_counted(
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


# The first article of the Universal Declaration of Human Rights.
ARTICLE = {
    "is": "Hver maður er borinn frjáls og jafn öðrum að virðingu og réttindum. Menn eru gæddir vitsmunum"
    " og samvisku, og ber þeim að breyta bróðurlega hverjum við annan.",
    "ga": "Saolaítear gach duine den chine daonna saor agus comhionann i ndínit agus i gcearta. Tá bua an"
    " réasúin agus an choinsiasa acu agus ba cheart dóibh gníomhú i dtreo a chéile.",
    "eu": "Gizon-emakume guztiak aske jaiotzen dira, duintasun eta eskubide berberak dituztela; eta ezaguera"
    " eta kontzientzia dutenez gero, elkarren artean senide legez jokatu beharra dute.",
    "kk": "Барлық адамдар тумысынан азат және қадір-қасиеті мен құқықтары тең болып дүниеге келеді."
    " Адамдарға ақыл-парасат, ар-ождан берілген, сондықтан олар бауырмалдық қарым-қатынас жасаулары тиіс.",
    "sw": "Watu wote wamezaliwa huru, hadhi na haki zao ni sawa. Wote wamejaliwa akili na dhamiri, hivyo"
    " yapasa watendeane kindugu.",
    "cy": "Genir pawb yn rhydd ac yn gydradd â'i gilydd mewn urddas a hawliau. Fe'u cynysgaeddir â rheswm a"
    " chydwybod, a dylai pawb ymddwyn y naill at y llall mewn ysbryd cymodlon.",
    "zu": "Bonke abantu bazalwa bekhululekile belingana ngesithunzi nangamalungelo. Bahlanganiswe wumcabango"
    " nangunembeza futhi kufanele baphathane ngomoya wobunye.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "hi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और"
    " अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを"
    "授けられており、互いに同胞の精神をもって行動しなければならない。",
}  # fmt: skip


@pytest.mark.parametrize("language", ARTICLE)
def test_languages_are_told_apart(language: str) -> None:
    assert written_in(ARTICLE[language]) == language


def test_letters_without_words_are_no_language() -> None:
    assert (
        written_in("kjhqwz vbnxcq plkjmn qwzxcv bnmlkj hgfdqp xzcvbq wrtplk jhgfds qazwsx " * 20)
        == ""
    )


def test_foreign_words_do_not_outweigh_the_script_around_them() -> None:
    text = f"{ARTICLE['ja']} Universal Declaration of Human Rights"
    assert written_in(text) == "ja"


def test_words_and_trigrams_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {}
    for url, html in corpus_pages("articles"):
        lines, _ = PageView.of(html, url).visible_lines.outside(("nav", "footer"))
        text = "\n".join(line for line in lines if len(line) > 40)
        told[text] = written_in(text)
    assert "en" in told.values()
    monkeypatch.setattr(languages, "_ENGLISH", frozenset())
    assert {text: written_in(text) for text in told} == told
