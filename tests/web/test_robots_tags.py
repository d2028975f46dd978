"""What a page says about being kept: headers and markup, for everybody or by name."""

from __future__ import annotations

import pytest

from messor.web.html import read_page
from messor.web.robots_tags import directives_of

NOTHING: tuple[str, bool, dict[str, str]] = ("", False, {})


@pytest.mark.parametrize(
    "headers, head, expected",
    [
        ([], "", NOTHING),
        ([], '<meta name=robots content="noindex">', ("meta robots", False, {})),
        ([], '<meta name=MESSORBOT content="none">', ("meta robots", True, {})),
        ([], '<meta name=googlebot content="noindex">', NOTHING),
        (["noindex"], "", ("X-Robots-Tag", False, {})),
        (["nofollow", "noindex"], "", ("X-Robots-Tag", True, {})),
        (["googlebot: noindex"], "", NOTHING),
        (["MessorBot: noindex, nofollow"], "", ("X-Robots-Tag", True, {})),
        (["googlebot: nofollow, messorbot: noindex"], "", ("X-Robots-Tag", False, {})),
        (["max-snippet: 20, noindex"], "", ("X-Robots-Tag", False, {})),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST"], "", ("X-Robots-Tag", False, {})),
        (["unavailable_after: 2099-01-01"], "", NOTHING),
        (["unavailable_after: nonsense"], "", NOTHING),
        ([], '<meta name=robots content="noai, noimageai">',
         ("", False, {"noai": "meta robots", "noimageai": "meta robots"})),
        (["noai"], "", ("", False, {"noai": "X-Robots-Tag"})),
        ([], "<meta name=tdm-reservation content=1>", ("", False, {"tdm-reservation": "1"})),
        ([], "<meta name=tdm-reservation content=0>", NOTHING),
    ],
)  # fmt: skip
def test_directives(
    headers: list[str], head: str, expected: tuple[str, bool, dict[str, str]]
) -> None:
    reading = read_page(
        f"<html><head>{head}</head><body>text</body></html>", "http://a.test/", agent="MessorBot"
    )
    raw = [(b"X-Robots-Tag", value.encode()) for value in headers]
    assert directives_of(raw, reading, "MessorBot")[:3] == expected


def test_a_reservation_by_header() -> None:
    reading = read_page("<p>text</p>", "http://a.test/")
    raw = [(b"TDM-Reservation", b"1"), (b"tdm-policy", b"https://a.test/policy.json")]
    said = directives_of(raw, reading, "MessorBot")
    assert said.reservations == {"tdm-reservation": "1", "tdm-policy": "https://a.test/policy.json"}
