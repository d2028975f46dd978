"""What is told at a look about blocks and boxes is what a closer look would tell."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.content.main import hints, read_main
from messor.content.main.blocks import collapsed
from messor.content.main.keep import _is_phrase, is_aside
from messor.content.main.weigh import _BOILERPLATE, _is_boilerplate

HINTS = [1 << place for place in range(hints.WHOLE_BODY.bit_length())]


@pytest.mark.parametrize("has_headline", [False, True])
def test_a_box_without_running_text_is_what_it_is_called(*, has_headline: bool) -> None:
    for chosen in combinations(HINTS, 3):
        found = chosen[0] | chosen[1] | chosen[2]
        if found & _BOILERPLATE:
            assert _is_boilerplate(found, 0, 1, has_headline)


@given(
    st.sampled_from(("", "\u00a9 ", "(c) ", "- ", "3 ", "12")),
    st.sampled_from(
        (
            "advert", "Ad", "ADS", "comments", "Read more", "you might also like", "by Ann Lee",
            "f\u0131nd us on x", "\u017fhare", "síguenos", "広告", "no comments", "Photo: x", "Young",
            "te puede interesar", "Really", "addition", "", "à lire aussi", "le\u00e9 también",
        )
    ),
    st.sampled_from(("", ":", " it", " 2024", "s")),
)  # fmt: skip
def test_how_a_phrase_begins_tells_no_other_than_the_phrase(
    before: str, phrase: str, after: str
) -> None:
    text = before + phrase + after
    assert is_aside(text) == _is_phrase(text)


@given(st.lists(st.sampled_from(("word", "é", " ", "  ", "\t", "\n", "\u00a0", "\x1f", "a" * 50))))
def test_white_space_is_collapsed_wherever_it_stands(parts: list[str]) -> None:
    text = "".join(parts)
    assert collapsed(text) == " ".join(text.split())


CELLS = ("one", "2", "- a", "a | b", "", "<b>x</b>", "<p>x</p><p>y</p>", "l<br>m", "3. z", "*")


@given(st.lists(st.lists(st.sampled_from(CELLS), min_size=2, max_size=3), min_size=2, max_size=4))
def test_a_cell_is_written_the_same_whatever_else_is_in_the_table(rows: list[list[str]]) -> None:
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    plain, escaping = (
        read_main(f"<p>{first}</p><table>{cells}</table>", "https://x.example/").markdown
        for first in ("first", "first*")  # one that has to be escaped makes every text be looked at
    )
    assert plain.partition("\n")[2] == escaping.partition("\n")[2]
