"""What sites say about use, by standard; examples are those of the standards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.web.html import read_page
from messor.web.robots_tags import directives_of
from messor.web.usage import aipref, content_signal, creative_commons, robots_words, rsl, tdm
from messor.web.usage.robots_txt import RobotsUsage
from messor.web.usage.statement import Answer, Statement, Use, decide

URL = "https://site.example/news/today?page=2"


def answers(statements: list[Statement]) -> dict[str, str]:
    return {one.use.value: one.answer.value for one in statements}


@pytest.mark.parametrize(
    "value, expected",
    [
        ("train-ai=n", {"ai-train": "no"}),
        ("train-ai=y, search=n", {"ai-train": "yes", "search": "no"}),
        ("train-ai=n;why=privacy", {"ai-train": "no"}),  # parameters are ignored
        ("exclude=n, train-ai=n", {"ai-train": "no"}),  # other keys are ignored
        ("train-ai=n, train-ai=y", {"ai-train": "yes"}),  # the last of equal keys, RFC 9651
        ("exclude=n", {}),
        ("", {}),
        ("train-ai", {"ai-train": "unknown"}),  # true is no preference
        ('train-ai="n"', {"ai-train": "unknown"}),
        ("train-ai=N", {"ai-train": "unknown"}),
        ("train-ai=n way", {"ai-train": "unknown", "search": "unknown"}),
        ("Train-AI: n", {"ai-train": "unknown", "search": "unknown"}),
        ("train-ai=n \u2026", {"ai-train": "unknown", "search": "unknown"}),
    ],
)
def test_content_usage(value: str, expected: dict[str, str]) -> None:
    assert answers(aipref.statements_of(value, "header")) == expected


@pytest.mark.parametrize(
    "value, expected",
    [
        ("search=yes, ai-train=no", {"search": "yes", "ai-train": "no"}),
        ("search=yes,ai-input=NO,use=reference", {"search": "yes", "ai-input": "no"}),
        ("ai-train=maybe", {"ai-train": "unknown"}),
        ("ai-train", {"ai-train": "unknown"}),
        ("use=full", {}),
    ],
)
def test_content_signal(value: str, expected: dict[str, str]) -> None:
    assert answers(content_signal.statements_of(value, "header")) == expected


def usage(text: str, url: str = URL) -> dict[str, str]:
    found = RobotsUsage.read(text.encode(), "MessorBot").statements_of(url)
    return {use.value: got.value for use in Use if (got := decide(found, use).answer) is not None}


def test_rules_of_robots_txt_count_by_the_longest_path() -> None:
    text = (
        "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\n"
        "Content-Usage: /ai-ok/ train-ai=y\nContent-Usage: /ai-ok/*.pdf$ train-ai=n\n"
    )
    assert usage(text, "https://site.example/index.html") == {"ai-train": "no"}
    assert usage(text, "https://site.example/ai-ok/a.html") == {"ai-train": "yes"}
    assert usage(text, "https://site.example/ai-ok/a.pdf") == {"ai-train": "no"}
    # Equally long ones: the most restrictive.
    assert usage("User-agent: *\nContent-Usage: train-ai=y\nContent-Usage: train-ai=n") == {
        "ai-train": "no"
    }


def test_groups_of_robots_txt() -> None:
    text = (
        "User-agent: Other\nContent-Signal: search=no\n\n"
        "User-agent: messorbot\nUser-agent: third\nContent-Signal: ai-train=no\n\n"
        "User-agent: *\nContent-Usage: search=n\n"
    )
    assert usage(text) == {"ai-train": "no"}
    assert usage(text.replace("messorbot", "second")) == {"search": "no"}
    assert usage("Content-Usage: train-ai=n\nUser-agent: *\nDisallow:\n") == {"ai-train": "no"}
    found = RobotsUsage.read(b"License: https://site.example/license.xml # terms\n", "MessorBot")
    assert found
    assert found.licences == ["https://site.example/license.xml # terms"]
    statement = RobotsUsage.read(b"\n\nContent-Signal: search=no", "x").statements_of(URL)[0]
    assert (statement.place, statement.text) == ("robots.txt, line 3", "search=no")
    assert not RobotsUsage.read(b"User-agent: *\nDisallow: /", "MessorBot")


@pytest.mark.parametrize(
    "value, answer",
    [("1", "no"), (" 0 ", "yes"), ("2", "unknown"), ("", "unknown"), ("yes", "unknown")],
)
def test_tdm_reservations(value: str, answer: str) -> None:
    assert tdm.statement_of(value, "header").answer == answer


@pytest.mark.parametrize(
    "body, answer",
    [
        ('[{"location": "/*", "tdm-reservation": 1}]', "no"),
        ('[{"location": "/", "tdm-reservation": 1}, {"location": "/news/", "tdm-reservation": 0}]', "yes"),
        ('[{"location": "/news/*.pdf$", "tdm-reservation": 1}]', None),
        ('[{"location": "/other/", "tdm-reservation": 1}]', None),
        ('[{"location": "/", "tdm-reservation": "1"}]', "unknown"),
        ('[{"location": "/", "tdm-reservation": true}]', "unknown"),
        ('[{"location": "/"}]', "unknown"),
        ('{"location": "/"}', "unknown"),
        ("not JSON", "unknown"),
        ("[1, null]", None),
    ],
)  # fmt: skip
def test_the_well_known_file_of_tdmrep(body: str, answer: str | None) -> None:
    found = tdm.of_well_known(body.encode(), URL)
    assert (found.answer if found else None) == answer


def licence(inner: str, url: str = "/") -> bytes:
    return (
        f'<rsl xmlns="https://rslstandard.org/rsl"><content url="{url}"><license>{inner}</license>'
        "</content></rsl>"
    ).encode()


@pytest.mark.parametrize(
    "inner, expected",
    [
        ('<permits type="usage">search</permits>', {"search": "yes", "ai-input": "no", "ai-train": "no"}),
        ('<permits type="usage">ai-all</permits><prohibits type="usage">ai-train</prohibits>',
         {"search": "no", "ai-input": "yes", "ai-train": "no"}),
        ('<permits type="usage">ai-train</permits><payment type="purchase"><amount currency="USD">499.00</amount></payment>',
         {"search": "no", "ai-input": "no", "ai-train": "paid"}),
        ('<permits type="usage">all</permits><payment type="attribution"/>',
         {"search": "yes", "ai-input": "yes", "ai-train": "yes"}),
        ('<prohibits type="usage">ai-train</prohibits>', {"search": "yes", "ai-input": "yes", "ai-train": "no"}),
        ('<payment type="crawl"><amount currency="USD">0.01</amount></payment>',
         {"search": "paid", "ai-input": "paid", "ai-train": "paid"}),
        ('<permits type="geo">US</permits>', {}),
    ],
)  # fmt: skip
def test_licences(inner: str, expected: dict[str, str]) -> None:
    assert answers(rsl.statements_of(licence(inner), URL, "license.xml")) == expected


def test_locations_alternatives_and_faults_of_licences() -> None:
    assert rsl.statements_of(licence("<permits>search</permits>", "/shop/"), URL, "x") == []
    both = (
        '<rsl><content url="/"><license><prohibits>all</prohibits></license></content>'
        '<content url="https://site.example/news/*"><license><permits>search</permits><payment type="crawl"/></license>'
        "<license><permits>search</permits></license></content></rsl>"
    )
    assert answers(rsl.statements_of(both.encode(), URL, "x"))["search"] == "yes"
    for nonsense in (
        b"<rsl", b"", b"<html/>", b"\xff\xfe\x00",
        b'<!DOCTYPE rsl [<!ENTITY a "b">]><rsl><content url="/"><license><permits>&a;</permits></license></content></rsl>',
    ):  # fmt: skip
        found = rsl.statements_of(nonsense, URL, "x")
        assert {one.answer for one in found} == {Answer.UNKNOWN}


def test_words_of_robots_tags() -> None:
    assert answers(robots_words.statements_of({"noai", "follow"}, "meta robots")) == {
        "ai-input": "no", "ai-train": "no",
    }  # fmt: skip
    assert answers(robots_words.statements_of({"none", "noarchive"}, "X-Robots-Tag")) == {
        "search": "no", "archive": "no",
    }  # fmt: skip


def test_the_most_restrictive_statement_decides_and_silence_is_none() -> None:
    said = [
        *content_signal.statements_of("ai-train=yes", "robots.txt, line 2"),
        *aipref.statements_of("train-ai=n", "header"),
    ]
    found = decide(said, Use.AI_TRAIN)
    assert found.answer is Answer.NO
    assert found.by is not None
    assert found.by.place == "header"
    assert decide(said, Use.SEARCH).answer is None
    # A reservation of mining covers training; its absence permits no training.
    assert decide([tdm.statement_of("1", "header")], Use.AI_TRAIN).answer is Answer.NO
    assert decide([tdm.statement_of("0", "header")], Use.AI_TRAIN).answer is None
    unknown = [*said[:1], *content_signal.statements_of("ai-train=perhaps", "header")]
    assert decide(unknown, Use.AI_TRAIN).answer is Answer.UNKNOWN


@given(st.text(max_size=200))
def test_nonsense_raises_nothing_and_permits_nothing(text: str) -> None:
    raw = text.encode("utf-8", "replace")
    for found in (
        aipref.statements_of(text, "x"), content_signal.statements_of(text, "x"),
        [tdm.statement_of(text, "x")], rsl.statements_of(raw, URL, "x"),
        RobotsUsage.read(raw, "MessorBot").statements_of(URL),
    ):  # fmt: skip
        for one in found:
            assert one.answer is not Answer.YES or any(word in text for word in ("=y", "0", "yes"))
    tdm.of_well_known(raw, URL)


def test_deep_documents_are_unknown_and_raise_nothing() -> None:
    deep = b"[" * 100_000
    found = tdm.of_well_known(deep, URL)
    assert found is not None
    assert found.answer is Answer.UNKNOWN
    nested = b"<a>" * 20_000 + b"</a>" * 20_000
    licence = b'<rsl><content url="/"><license>' + nested + b"</license></content></rsl>"
    assert set(answers(rsl.statements_of(licence, URL, "x")).values()) == {"unknown"}


CC = "https://creativecommons.org"
EVERY = {"search", "ai-input", "ai-train", "tdm", "archive"}


@pytest.mark.parametrize(
    "address, granted",
    [
        (f"{CC}/licenses/by/4.0/", EVERY),
        (f"{CC}/licenses/by-sa/3.0/de/deed.en", EVERY),
        (f"{CC}/licenses/by-nd/4.0/", EVERY - {"ai-train"}),
        (f"{CC}/licenses/by-nc/4.0/", set()),
        (f"{CC}/licenses/by-nc-nd/4.0/", set()),
        (f"{CC}/publicdomain/zero/1.0/", EVERY),
        (f"{CC}/publicdomain/mark/1.0/deed.de", EVERY),
        (f"{CC}/licenses/by/", set()),
        (f"{CC}/licenses/by/4.0/?x=https://evil.test", set()),
        ("https://evil.test/creativecommons.org/licenses/by/4.0/", set()),
        ("All rights reserved", set()),
    ],
)
def test_creative_commons_grants_what_it_says_and_refuses_nothing(
    address: str, granted: set[str]
) -> None:
    found = creative_commons.statements_of([address], "x")
    assert {one.use.value for one in found} == granted
    assert {one.answer for one in found} <= {Answer.YES}


@pytest.mark.parametrize(
    "head, headers",
    [
        (f"<link rel=license href='{CC}/licenses/by/4.0/'>", ()),
        (f"<p><a rel='nofollow license' href='{CC}/licenses/by/4.0/'>CC BY</a>", ()),
        (f"<meta name=dcterms.license content='{CC}/licenses/by/4.0/'>", ()),
        (
            f'<script type="application/ld+json">{{"@graph": [{{"license": {{"@id": "{CC}/licenses/by/4.0/"}}}}]}}</script>',
            (),
        ),
        ("", ((b"Link", f'<{CC}/licenses/by/4.0/>; rel="license"'.encode()),)),
    ],
)
def test_licence_marks_are_read_wherever_they_stand(
    head: str, headers: tuple[tuple[bytes, bytes], ...]
) -> None:
    reading = read_page(f"<!doctype html><title>T</title>{head}<p>text", URL)
    found = directives_of(headers, reading, "messor").statements
    assert answers(found) == dict.fromkeys(EVERY, "yes")
    # A refusal beside it counts.
    refused = directives_of((*headers, (b"TDM-Reservation", b"1")), reading, "messor").statements
    assert decide(refused, Use.TDM).answer is Answer.NO


def test_a_mark_inside_of_the_text_is_no_mark() -> None:
    said = f"<p>See <a href='{CC}/licenses/by/4.0/'>this licence</a> and {CC}/licenses/by/4.0/"
    reading = read_page(f"<!doctype html><title>T</title>{said}", URL)
    assert directives_of((), reading, "messor").statements == []
