"""Dates of publication that stand in the text, the URL or a script."""

from __future__ import annotations

import pytest

from messor.content.dates import read_date
from messor.content.metadata import read_metadata
from tests.content.views import view

TEXT = "<p>" + "The fox jumps over the lazy dog and has been seen with it again. " * 8 + "</p>"


def published(body: str, url: str = "https://n.org/a", *, head: str = "", lang: str = "en") -> str:
    return read_metadata(view(body, url, head=head, lang=lang)).published or ""


@pytest.mark.parametrize(
    "line, lang, expected",
    [
        ("<p>By Ann Fox | 26 May, 2008</p>", "en", "2008-05-26"),
        ("<div><em>von</em> Fred <em>31.10.2023</em></div>", "de", "2023-10-31"),
        ("<p>28.01.22 / 0 Kommentare</p>", "de", "2022-01-28"),
        ("<p>03/04/2025</p>", "en-GB", "2025-04-03"),
        ("<p>03/04/2025</p>", "en-US", "2025-03-04"),
        ("<p>03/04/2025</p>", "pt", "2025-04-03"),
        ("<p>2023\ub144 11\uc6d4 2\uc77c</p>", "ko", "2023-11-02"),
        ("<ul class='info'><li>27 juin 2019</li></ul>", "fr", "2019-06-27"),
        (
            "<p>Karlsruhe (12.11.2021). Traditionell gedenken " + "alle " * 60 + "</p>",
            "de",
            "2021-11-12",
        ),
    ],
)
def test_a_date_at_the_headline(line: str, lang: str, expected: str) -> None:
    body = f"<p>1. Mai 1999</p>{'<p>Menu</p>' * 9}<h1>Foxes jump</h1>{line}{TEXT}"
    assert published(body, lang=lang) == expected


def test_dates_of_others_are_not_the_pages() -> None:
    others = (
        "<div class='comment'><p>Bo, 5 May 2021</p></div>"
        "<div class='related-teaser'>6 May 2021</div><p>\u00a9 7 May 2021 Zoo</p>"
    )
    assert published(f"<h1>Foxes jump</h1>{TEXT * 16}{others}") == ""
    entries = "".join(f"<div><h3>Entry {n}</h3><p>{n} May 2021</p></div>" for n in range(1, 9))
    assert published(f"<h1>Foxes</h1>{'<p>About.</p>' * 20}{entries}") == ""


def test_the_date_of_publication_beats_that_of_a_change() -> None:
    body = "<h1>Foxes jump</h1><p>Updated 9 May 2021</p><p>Published 5 May 2021</p>" + TEXT
    assert published(body) == "2021-05-05"
    assert published("<h1>Foxes</h1><p>Last updated 9 May 2021</p>" + TEXT) == "2021-05-09"


def test_a_date_in_an_attribute() -> None:
    abbr = '<abbr class="published" title="2017-07-23T17:06:45+0000">yesterday</abbr>'
    assert published(f"<h1>Foxes jump</h1>{abbr}{TEXT}")[:10] == "2017-07-23"


@pytest.mark.parametrize(
    "path", ["2020/04/28/fox", "20200428/fox", "news/2020-04-28-fox", "news/28-04-2020-fox"]
)
def test_a_date_in_the_url(path: str) -> None:
    assert published(TEXT, f"https://n.org/{path}") == "2020-04-28"


def test_a_local_date_in_the_url_beats_the_same_moment_in_utc() -> None:
    head = '<meta property="article:published_time" content="2023-11-09T01:09:55+00:00">'
    assert published(TEXT, "https://n.org/2023/11/08/fox/", head=head) == "2023-11-08"
    assert published(TEXT, "https://n.org/2023/11/01/fox/", head=head)[:10] == "2023-11-09"


def test_what_a_template_states_yields_to_the_headline() -> None:
    head = '<meta name="date" content="2021-12-20">'
    dated = '<h1>Foxes jump</h1><span class="date">27.01.2022</span>' + TEXT
    assert published(dated, head=head, lang="de") == "2022-01-27"
    assert published("<h1>Foxes jump</h1>" + TEXT, head=head) == "2021-12-20"


def test_reviews_of_a_product_do_not_date_its_page() -> None:
    head = """<script type="application/ld+json">{"@type": "Product", "name": "Fox",
    "review": {"@type": "Review", "datePublished": "2021-05-05"}}</script>"""
    assert published(f"<h1>Fox</h1>{TEXT * 30}<p>5 May 2021</p>", head=head) == ""


def test_a_date_in_a_script_is_the_last_resort() -> None:
    state = "<script>state = {'publishedDate': '2016-11-04T20:37:27Z'}</script>"
    assert published(f"<h1>Foxes</h1>{TEXT}{state}") == "2016-11-04T20:37:27+00:00"


def test_short_years_and_ambiguous_days_need_to_be_asked_for() -> None:
    assert read_date("3.4.25") is None
    assert read_date("3.4.25", short_years=True) == "2025-04-03"
    assert read_date("03/04/2025") is None
    assert read_date("03/04/2025", day_first=True) == "2025-04-03"
    assert read_date("13/04/2025", day_first=False) == "2025-04-13"
