"""Text that a database can hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from messor.web.text import one_line, storable


def test_what_cannot_be_stored_is_left_out() -> None:
    assert storable("a\0b\ud800c\u00e9") == "abc\u00e9"
    assert one_line(" a\0  b\n\ud800c ", 9) == "a b c"


_TEXTS = st.text(
    st.one_of(st.sampled_from("ab  \t\n\0\u00a0\u2003\ud800\x1f\x85\u00e9"), st.characters()),
    max_size=20,
)


@given(_TEXTS, st.integers(1, 12))
def test_a_line_is_collapsed_before_it_is_cut(text: str, limit: int) -> None:
    found = one_line(text, limit)
    assert found == storable(" ".join(text[: 4 * limit].split())[:limit])
    assert len(found) <= limit
    found.encode()
