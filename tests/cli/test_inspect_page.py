"""`messor inspect page`: all that is made of a page, whatever the page is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from messor.archive import hashes
from messor.web.html import read_page
from tests.parsers.test_page_reading import PRODUCT

URL = "https://shop.example/kettle"
AMAZON = "https://www.amazon.de/dp/B000000000"


def ask(*lines: dict[str, Any], words: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "messor", "inspect", "page", "--jsonl", *words],
        input="".join(json.dumps(line) + "\n" for line in lines).encode(),
        capture_output=True,
        check=True,
        timeout=300,
    )
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_saved_page_of_which_nothing_else_is_known_is_no_home_page(tmp_path: Path) -> None:
    saved = tmp_path / "saved.html"
    saved.write_text("<title>Tea</title><p>Loose leaf.</p>")
    done = subprocess.run(
        [sys.executable, "-m", "messor", "inspect", "page", saved],
        capture_output=True,
        check=True,
        timeout=300,
    )
    assert json.loads(done.stdout)["page_type"]["name"] == "other"


def test_a_product_page_with_all_that_is_made_of_it() -> None:
    (found,) = ask({"html": PRODUCT, "url": URL})
    product = found["records"][0]
    assert (product["kind"], product["parser"]) == ("product", "products")
    assert product["fields"]["price"]["value"] == 19.9
    assert product["fields"]["price"]["evidence"]["quote"] in PRODUCT
    assert 0 < product["fields"]["price"]["confidence"] <= 1
    assert product["fields"]["availability"]["value"] == "in_stock"
    assert found["page_type"]["name"] == "product"
    assert "product" in [flag["name"] for flag in found["flags"]]
    assert "boils water" in found["main_text"]
    assert "boils water" in found["markdown"]
    assert found["metadata"]["title"] == found["title"] == "Kettle"
    assert (found["rejected"], found["warnings"]) == ([], [])


def test_the_content_hash_is_the_one_the_path_keeps() -> None:
    (found,) = ask({"html": PRODUCT, "url": URL})
    reading = read_page(PRODUCT, URL)
    assert found["content_hash"] == hashes.content_hash(reading.markdown, None, PRODUCT).hex()


def test_generic_leaves_out_what_was_made_for_a_site() -> None:
    html = PRODUCT.replace("<h1>", "<h1 id=productTitle>")
    (own,), (generic,) = (
        ask({"html": html, "url": AMAZON}),
        ask({"html": html, "url": AMAZON}, words=("--generic",)),
    )
    assert own["records"][0]["parser"] == "amazon"
    assert generic["records"][0]["parser"] == "products"
    (asked,) = ask({"html": html, "url": AMAZON, "generic": True})
    assert asked["records"] == generic["records"]


def test_no_page_is_too_much() -> None:
    pages = ["<div>" * 100_000, "x" * 7_000_000, "", "\x00", "\ud800<p>\udfff", PRODUCT]
    *odd, last = ask(*({"html": html, "url": URL} for html in pages))
    assert all("error" not in found for found in [*odd, last])
    for found in odd[:2]:
        assert len(found["warnings"]) == 1
        assert (found["records"], found["main_text"]) == ([], "")
        assert len(found["content_hash"]) == 64
    assert last["records"][0]["kind"] == "product"


def test_an_answer_without_a_body_and_an_error_page() -> None:
    nothing, missing = ask(
        {"html": None, "url": URL, "status": 503}, {"html": PRODUCT, "url": URL, "status": 404}
    )
    assert nothing["page_type"]["name"] == missing["page_type"]["name"] == "error"
    assert nothing["records"] == missing["records"] == []


def test_a_page_that_is_not_read_is_not_said_to_be_empty() -> None:
    deep, blocked = ask(
        {"html": "<div>" * 2_000 + "Good bread", "url": URL},
        {"html": "<div>" * 2_000 + "Good bread", "url": URL, "status": 403},
    )
    assert deep["warnings"] == ["The page nests more than 480 elements."]
    assert not deep["blocked"]["is"]
    assert (deep["gates"], deep["signals"]) == ([], [])
    assert blocked["blocked"]["is"]
