from __future__ import annotations

import base64
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.web.robots import Robots
from messor.web.robots_rules import Rule, RuleSet, robots_path

SITE = "http://e.com"


def allowed(text: str, path: str, agent: str = "Messor") -> bool:
    return Robots.parse(text.encode()).check(agent, SITE + path).allowed


def readable(rule: Rule | None) -> str | None:
    return rule.readable() if rule else None


def test_a_decision_explains_itself() -> None:
    robots = Robots.parse(b"User-agent: *\nCrawl-delay: 2.5\nAllow: /\nDisallow: /private/\n")
    no = robots.check("AMI-Bot", f"{SITE}/private/x")
    assert (no.allowed, no.reason, no.matched_rule) == (
        False,
        "disallow_rule:/private/",
        "/private/",
    )
    assert (no.user_agent, no.crawl_delay) == ("AMI-Bot", 2.5)
    yes = robots.check("AMI-Bot", f"{SITE}/public")
    assert (yes.allowed, yes.reason) == (True, "allow_rule:/")
    assert Robots.parse(b"").check("x", SITE).reason == "no_group"
    assert Robots.parse(b"User-agent: *\nDisallow: /a").check("x", f"{SITE}/b").reason == "no_rule"


@pytest.mark.parametrize(
    "rules, path, expected",
    [
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("Disallow: /a/b\nAllow: /a/b", "/a/b", True),
        ("Disallow: /*.php$", "/x/y.php", False),
        ("Disallow: /*.php$", "/x/y.php?z", True),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /a*b*c", "/a-b-c", False),
        ("Disallow: /a*b*c", "/a-c-b", True),
        ("Disallow: /\nAllow: /$", "/", True),
        ("Disallow: /foo***\nAllow: /foobar", "/foobar", True),
        ("Disallow: /foo****\nAllow: /foobar", "/foobar", False),
        ("Disallow:", "/a", True),
        ("Disallow /a", "/a", False),
        ("Disalow: /a", "/a", False),
        ("Disallow: /ö", "/%c3%b6", False),
        ("Disallow: /a<b", "/a%3cb", False),
    ],
)
def test_rules(rules: str, path: str, expected: Any) -> None:
    assert allowed(f"User-agent: *\n{rules}\n", path) is expected


def test_groups_merge_and_the_own_group_replaces_the_general_one() -> None:
    text = "User-agent: Messor\nDisallow: /a\nUser-agent: *\nDisallow: /\nUser-agent: messor/2\nDisallow: /b\n"
    assert not allowed(text, "/a")
    assert not allowed(text, "/b")
    assert allowed(text, "/c")
    assert not allowed(text, "/c", agent="Other")


def test_crawl_delays() -> None:
    text = b"User-agent: a\nCrawl-delay: 5\nUser-agent: b\nCrawl-delay: .5\nUser-agent: *\nCrawl-delay: soon\n"
    robots = Robots.parse(text)
    assert robots.crawl_delay("a") == 5
    assert robots.crawl_delay("b") == 0.5
    assert robots.crawl_delay("c") is None
    for bad in (b"nan", b"inf", b"-1", b"1_0", b"1e9", b""):
        assert Robots.parse(b"User-agent: *\nCrawl-delay: " + bad).crawl_delay("c") is None


def test_sitemaps_marks_and_pages_in_disguise() -> None:
    robots = Robots.parse(b"\xef\xbb\xbfSitemap: http://e.com/s.xml\r\nSITE-MAP: /t.xml\n")
    assert robots.sitemaps == ["http://e.com/s.xml", "/t.xml"]
    page = Robots.parse(b"<!DOCTYPE html>\n<html><body>Not found\nDisallow: /\n</body></html>")
    assert page.is_html
    assert page.check("x", f"{SITE}/a").allowed
    wide = "\ufeffUser-agent: *\nDisallow: /".encode("utf-16-le")
    assert not Robots.parse(wide).check("x", f"{SITE}/a").allowed


def test_settled_answers() -> None:
    assert Robots.allow_all("missing").check("x", SITE).reason == "missing"
    assert not Robots.deny_all("unreachable").check("x", SITE).allowed


def test_only_the_first_500_kib_count() -> None:
    body = b"User-agent: *\n" + b"#" * 512_000 + b"\nDisallow: /\n"
    robots = Robots.parse(body)
    assert robots.truncated
    assert robots.check("x", f"{SITE}/a").allowed


def test_hostile_rules_are_decided_in_linear_time() -> None:
    bodies = [
        b"User-agent: *\nDisallow: /" + b"*a" * 500_000 + b"*b\n",
        b"User-agent: *\nDisallow: /*a*a*a*a*a*a*a*b\n",
        b"User-agent: *\nDisallow: /x\n" * 4_000_000,
    ]
    for body in bodies:
        robots = Robots.parse(body)
        robots.check("x", SITE)
        started = time.thread_time()
        robots.check("x", f"{SITE}/{'a' * 4_000}")
        assert time.thread_time() - started < 1


@given(st.binary(max_size=400), st.text(max_size=40), st.text(max_size=40))
def test_nothing_raises(body: bytes, agent: str, url: str) -> None:
    robots = Robots.parse(b"User-agent: *\nDisallow: /" + body)
    robots.check(agent, url)
    robots.crawl_delay(agent)


LINE = st.sampled_from(
    [
        "User-agent: *",
        "User-agent: foo",
        "Disallow: /a",
        "Allow: /a*b$",
        "Crawl-delay: 1",
        "Disallow: *",
        "",
    ]
)


