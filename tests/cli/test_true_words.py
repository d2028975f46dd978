"""Sentences that promise something: it happens, or they say what keeps it from happening."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from messor.console.labels import event_tone
from tests.cli.conftest import Messor
from tests.little_web import LittleWeb, page
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
    assert "No worker is at work. Start one: messor up" in said
    execute(dsn, AT_WORK)
    assert "Crawling started." in messor("domains", "approve", "two.org").err


def test_a_url_is_said_to_be_crawled_now_when_it_is(messor: Messor, dsn: str) -> None:
    messor("domains", "submit", "one.org")
    messor("domains", "approve", "one.org")
    url = ("domains", "url", "http://one.org/menu")
    assert "No worker is at work" in messor(*url).err
    execute(dsn, AT_WORK)
    assert "is crawled now" in messor(*url).err
    execute(dsn, SILENCE)
    said = messor(*url).err
    assert "is crawled now" not in said
    assert "one.org is left alone until" in said
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


def test_a_submitter_is_told_by_a_webhook_or_by_nobody(messor: Messor) -> None:
    for name in ("one.org", "two.org"):
        messor("domains", "submit", name)
    reject = ("--reason", "a shop", "--notify")
    assert "Nobody has told its submitter" in messor("domains", "reject", "one.org", *reject).err
    hook = ("webhooks", "add", "https://hooks.example.org/", "--type", "submitter.notice")
    assert messor(*hook).code == 0
    assert "goes to 1 webhooks" in messor("domains", "reject", "two.org", *reject).err


def test_a_name_that_does_not_resolve_is_said_so(
    messor: Messor, web: LittleWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in ((), ("--mode", "light")):
        said = messor("crawl", "http://no-such-name.test/", *words)
        assert said.code == 7
        assert "not resolve" in said.err
        assert "keep" not in said.err


def test_a_certificate_error_is_told_in_words(
    messor: Messor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Serving(LittleWeb(tmp_path, {SHOP: {"/": page("Home")}}, tls=True)) as web:
        let_in(web, monkeypatch)
        monkeypatch.delenv("MESSOR_CA_FILE")
        said = messor("crawl", f"https://{SHOP}/").err
    assert "its certificate is not valid" in said
    assert "ssl" not in said.lower().replace("messor", "")


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
