"""The link sieve: what it takes for known, and until when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from messor.crawl import links
from messor.crawl.links import LinkFilter
from messor.frontier.tasks import Task
from messor.web.html import PageReading, read_page
from messor.web.urls import Url, parse
from tests.crawl.conftest import HOST, Bench


class Sieve:
    """A sieve at work on pages of one host."""

    def __init__(self, bench: Bench, task: Task) -> None:
        self.bench = bench
        self.lane = bench.lane
        self.task = task
        self.sieve = LinkFilter(bench.seen, 5, frozenset())

    def url(self, path: str = "/") -> Url:
        url = parse(f"http://{HOST}{path}")
        assert url is not None
        return url

    def read(self, html: str, path: str = "/") -> PageReading:
        url = self.url(path)
        known = self.sieve.known_hrefs(url, self.lane)
        return read_page(html, url.href, known=known)

    def filter_links(self, html: str, path: str = "/") -> list[str]:
        found, _ = self.sieve.filter_links(
            self.lane, self.task, self.url(path), self.read(html, path)
        )
        return [page.url for page in found]

    def refused(self, html: str) -> dict[str, int]:
        _, refused = self.sieve.filter_links(self.lane, self.task, self.url(), self.read(html))
        return {rule: count for (_, rule), count in refused.items()}

    def learn(self, *urls: str) -> None:
        for text in urls:
            url = parse(text)
            assert url is not None
            found, _ = self.sieve.filter_links(
                self.lane, self.task, self.url(), read_page(f'<a href="{text}">', url.href)
            )
            self.bench.seen.learn(url.authority, [page.url_hash for page in found])

    def visit_anew(self, *, version: int | None = None) -> None:
        """The lane as it is claimed the next time, perhaps under other terms."""
        terms = self.lane.policy
        if version is not None:
            terms = replace(terms, version=version)
        self.lane = replace(self.lane, token=self.lane.token + 1, policy=terms)


@pytest.fixture
async def sieve(bench: Bench) -> Sieve:
    return Sieve(bench, await bench.task())


A = f"http://{HOST}/a"
B = f"http://{HOST}/b"
LINKS = '<a href="/a">one</a> <a href="/b">two</a>'


async def test_links_are_pages_until_their_commit(sieve: Sieve) -> None:
    assert sieve.filter_links(LINKS) == [A, B]
    assert sieve.filter_links(LINKS, "/other") == [A, B], "the page that led here first may be lost"
    sieve.learn(A)
    assert sieve.filter_links(LINKS) == [B]
    sieve.learn(B)
    assert sieve.filter_links(LINKS) == []


async def test_what_a_page_mentions_keeps_its_order(sieve: Sieve) -> None:
    sieve.filter_links('<a href="/b">')
    assert sieve.filter_links('<a href="/a"><a href="/b"><a href="/c">') == [
        A,
        B,
        f"http://{HOST}/c",
    ]


async def test_a_visit_makes_its_own_pages(sieve: Sieve) -> None:
    url, reading = sieve.url(), sieve.read(LINKS)
    first, _ = sieve.sieve.filter_links(sieve.lane, sieve.task, url, reading)
    again, _ = sieve.sieve.filter_links(sieve.lane, replace(sieve.task, page_id=5), url, reading)
    assert [page.found_on for page in again] == [page.found_on for page in first]
    deeper, _ = sieve.sieve.filter_links(sieve.lane, replace(sieve.task, depth=1), url, reading)
    assert {page.depth for page in deeper} == {2}
    sieve.visit_anew()
    later, _ = sieve.sieve.filter_links(sieve.lane, replace(sieve.task, page_id=5), url, reading)
    assert {page.found_on for page in later} == {5}


async def test_known_hrefs_are_passed_over(sieve: Sieve) -> None:
    sieve.learn(A)
    assert sieve.filter_links(LINKS) == [B]
    assert sieve.sieve.known_hrefs(sieve.url("/x"), sieve.lane) == {"/a"}
    assert [link.href for link in sieve.read(LINKS).links] == [B]


async def test_a_domain_under_new_terms_is_met_as_if_for_the_first_time(sieve: Sieve) -> None:
    other = f"http://h2.example.test/{A[-1]}"
    sieve.learn(A, B, other)
    page = f'{LINKS} <a href="{other}">'
    assert sieve.filter_links(page) == []
    sieve.visit_anew()
    assert sieve.filter_links(page) == []
    sieve.visit_anew(version=99)  # suspended, purged and approved again, say
    assert sieve.sieve.known_hrefs(sieve.url(), sieve.lane) == set()
    assert sieve.filter_links(page) == [A, B, other]


async def test_a_redirect_under_new_terms_leads_to_a_page(sieve: Sieve) -> None:
    sieve.learn(A)
    assert sieve.sieve.follow(sieve.lane, sieve.task, A) == ([], "")
    sieve.visit_anew(version=99)
    (page,), _ = sieve.sieve.follow(sieve.lane, sieve.task, A)
    assert page.url == A


async def test_spellings_are_not_learned_from_another_base(sieve: Sieve) -> None:
    secure = f"https://{HOST}/a"
    sieve.learn(secure)
    assert sieve.filter_links(f'<base href="{secure}"><a href="/a">') == []
    assert sieve.filter_links('<a href="/a">') == [A]


async def test_only_what_means_the_same_everywhere_is_remembered(sieve: Sieve) -> None:
    sieve.learn(f"http://{HOST}/x/a")
    sieve.filter_links(f'<a href="a"> <a href="//{HOST}/x/a?"> <a href="/\\{HOST}/x/a">', "/x/")
    assert sieve.sieve.known_hrefs(sieve.url(), sieve.lane) == set()


async def test_a_refused_mention_stays_refused_when_the_page_is_made(sieve: Sieve) -> None:
    assert sieve.filter_links('<a href="/a">') == [A]
    assert sieve.refused('<a href="/a" rel="nofollow">') == {"nofollow": 1}
    policy = replace(sieve.lane.policy, directives="ignore")
    sieve.lane = replace(sieve.lane, policy=policy)
    assert sieve.filter_links('<a href="/a" rel="nofollow">') == [A]


async def test_every_mention_of_a_refused_link_counts(sieve: Sieve) -> None:
    page = '<a href="http://elsewhere.test/"> <a href="/calendar/0001/01"> <a href="/a">'
    for _ in range(3):
        assert sieve.refused(page) == {"scope": 1, "trap": 1}


async def test_pages_of_sister_hosts_are_made_and_known_as_well(sieve: Sieve) -> None:
    other = "http://h2.example.test/b"
    assert sieve.filter_links(f'<a href="{other}">') == [other]
    assert sieve.filter_links(f'<a href="{other}">') == [other]
    sieve.learn(other)
    assert sieve.filter_links(f'<a href="{other}">') == []


async def test_what_is_remembered_has_bounds(sieve: Sieve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "MADE_PAGES", 10)
    monkeypatch.setattr(links, "KNOWN_HREFS", 10)
    for number in range(50):
        page = f'<a href="/{number}a"> <a href="/{number}b">'
        assert len(sieve.filter_links(page)) == 2
        sieve.learn(f"http://{HOST}/{number}a")
        sieve.filter_links(page)
        sieve.visit_anew()
    made = sum(len(made.pages) for made in sieve.sieve._made.values())
    assert made + len(sieve.sieve._made) <= 12
    assert sum(len(hrefs.known) for hrefs in sieve.sieve._hrefs.values()) <= 10
