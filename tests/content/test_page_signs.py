"""Signs of a page's type: what is looked for in a shorter way is found as it always was."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.content import page_signs
from messor.content.dates import fold
from messor.content.memory import Memory
from messor.content.page_signs import read_signs
from tests.content.views import view

_WORDS = re.compile(r"[^\W_]+")
_SLUG = re.compile(r"[^/]*-[^/]*-[^/]*-[^/]*/?$")


def _reasons(
    url: str, body: str = "x", title: str = "x", memory: Memory | None = None
) -> list[str]:
    signs = read_signs(view(body, url, head=f"<title>{title}</title>", memory=memory))
    return [reason for reasons in signs.reasons.values() for reason in reasons]


@pytest.mark.parametrize(
    "tail, reason",
    [
        ("a?page=2", "the URL of a page in a row"),
        ("a?/page/2", "the URL of a page in a row"),
        ("a/PAGE/2", "the URL of a page in a row"),
        ("a/page/x", None),
        ("a?b&Q=c", "a search in the URL"),
        ("a?q=", None),
        ("2026/01/", "a date in the URL"),
        ("a/1999-1", "a date in the URL"),
        ("a-2026/01/", None),
        ("a/2126/01/", None),
        ("a-b-c-d", "a long name in the URL"),
        ("a-b-c-d/?x", "a long name in the URL"),
        ("a-b-c-d//", None),
        ("a-b/c-d", None),
    ],
)
def test_signs_of_an_address(tail: str, reason: str | None) -> None:
    found = set(_reasons(f"https://a.test/x/{tail}"))
    told = {
        "the URL of a page in a row",
        "a search in the URL",
        "a date in the URL",
        "a long name in the URL",
    }
    assert found & told == ({reason} if reason else set())


@given(st.text("ab-/", max_size=12))
def test_long_names_are_those_of_the_pattern(path: str) -> None:
    told = "a long name in the URL" in _reasons(f"https://a.test/{path}")
    assert told is (_SLUG.search(f"/{path}") is not None)


@given(st.text(st.characters(max_codepoint=127)))
def test_words_of_plain_letters_are_those_of_the_pattern(title: str) -> None:
    assert page_signs._words(title) == _WORDS.findall(fold(title))


def test_phrases_of_a_title_are_named_in_their_order() -> None:
    found = _reasons("https://a.test/x", title="Sign-in: Page_not found; sign in! Öffnen")
    assert [reason for reason in found if reason.startswith("the title")] == [
        "the title says 'not found'",
        "the title says 'page not found'",
        "the title says 'sign in'",
    ]


LINES = ["10 €", "10 €", "€ 1", "$\u0663", "12 zł", "Rs. 5", "5 krona", "6 kr", "7", "no €"]


def test_prices_are_counted_by_lines_whether_they_are_known_or_not() -> None:
    body = "".join(f"<p>{line}</p>" for line in LINES)
    memory = Memory()
    for _ in range(2):
        assert "7 prices" in _reasons("https://a.test/x", body, memory=memory)
    more = f"{body}<p>11 €</p><p>10 €</p>"
    assert "9 prices" in _reasons("https://a.test/x", more, memory=memory)


def test_the_body_is_what_is_outside_of_navigation_and_footer() -> None:
    page = view("<nav>a</nav><header>bc</header><p>def</p><footer>g</footer><aside>h</aside>")
    body = page.body
    assert (body.texts, body.sizes) == (["bc", "def", "h"], [2, 3, 1])
    assert len(body.firsts) == 3
    assert page.body is body


def test_a_page_without_lines_has_an_empty_body() -> None:
    assert view("").body.texts == []
    assert _reasons("https://a.test/x", "") == []
