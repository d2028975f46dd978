"""Every field on the external pages is supported, and plain articles are no other kind of thing."""

from __future__ import annotations

from collections import Counter

import pytest

from messor.content.kinds import KINDS, find_records
from messor.content.records import unsupported
from messor.content.view import PageView
from tests.content.views import corpus_pages

# Kinds that an article does not state by being one; few of its pages may have any.
UNUSUAL = (
    "offer",
    "service",
    "opportunity",
    "price_item",
    "funding_program",
    "faq",
    "opening_hours",
)


@pytest.mark.parametrize("name", ["articles", "products"])
def test_every_field_is_supported(name: str) -> None:
    fields = 0
    for url, text in corpus_pages(name):
        for record in find_records(PageView.of(text, url)):
            assert unsupported(record, text) == [], (url, record)
            assert KINDS[record.kind].problems(record) == [], (url, record)
            fields += len(record.fields)
    assert fields > 300


def test_articles_state_little_else() -> None:
    pages = 0
    with_kind: Counter[str] = Counter()
    for url, text in corpus_pages("articles"):
        pages += 1
        with_kind.update({record.kind for record in find_records(PageView.of(text, url))})
    for kind in UNUSUAL:
        assert with_kind[kind] <= 0.02 * pages, with_kind
