"""One command from a URL to records: extracted while it crawls, shown, written, explained."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from simweb.answers import SimResponse
from simweb.documents import HTML
from tests.cli.conftest import Messor
from tests.harvested import contact_html, product_html
from tests.little_web import LittleWeb, page
from tests.serving import Serving, let_in

SHOP = "shop.test"
HOME = f"http://{SHOP}/"


def html(text: str) -> SimResponse:
    return SimResponse(200, (("Content-Type", HTML),), text.encode())


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LittleWeb]:
    rooms = {
        "/": page("Home", "/kettle", "/pan", "/contact", "/private/", "/gone"),
        "/kettle": html(product_html()),
        "/pan": html(product_html("Iron pan", "19.00", sku="P-9")),
        "/contact": html(contact_html()),
        "/private/": page("Private"),
        "/robots.txt": SimResponse(200, (("Content-Type", "text/plain"),), b"User-agent: *\nDisallow: /private/\n"),
    }  # fmt: skip
    with Serving(LittleWeb(tmp_path, {SHOP: rooms})) as web:
        let_in(web, monkeypatch)
        yield web


def test_a_crawl_ends_with_records_refusals_and_what_to_do_next(
    messor: Messor, web: LittleWeb
) -> None:
    done = messor("crawl", HOME)
    assert done.code == 0, done.err
    assert "OUTCOME" in done.out
    assert "RECORDS" in done.out
    assert "Copper kettle, 49.90 EUR" in done.out
    assert f"{HOME}pan" in done.out
    assert done.out.index("product") < done.out.index("image")
    assert f"1 page denied by robots (disallow_rule:/private/), such as {HOME}private/" in done.err
    assert f"1 page not found, such as {HOME}gone" in done.err
    assert f"messor records list --domain {SHOP}" in done.err
    assert f"messor why {HOME}" in done.err
    # Nothing is left to extract.
    assert messor("extract", "--once", "--json").json["pages"] == 0


def test_records_are_written_to_a_file_by_its_suffix(
    messor: Messor, web: LittleWeb, tmp_path: Path
) -> None:
    file = tmp_path / "records.csv"
    done = messor("crawl", HOME, "-o", str(file), "--json")
    assert done.code == 0, done.err
    kinds = {one["kind"]: one["records"] for one in done.json["records"]}
    assert kinds["product"] == 2
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == done.json["exported"] == sum(kinds.values())
    assert {row["url"] for row in rows} >= {f"{HOME}kettle", f"{HOME}pan"}
    # Any other file gets what the command prints.
    text = tmp_path / "summary.txt"
    assert messor("crawl", HOME, "-o", str(text)).code == 0
    assert "OUTCOME" in text.read_text()


def test_extraction_can_be_left_for_later(messor: Messor, web: LittleWeb, tmp_path: Path) -> None:
    done = messor("crawl", HOME, "--no-extract", "--json")
    assert "records" not in done.json
    assert messor("records", "list", "--json").json == []
    assert messor("extract", "--once", "--json").json["pages"] == 4
    refused = messor("crawl", HOME, "--no-extract", "-o", str(tmp_path / "a.csv"))
    assert refused.code == 2
    assert "--no-extract" in refused.err
    refused = messor("crawl", HOME, "-o", str(tmp_path / "none" / "a.csv"))
    assert refused.code == 2
    assert "not a folder" in refused.err


@pytest.mark.parametrize(
    "given, words",
    [
        (("recrods", "list"), "There is no command 'recrods'. Did you mean records?"),
        (("frobnicate",), "There is no command 'frobnicate'."),
        (("localhost:8000",), "messor http://my-site.test/"),
        (("http://localhost:8000/",), '\'{"my-site.test:80": "127.0.0.1:8000"}\''),
        (("http://[::1]:8080/",), '\'{"my-site.test:80": "[::1]:8080"}\''),
    ],
)
def test_what_a_newcomer_mistypes_is_answered_with_what_to_type(
    messor: Messor, given: tuple[str, ...], words: str
) -> None:
    refused = messor(*given)
    assert refused.code == 2
    assert words in refused.err


def test_a_site_on_this_machine_is_crawled_by_the_name_that_the_message_gives(
    messor: Messor, web: LittleWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = web.settings().allowed_networks.names[f"{SHOP}:80"].rpartition(":")[2]
    told = messor(f"http://127.0.0.1:{port}/").err
    monkeypatch.setenv(
        "MESSOR_ALLOWED_NETWORKS__NAMES", f'{{"my-site.test:80": "127.0.0.1:{port}"}}'
    )
    assert f'"127.0.0.1:{port}"' in told
    assert messor("crawl", "http://my-site.test/", "--depth", "0", "--no-extract").code in (0, 7)
