"""Sites that do not speak https: found out, harvested over http and told; never after a bad certificate."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from messor.politeness.robots import SCHEMES
from simweb import SimResponse
from tests.cli.conftest import Messor, without_extraction
from tests.little_web import LittleWeb, Room, page, robots
from tests.serving import Serving, execute, let_in

SHOP = "shop.test"
ROOMS = {
    "/": page("Shop", "/menu", f"https://{SHOP}/about"),
    "/menu": page("Menu"),
    "/about": page("About"),
}


@pytest.fixture
def messor(messor: Messor) -> Messor:
    return without_extraction(messor)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[LittleWeb]:
    with Serving(LittleWeb(tmp_path, {SHOP: ROOMS})) as web:
        yield web


@pytest.fixture
def closed() -> Iterator[int]:
    """A port that refuses connections."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def silent() -> Iterator[int]:
    """A port whose queue is full: connecting to it takes for ever."""
    with socket.socket() as listener, socket.socket() as one, socket.socket() as two:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for filler in (one, two):
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


@pytest.mark.parametrize("kind", ["closed", "silent", "http"])
def test_a_site_without_https_is_harvested_over_http(
    kind: str,
    messor: Messor,
    web: LittleWeb,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    port = web.server.port if kind == "http" else request.getfixturevalue(kind)
    let_in(web, monkeypatch, {f"{SHOP}:443": f"127.0.0.1:{port}"})
    said = messor("crawl", SHOP, "--json")
    assert said.code == 0, said.err
    assert said.json["outcomes"]["ok"] == 3
    assert "uses http: the https connection failed" in said.err
    assert {"/", "/menu", "/about"} <= set(web.paths(SHOP))
    why = messor("why", f"https://{SHOP}/", "--json").json
    assert why["verdict"] == "allowed"
    assert any("http is used" in fact["sentence"] for fact in why["facts"])
    assert "crawled over http" in messor("domains", "show", SHOP).out
    events = [json.loads(line) for line in messor("events", "--json").out.splitlines()]
    told = [event["data"]["host"] for event in events if event["type"] == "host.http_only"]
    assert told == [SHOP]


def test_the_second_crawl_and_the_written_scheme_work_too(
    messor: Messor, web: LittleWeb, closed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_in(web, monkeypatch, {f"{SHOP}:443": f"127.0.0.1:{closed}"})
    assert messor("crawl", SHOP).code == 0
    before = web.paths(SHOP).count("/")
    for name in (SHOP, f"http://{SHOP}/", f"https://{SHOP}/"):
        assert messor("crawl", name).code == 0
    assert web.paths(SHOP).count("/") == before + 3


def test_http_is_never_tried_after_a_bad_certificate(
    messor: Messor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Serving(LittleWeb(tmp_path, {SHOP: ROOMS}, tls=True)) as web:
        let_in(web, monkeypatch)
        monkeypatch.delenv("MESSOR_CA_FILE")
        said = messor("crawl", SHOP)
        assert said.code == 7
        assert "certificate is not valid" in said.err
        assert web.paths(SHOP, guesses=True) == []


@pytest.mark.parametrize("words", [("--depth", "0"), ("--mode", "user_assisted")])
def test_http_that_somebody_asks_for_is_fetched_after_a_bad_certificate(
    messor: Messor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str]
) -> None:
    """The certificate closes https alone: http has a robots.txt of its own, read at once."""
    secure, plain = tmp_path / "secure", tmp_path / "plain"
    secure.mkdir()
    plain.mkdir()
    with (
        Serving(LittleWeb(secure, {SHOP: ROOMS}, tls=True)) as web,
        Serving(LittleWeb(plain, {SHOP: ROOMS})) as other,
    ):
        let_in(web, monkeypatch, other.server.names())
        monkeypatch.delenv("MESSOR_CA_FILE")
        assert messor("crawl", SHOP).code == 7
        assert other.paths(SHOP) == []
        asked = ("--page", f"http://{SHOP}/menu") if "--mode" in words else ()
        said = messor("crawl", f"http://{SHOP}/menu", *words, *asked, "--json")
        assert said.code == 0, said.err
        assert other.paths(SHOP)[:2] == ["/robots.txt", "/menu"]
        assert web.paths(SHOP) == []


def test_a_host_that_once_spoke_https_never_falls_back(
    messor: Messor, dsn: str, tmp_path: Path, closed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Serving(LittleWeb(tmp_path, {SHOP: ROOMS}, tls=True)) as web:
        let_in(web, monkeypatch)
        assert messor("crawl", SHOP, "--depth", "0").code == 0
        seen = len(web.requests(SHOP))
        let_in(web, monkeypatch, {f"{SHOP}:443": f"127.0.0.1:{closed}"})
        execute(dsn, "UPDATE messor.crawl_tasks SET due_at = messor.clock()")  # robots.txt, too
        messor("crawl", SHOP, "--depth", "0")
        assert len(web.requests(SHOP)) == seen


def test_robots_of_http_say_nothing_about_https(
    messor: Messor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One host, both schemes, two robots.txt: each counts for its own (RFC 9309 2.3)."""
    links = [f"{scheme}://{SHOP}/{name}" for scheme in SCHEMES for name in ("menu", "about")]
    rooms: dict[str, Room] = {**ROOMS, "/": page("Shop", *links)}
    folders = [tmp_path / "secure", tmp_path / "plain"]
    for folder in folders:
        folder.mkdir()
    secure = {**rooms, "/robots.txt": robots("User-agent: *\nDisallow: /menu\n")}
    plain = {**rooms, "/robots.txt": robots("User-agent: *\nDisallow: /about\n")}
    with (
        Serving(LittleWeb(folders[0], {SHOP: secure}, tls=True)) as web,
        Serving(LittleWeb(folders[1], {SHOP: plain})) as other,
    ):
        let_in(web, monkeypatch, other.server.names())
        assert messor("crawl", SHOP).code == 0
        assert set(web.paths(SHOP)) == {"/robots.txt", "/", "/about"}
        assert set(other.paths(SHOP)) == {"/robots.txt", "/menu"}
        assert messor("why", f"http://{SHOP}/about", "--json").json["verdict"] == "denied"
        assert messor("why", f"https://{SHOP}/about", "--json").json["verdict"] == "allowed"


def test_a_sitemap_named_by_its_https_address_is_read_over_http(
    messor: Messor, tmp_path: Path, closed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = (
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<url><loc>https://{SHOP}/listed</loc></url></urlset>"
    )
    rooms: dict[str, Room] = {
        **ROOMS,
        "/robots.txt": robots(f"User-agent: *\nSitemap: https://{SHOP}/map.xml\n"),
        "/map.xml": SimResponse(200, (("Content-Type", "application/xml"),), listed.encode()),
        "/listed": page("Listed"),
    }
    with Serving(LittleWeb(tmp_path, {SHOP: rooms})) as web:
        let_in(web, monkeypatch, {f"{SHOP}:443": f"127.0.0.1:{closed}"})
        assert messor("crawl", SHOP).code == 0
        assert {"/map.xml", "/listed"} <= set(web.paths(SHOP))


def test_a_first_look_and_an_ingestion_go_over_http(
    messor: Messor, web: LittleWeb, closed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_in(web, monkeypatch, {f"{SHOP}:443": f"127.0.0.1:{closed}"})
    said = messor("crawl", SHOP, "--mode", "light", "--json")
    assert said.code == 0, said.err
    assert "/" in web.paths(SHOP)


@pytest.mark.parametrize("words", [(), ("--mode", "light")])
def test_a_site_that_answers_again_is_asked_at_once_when_somebody_asks_for_it(
    messor: Messor,
    web: LittleWeb,
    closed: int,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    nowhere = f"127.0.0.1:{closed}"
    let_in(web, monkeypatch, {f"{SHOP}:443": nowhere, f"{SHOP}:80": nowhere})
    assert messor("crawl", SHOP, *words).code == 7
    let_in(web, monkeypatch, {f"{SHOP}:443": nowhere})
    said = messor("crawl", SHOP, *words)
    assert said.code == 0, said.err
    assert "/" in web.paths(SHOP)


def test_where_neither_answers_both_are_named(
    messor: Messor, web: LittleWeb, closed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = f"127.0.0.1:{closed}"
    let_in(web, monkeypatch, {f"{SHOP}:443": nowhere, f"{SHOP}:80": nowhere})
    said = messor("crawl", SHOP)
    assert said.code == 7
    assert "https does not connect (the connection was refused)" in said.err
    assert "robots.txt gave no answer: the connection was refused" in said.err


def test_one_failed_connection_does_not_keep_an_https_site_unharvested(
    messor: Messor, dsn: str, tmp_path: Path, closed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its http sends everything on to https, which answers again at the second visit."""
    secure, plain = tmp_path / "secure", tmp_path / "plain"
    secure.mkdir()
    plain.mkdir()
    rooms = {
        path: SimResponse(301, (("Location", f"https://{SHOP}{path}"),), b"") for path in ROOMS
    }
    with (
        Serving(LittleWeb(secure, {SHOP: ROOMS}, tls=True)) as web,
        Serving(LittleWeb(plain, {SHOP: rooms})) as other,
    ):
        names = other.server.names()
        let_in(web, monkeypatch, {**names, f"{SHOP}:443": f"127.0.0.1:{closed}"})
        assert messor("crawl", SHOP).code == 7
        moved = SimResponse(301, (("Location", f"https://{SHOP}/robots.txt"),), b"")
        other.houses[SHOP].rooms["/robots.txt"] = moved
        let_in(web, monkeypatch, names)
        execute(dsn, "UPDATE messor.crawl_tasks SET due_at = due_at - interval '25 hours'")
        execute(dsn, "UPDATE messor.lanes SET due_at = messor.clock(), claim_at = messor.clock()")
        said = messor("crawl", SHOP)
        assert said.code == 0, said.err
        assert {"/", "/menu", "/about"} <= set(web.paths(SHOP))
