"""What proves a page unchanged before somebody is paid to fetch it: sitemaps and shells."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from messor.archive.hashes import shell_hash
from messor.crawl.paid_calls import PaidHistory
from messor.frontier.cadence import PAID_FACTOR, paid_factor

SEEN = datetime(2026, 11, 18, 10, 30, tzinfo=UTC)
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
MIDNIGHT = datetime(2026, 11, 18, tzinfo=UTC)


@pytest.mark.parametrize(
    "lastmod, listed_at, is_proved",
    [
        (SEEN, SEEN + SECOND, True),
        (SEEN + SECOND, SEEN + 2 * SECOND, False),  # modified after it was seen
        (SEEN - DAY, SEEN, False),  # the sitemap was not read since
        (SEEN - DAY, None, False),
        (None, SEEN + DAY, False),
        (MIDNIGHT, SEEN + DAY, False),  # some time on the day it was seen
        (MIDNIGHT - DAY, SEEN + DAY, True),
    ],
)
def test_a_sitemap_is_proof_only_of_content_seen_after_it(
    lastmod: datetime | None, listed_at: datetime | None, is_proved: bool
) -> None:
    history = PaidHistory(lastmod, SEEN, listed_at)
    assert (history.proof is not None) == is_proved
    assert PaidHistory(lastmod, None, listed_at).proof is None


def shell(
    *, nonce: str = "a1", key: str = "x", script: str = "/app.js", data: str = "", note: str = ""
) -> bytes:
    return shell_hash(
        f'<head><!-- {note} --><meta name="csrf-token" content="{nonce}"></head>'
        f'<body data-session="{key}"><div id="root"></div>{data}'
        f'<script nonce="{nonce}" src="{script}"></script></body>'
    )


@pytest.mark.parametrize(
    "same",
    [
        shell(nonce="b2"),
        shell(note="rendered in 12 ms"),
        shell(key=""),
    ],
    ids=["nonce", "comment", "key"],
)
def test_what_is_random_in_a_shell_does_not_count(same: bytes) -> None:
    keys = ("aZ" + "3" * 30, "0123456789abcdef" * 2, "7f9c24e8-3b12-4fef-91f0-bc0d1a2b3c4d")
    assert same in {shell(), shell(key=keys[0])}
    assert len({shell(key=key) for key in keys}) == 1


@pytest.mark.parametrize(
    "other",
    [
        shell(script="/app.9f8e7d6c5b4a39281706f5e4d3c2b1a0.js"),
        shell(data='<script type="application/ld+json">{"price": "12.50"}</script>'),
        shell(data='<p data-slug="spring-sale-2026">'),
    ],
    ids=["another build", "data", "words"],
)
def test_what_a_shell_shows_counts(other: bytes) -> None:
    assert other != shell()
    prices = [f'{{"price": "{price}"}}' for price in ("12.50", "13.50")]
    assert len({shell(data=price) for price in prices}) == 2


def test_the_interval_doubles_up_to_its_bound() -> None:
    assert [paid_factor(repeats) for repeats in range(6)] == [1, 2, 4, 8, 16, 16]
    assert PAID_FACTOR == 16
