"""Sentences that promise something: it happens, or they say what keeps it from happening."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from messor.console.labels import event_tone
from tests.cli.conftest import Messor, without_extraction
from tests.little_web import LittleWeb, page, robots
from tests.serving import Serving, execute, let_in

SHOP = "shop.test"
HOME = f"http://{SHOP}/"

AT_WORK = """
INSERT INTO messor.worker_leases (name, expires_at)
VALUES ('at-work', messor.clock() + interval '10 minutes')
"""
SILENCE = """
UPDATE messor.hosts SET cooldown_until = messor.clock() + interval '1 hour',
       cooldown_reason = 'answered 429'
"""


@pytest.fixture
def messor(messor: Messor) -> Messor:
    return without_extraction(messor)


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LittleWeb]:
    rooms = {"/": page("Home", "/1"), "/1": page("One", "/2"), "/2": page("Two", "/3")}
    with Serving(LittleWeb(tmp_path, {SHOP: {**rooms, "/3": page("Three")}})) as web:
        let_in(web, monkeypatch)
        yield web


def test_crawling_started_is_said_when_somebody_crawls(messor: Messor, dsn: str) -> None:
    for name in ("one.org", "two.org"):
        messor("domains", "submit", name)
    said = messor("domains", "approve", "one.org").err
    assert "Crawling started" not in said
    assert "No worker is running. Start one: messor up" in said
    execute(dsn, AT_WORK)
    assert "Crawling started." in messor("domains", "approve", "two.org").err


def test_a_url_is_said_to_be_crawled_now_when_it_is(messor: Messor, dsn: str) -> None:
    messor("domains", "submit", "one.org")
    messor("domains", "approve", "one.org")
    url = ("domains", "url", "http://one.org/menu")
    assert "No worker is running" in messor(*url).err
    execute(dsn, AT_WORK)
    assert "is crawled now" in messor(*url).err
    execute(dsn, SILENCE)
    said = messor(*url).err
    assert "is crawled now" not in said
    assert "one.org is paused until" in said
    assert "answered 429" in said


def test_a_page_beyond_the_depth_is_crawled_when_somebody_asks_for_it(
    messor: Messor, web: LittleWeb
) -> None:
    messor("crawl", HOME, "--depth", "3")
    messor("domains", "configure", SHOP, "--depth", "1")
    assert messor("domains", "url", f"{HOME}3", "--json").json["outcome"] == "crawling"
    before = web.paths(SHOP).count("/3")
    assert messor("crawl", HOME).code == 0
    assert web.paths(SHOP).count("/3") == before + 1


def test_a_line_of_a_batch_beyond_the_depth_is_fetched(
    messor: Messor, web: LittleWeb, tmp_path: Path
) -> None:
    messor("crawl", HOME, "--depth", "3")
    messor("domains", "configure", SHOP, "--depth", "1")
    before = web.paths(SHOP).count("/2")
    (tmp_path / "urls.csv").write_text(f"url\n{HOME}2\n", encoding="utf-8")
    assert messor("tasks", "submit", str(tmp_path / "urls.csv")).code == 0
    assert messor("crawl", HOME).code == 0
    assert web.paths(SHOP).count("/2") == before + 1


def test_a_submitter_without_an_address_is_told_by_a_webhook_or_by_nobody(messor: Messor) -> None:
    for name in ("one.org", "two.org"):
        messor("domains", "submit", name)
    reject = ("--reason", "a shop", "--notify")
    said = messor("domains", "reject", "one.org", *reject).err
    assert "Its submitter was not notified: nobody left an address." in said
    assert "No webhook receives the notice either." in said
    hook = ("webhooks", "add", "https://hooks.example.org/", "--type", "submitter.notice")
    assert messor(*hook).code == 0
    said = messor("domains", "reject", "two.org", *reject).err
    assert "The notice goes to 1 webhook, which has to deliver it." in said


def test_a_name_that_does_not_resolve_is_said_so(
    messor: Messor, web: LittleWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in ((), ("--mode", "light")):
        said = messor("crawl", "http://no-such-name.test/", *words)
        assert said.code == 7
        assert "not resolve" in said.err
        assert "keep" not in said.err


def test_a_name_that_does_not_resolve_is_said_so_whatever_the_scheme(
    messor: Messor, web: LittleWeb
) -> None:
    for url in ("no-such-name.test", "http://no-such-name.test/page"):
        said = messor("crawl", url)
        assert said.code == 7
        assert "the name no-such-name.test does not resolve" in said.err


def test_a_host_that_is_left_alone_is_said_to_be_when_a_crawl_comes_to_nothing(
    messor: Messor, web: LittleWeb, dsn: str
) -> None:
    messor("crawl", HOME, "--depth", "0")
    execute(dsn, SILENCE)
    execute(
        dsn,
        "UPDATE messor.lanes SET ready_at = messor.clock() + interval '1 hour', claim_at = NULL",
    )
    said = messor("crawl", f"{HOME}3", "--depth", "0")
    assert said.code == 7
    assert f"{SHOP} is paused until" in said.err
    assert "answered 429" in said.err


def test_a_page_that_is_not_there_is_said_so(messor: Messor, web: LittleWeb) -> None:
    said = messor("crawl", f"{HOME}nowhere", "--depth", "0")
    assert said.code == 7
    assert f"No page was fetched from {HOME}nowhere: it answered 404" in said.err


def test_pages_that_are_refused_are_not_called_fresh(
    messor: Messor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = {"/robots.txt": robots("User-agent: *\nDisallow: /1\n"), "/": page("Home", "/1", "/2")}
    with Serving(LittleWeb(tmp_path, {SHOP: {**rooms, "/2": page("Two")}})) as web:
        let_in(web, monkeypatch)
        messor("crawl", HOME)
        said = messor("crawl", HOME, "--json")
        assert said.json["fresh"] == 1
        assert said.json["outcomes"]["robots"] == 1
        for words in (("--refetch",), ("--refetch", "--depth", "1")):
            asked = len(web.requests(SHOP))
            said = messor("crawl", HOME, *words, "--json")
            assert said.json["outcomes"]["robots"] == 1
            assert (said.json["fetched"], said.json["fresh"]) == (2, 0)
            assert len(web.requests(SHOP)) == asked + 2
            assert "Fresh" not in said.err


def test_a_certificate_error_is_told_in_words(
    messor: Messor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Serving(LittleWeb(tmp_path, {SHOP: {"/": page("Home")}}, tls=True)) as web:
        let_in(web, monkeypatch)
        monkeypatch.delenv("MESSOR_CA_FILE")
        said = messor("crawl", f"https://{SHOP}/").err
    assert "its certificate is not valid" in said
    assert "ssl" not in said.lower().replace("messor", "")


def test_a_file_of_authorities_that_is_none_is_named(
    messor: Messor, web: LittleWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty.pem").write_text("no certificates\n", encoding="utf-8")
    for name, why in (
        ("none.pem", "cannot be read"),
        ("empty.pem", "contains no readable certificates"),
    ):
        monkeypatch.setenv("MESSOR_CA_FILE", str(tmp_path / name))
        said = messor("crawl", HOME)
        assert said.code == 2
        assert f"{tmp_path / name} {why}" in said.err
        assert "set MESSOR_CA_FILE to a file of certificates" in said.err


def test_numbers_that_no_id_has_are_refused(messor: Messor) -> None:
    for words in (("show", "9" * 20), ("list", "--after", "9" * 20)):
        said = messor("records", *words)
        assert said.code == 2
        assert "query argument" not in said.err


def test_a_database_that_does_not_answer_is_told_without_numbers(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESSOR_DATABASE_URL", "postgresql://x:y@127.0.0.1:1/x")
    monkeypatch.setattr(asyncio, "sleep", AsyncMock())
    said = messor("domains", "list")
    assert said.code == 6
    assert "PostgreSQL does not respond: " in said.err
    assert "Errno" not in said.err


def test_what_the_database_refuses_is_one_sentence(messor: Messor, dsn: str) -> None:
    messor("domains", "submit", "one.org")
    execute(dsn, "ALTER TABLE messor.domains RENAME COLUMN base_url TO lost")
    said = messor("domains", "list")
    assert said.code == 6
    assert said.err.startswith("messor: The database returned an error: ")
    assert "Traceback" not in said.err


def test_a_file_that_cannot_be_written_is_one_sentence(messor: Messor, tmp_path: Path) -> None:
    said = messor("domains", "list", "--json", "-o", str(tmp_path / "no" / "folder.json"))
    assert said.code == 2
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    "kind, data, tone",
    [
        ("ingestion.completed", {"outcome": "success"}, "green"),
        ("ingestion.completed", {"outcome": "partial"}, "yellow"),
        ("ingestion.completed", {"outcome": "error"}, "red"),
        ("ingestion.failed", {"outcome": "error"}, "red"),
        ("audit.completed", {"found": {}}, "green"),
        ("audit.completed", {"found": {"early": 3}}, "yellow"),
    ],
)
def test_what_failed_is_not_green(kind: str, data: dict[str, object], tone: str) -> None:
    assert event_tone(kind, data) == tone


@pytest.mark.parametrize(
    "name, value, named, why",
    [
        ("ALLOWED_NETWORKS", '{"names": {"a.test": "10.1.2.3"}}', "ALLOWED_NETWORKS__NAMES",
         "'a.test' leads to '10.1.2.3'; give an address and a port, as 10.1.2.3:8080"),
        ("ALLOWED_NETWORKS__ADDRESSES", '["10.0.0.300"]', "ALLOWED_NETWORKS__ADDRESSES",
         "'10.0.0.300' is no network; write it as 10.1.0.0/16"),
        ("ALLOWED_NETWORKS", '{"names": {"a.test": ["x"]}}', "ALLOWED_NETWORKS__NAMES",
         "Input should be a valid string"),
        ("SEARCH_ENGINES", '{"searxng": {"timeout": -1}}', "SEARCH_ENGINES__SEARXNG__TIMEOUT",
         "Input should be greater than 0"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named_as_it_is_set(
    messor: Messor, monkeypatch: pytest.MonkeyPatch, name: str, value: str, named: str, why: str
) -> None:
    monkeypatch.setenv(f"MESSOR_{name}", value)
    said = messor("status")
    assert (said.code, said.err) == (2, f"messor: setting MESSOR_{named} is invalid: {why}\n")
