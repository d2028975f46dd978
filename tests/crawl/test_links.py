"""The link filter: which links it treats as known, and until when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from messor.crawl import links
from messor.crawl.links import LinkFilter
from messor.frontier.tasks import Task
from messor.web.html import PageReading, read_page
from messor.web.urls import Url, parse
from tests.crawl.conftest import HOST, Bench


class LinkFilterBench:
    """A link filter applied to pages of one host."""

    def __init__(self, bench: Bench, task: Task) -> None:
        self.bench = bench
        self.lane = bench.lane
        self.task = task
        self.link_filter = LinkFilter(bench.seen, 5, frozenset())

    def url(self, path: str = "/") -> Url:
        url = parse(f"http://{HOST}{path}")
        assert url is not None
        return url

    def read(self, html: str, path: str = "/") -> PageReading:
        url = self.url(path)
        known = self.link_filter.known_hrefs(url, self.lane, self.task)
        return read_page(html, url.href, known=known)

    def filter_links(self, html: str, path: str = "/") -> list[str]:
        found, _ = self.link_filter.filter_links(
            self.lane, self.task, self.url(path), self.read(html, path)
        )
        return [page.url for page in found]

    def refused(self, html: str) -> dict[str, int]:
        _, refused = self.link_filter.filter_links(
            self.lane, self.task, self.url(), self.read(html)
        )
        return {rule: count for (_, rule), count in refused.items()}

    def learn(self, *urls: str) -> None:
        for text in urls:
            url = parse(text)
            assert url is not None
            found, _ = self.link_filter.filter_links(
                self.lane, self.task, self.url(), read_page(f'<a href="{text}">', url.href)
            )
            self.bench.seen.learn(url.authority, {page.url_hash: page.depth for page in found})

    def visit_anew(self, *, version: int | None = None) -> None:
        """The lane as it is claimed the next time, perhaps under other terms."""
        terms = self.lane.policy
        if version is not None:
            terms = replace(terms, version=version)
        self.lane = replace(self.lane, token=self.lane.token + 1, policy=terms)


@pytest.fixture
async def link_filter(bench: Bench) -> LinkFilterBench:
    return LinkFilterBench(bench, await bench.task())


A = f"http://{HOST}/a"
B = f"http://{HOST}/b"
LINKS = '<a href="/a">one</a> <a href="/b">two</a>'


async def test_links_are_pages_until_their_commit(link_filter: LinkFilterBench) -> None:
    assert link_filter.filter_links(LINKS) == [A, B]
    assert link_filter.filter_links(LINKS, "/other") == [A, B], (
        "the page that led here first may be lost"
    )
    link_filter.learn(A)
    assert link_filter.filter_links(LINKS) == [B]
    link_filter.learn(B)
    assert link_filter.filter_links(LINKS) == []


async def test_what_a_page_mentions_keeps_its_order(link_filter: LinkFilterBench) -> None:
    link_filter.filter_links('<a href="/b">')
    assert link_filter.filter_links('<a href="/a"><a href="/b"><a href="/c">') == [
        A,
        B,
        f"http://{HOST}/c",
    ]


async def test_a_visit_makes_its_own_pages(link_filter: LinkFilterBench) -> None:
    url, reading = link_filter.url(), link_filter.read(LINKS)
    first, _ = link_filter.link_filter.filter_links(
        link_filter.lane, link_filter.task, url, reading
    )
    again, _ = link_filter.link_filter.filter_links(
        link_filter.lane, replace(link_filter.task, page_id=5), url, reading
    )
    assert [page.found_on for page in again] == [page.found_on for page in first]
    deeper, _ = link_filter.link_filter.filter_links(
        link_filter.lane, replace(link_filter.task, depth=1), url, reading
    )
    assert {page.depth for page in deeper} == {2}
    link_filter.visit_anew()
    later, _ = link_filter.link_filter.filter_links(
        link_filter.lane, replace(link_filter.task, page_id=5), url, reading
    )
    assert {page.found_on for page in later} == {5}


async def test_known_hrefs_are_passed_over(link_filter: LinkFilterBench) -> None:
    link_filter.learn(A)
    assert link_filter.filter_links(LINKS) == [B]
    assert link_filter.link_filter.known_hrefs(
        link_filter.url("/x"), link_filter.lane, link_filter.task
    ) == {"/a"}
    assert [link.href for link in link_filter.read(LINKS).links] == [B]


async def test_a_domain_under_new_terms_is_met_as_if_for_the_first_time(
    link_filter: LinkFilterBench,
) -> None:
    other = f"http://h2.example.test/{A[-1]}"
    link_filter.learn(A, B, other)
    page = f'{LINKS} <a href="{other}">'
    assert link_filter.filter_links(page) == []
    link_filter.visit_anew()
    assert link_filter.filter_links(page) == []
    link_filter.visit_anew(version=99)  # suspended, purged and approved again, say
    assert (
        link_filter.link_filter.known_hrefs(link_filter.url(), link_filter.lane, link_filter.task)
        == set()
    )
    assert link_filter.filter_links(page) == [A, B, other]


async def test_a_redirect_under_new_terms_leads_to_a_page(link_filter: LinkFilterBench) -> None:
    link_filter.learn(A)
    linked = replace(link_filter.task, depth=1)
    assert link_filter.link_filter.follow(link_filter.lane, linked, A).pages == []
    link_filter.visit_anew(version=99)
    (page,) = link_filter.link_filter.follow(link_filter.lane, linked, A).pages
    assert page.url == A


async def test_what_is_known_is_found_again_by_a_shorter_way_and_no_other(
    link_filter: LinkFilterBench,
) -> None:
    home = link_filter.task
    link_filter.task = replace(home, depth=2)
    link_filter.learn(A)
    assert link_filter.filter_links(LINKS) == [B]  # and remembers the href as written
    assert link_filter.read(LINKS).hrefs == ["/b"]
    link_filter.task = home
    assert link_filter.filter_links(LINKS) == [A, B]
    link_filter.learn(A)
    assert link_filter.filter_links(LINKS) == [B]
    (page,) = link_filter.link_filter.follow(link_filter.lane, home, A).pages
    assert (page.url, page.depth) == (A, 0)


async def test_spellings_are_not_learned_from_another_base(link_filter: LinkFilterBench) -> None:
    secure = f"https://{HOST}/a"
    link_filter.learn(secure)
    assert link_filter.filter_links(f'<base href="{secure}"><a href="/a">') == []
    assert link_filter.filter_links('<a href="/a">') == [A]


async def test_only_what_means_the_same_everywhere_is_remembered(
    link_filter: LinkFilterBench,
) -> None:
    link_filter.learn(f"http://{HOST}/x/a")
    link_filter.filter_links(
        f'<a href="a"> <a href="//{HOST}/x/a?"> <a href="/\\{HOST}/x/a">', "/x/"
    )
    assert (
        link_filter.link_filter.known_hrefs(link_filter.url(), link_filter.lane, link_filter.task)
        == set()
    )


async def test_a_refused_mention_stays_refused_when_the_page_is_made(
    link_filter: LinkFilterBench,
) -> None:
    assert link_filter.filter_links('<a href="/a">') == [A]
    assert link_filter.refused('<a href="/a" rel="nofollow">') == {"nofollow": 1}
    policy = replace(link_filter.lane.policy, directives="ignore")
    link_filter.lane = replace(link_filter.lane, policy=policy)
    assert link_filter.filter_links('<a href="/a" rel="nofollow">') == [A]


async def test_every_mention_of_a_refused_link_counts(link_filter: LinkFilterBench) -> None:
    page = '<a href="http://elsewhere.test/"> <a href="/calendar/0001/01"> <a href="/a">'
    for _ in range(3):
        assert link_filter.refused(page) == {"scope": 1, "trap": 1}


async def test_pages_of_sister_hosts_are_made_and_known_as_well(
    link_filter: LinkFilterBench,
) -> None:
    other = "http://h2.example.test/b"
    assert link_filter.filter_links(f'<a href="{other}">') == [other]
    assert link_filter.filter_links(f'<a href="{other}">') == [other]
    link_filter.learn(other)
    assert link_filter.filter_links(f'<a href="{other}">') == []


async def test_what_is_remembered_has_bounds(
    link_filter: LinkFilterBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "MADE_PAGES", 10)
    monkeypatch.setattr(links, "KNOWN_HREFS", 10)
    for number in range(50):
        page = f'<a href="/{number}a"> <a href="/{number}b">'
        assert len(link_filter.filter_links(page)) == 2
        link_filter.learn(f"http://{HOST}/{number}a")
        link_filter.filter_links(page)
        link_filter.visit_anew()
    made = sum(len(made.pages) for made in link_filter.link_filter._made.values())
    assert made + len(link_filter.link_filter._made) <= 12
    assert sum(len(hrefs.known) for hrefs in link_filter.link_filter._hrefs.values()) <= 10
