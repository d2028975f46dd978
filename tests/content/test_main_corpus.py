"""Main content of external article pages, held against what people marked."""

from __future__ import annotations

import pytest
from bench.articles import load_pages, messor_reader, score

BAR = 0.98


def test_articles_reach_the_bar() -> None:
    pages = load_pages()
    if not pages:
        pytest.skip("the external cases (articles_zyte.json) are not here")
    read = messor_reader()
    found = score((page.body, read(page.html, page.url)) for page in pages)
    assert found.f1 >= BAR, found


def test_the_score_counts_shingles() -> None:
    same = score([("a b c d e", "a b c d e"), ("f g", "f g")])
    half = score([("a b c d e f g h", "a b c d e")])
    assert same.f1 == 1
    assert half.precision == 1
    assert half.recall == pytest.approx(2 / 5)
    assert score([("a b c d", "")]).f1 == 0