@given(st.lists(LINE, max_size=12), st.text(alphabet="/ab*$", max_size=8))
def test_any_order_of_lines_decides(lines: list[str], path: str) -> None:
    Robots.parse("\n".join(lines).encode()).check("foo", f"{SITE}/{path}")


ALPHABET = "/ab*$%4fFA9é#?"


@given(
    st.lists(st.tuples(st.booleans(), st.text(alphabet=ALPHABET, max_size=6)), max_size=8),
    st.lists(st.text(alphabet=ALPHABET, max_size=8), min_size=1, max_size=8),
)
def test_urls_as_they_stand_decide_like_their_normalised_paths(
    patterns: list[tuple[bool, str]], paths: list[str]
) -> None:
    octets = [(allow, text.replace("#", "").encode().decode("latin-1")) for allow, text in patterns]
    rules = [Rule(allow, f"/{text}" if allow else text) for allow, text in octets if text]
    lines = [f"{'Allow' if rule.allow else 'Disallow'}: {rule.pattern}" for rule in rules]
    robots = Robots.parse("\n".join(["User-agent: *", *lines]).encode("latin-1"))
    asked = RuleSet(rules)
    robots.check("foo", f"{SITE}/")
    for path in paths:
        for url in (f"{SITE}/{path}", f"{SITE}{path}"):
            assert robots.check("foo", url).matched_rule == readable(asked.decide(robots_path(url)))


@pytest.mark.parametrize("pattern", ["*4", "/*4", "*A9", "/*F", "*4x", "$", "/*4$"])
@pytest.mark.parametrize("path", ["/", "", "/4", "/a4", "/A9", "/F", "/4x", "/x", "/%34"])
def test_patterns_of_hex_digits(pattern: str, path: str) -> None:
    robots = Robots.parse(f"User-agent: *\nDisallow: {pattern}".encode())
    rule = RuleSet([Rule(False, pattern)]).decide(robots_path(SITE + path))
    for _ in range(2):  # the first URL teaches the origin
        assert robots.check("foo", SITE + path).matched_rule == readable(rule)


@pytest.mark.parametrize("count", [1, 4, 5, 40])
def test_few_and_many_literals_with_the_same_beginning(count: int) -> None:
    lines = [f"Disallow: /shop/{n:02}/x\nAllow: /shop/{n:02}/x/open" for n in range(count)]
    robots = Robots.parse("\n".join(["User-agent: *", "Disallow: /shop/00", *lines]).encode())
    for n in range(count):
        for _ in range(2):  # the first URL teaches the origin
            assert robots.check("x", f"{SITE}/shop/{n:02}/x/o").matched_rule == f"/shop/{n:02}/x"
            assert robots.check("x", f"{SITE}/shop/{n:02}/x/open?").allowed
        assert robots.check("x", f"{SITE}/shop/{n:02}").matched_rule == (None if n else "/shop/00")
    assert robots.check("x", f"{SITE}/shop/").reason == "no_rule"
    assert robots.check("x", f"{SITE}/shop/99").reason == "no_rule"


def test_any_number_of_beginnings_and_origins() -> None:
    robots = Robots.parse(b"User-agent: *\nDisallow: /private\nAllow: /$\nDisallow: /*.zip$\n")
    for n in range(2_000):
        assert robots.check("x", f"{SITE}/{n}").reason == "no_rule"
        assert robots.check("x", f"{SITE}/{n:08}/").reason == "no_rule"
        assert not robots.check("x", f"{SITE}/{n:08}.zip").allowed
        assert not robots.check("x", f"http://{n}.e.com/private/{n}").allowed
    assert not robots.check("x", f"{SITE}/private/1").allowed
    assert robots.check("x", f"{SITE}/#private").matched_rule == "/$"
    assert robots.check("x", f"{SITE}/a#/b.zip").reason == "no_rule"


def test_the_memory_for_hostile_rules_is_bounded() -> None:
    wild = [f"Disallow: /*{'x' * 50}{n}" for n in range(1_000)]
    literal = [f"Disallow: /{n:05}" for n in range(3_000)]
    stems = [f"Disallow: /{n:05}*y" for n in range(1_000)]
    robots = Robots.parse("\n".join(["User-agent: *", *wild, *literal, *stems]).encode())
    tracemalloc.start()
    try:
        robots.check("x", SITE)
        for n in range(0, 3_000, 100):
            assert not robots.check("x", f"{SITE}/{n:05}/y").allowed
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_stored_decisions(corpus: Callable[[str], Any]) -> None:
    for row in corpus("robots_all.jsonl"):
        if row["tier"] != "contested":
            raw = row.get("robots_txt_b64")
            body = (
                base64.b64decode(raw) if raw else row["robots_txt"].encode("utf-8", "surrogatepass")
            )
            decision = Robots.parse(body).check(row["user_agent"], row["url"])
            assert decision.allowed == row["allowed"], row["id"]


def test_real_files_decide_as_the_reference_does(corpus: Callable[[str], Any]) -> None:
    data = corpus("robots_corpus_google_oracle.json.gz")
    robots = [Robots.parse(f["robots_txt"].encode("utf-8", "surrogatepass")) for f in data["files"]]
    right = sum(
        robots[i].check(agent, url).allowed == answer for i, agent, url, answer in data["cases"]
    )
    assert right / len(data["cases"]) >= 0.999
