"""Corrections on the command line: in force at once, listed, withdrawn, refused with a reason."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Messor
from tests.harvested import product_html

URL = "https://shop.example/kettle"


def test_a_field_is_corrected_listed_and_withdrawn(messor: Messor, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(product_html())
    assert messor("import", str(page), "--url", URL, "--approve").code == 0
    assert messor("extract", "--once", "--processes", "1").code == 0
    (product,) = messor("products", "list", "--json").json
    record = str(product["record_id"])
    made = messor(
        "corrections", "add", record, "price", "47,50 €", "--reason", "tax", "--json"
    ).json
    assert (made["state"], made["value"], made["page_value"]) == ("in_force", 47.5, 49.9)
    (product,) = messor("products", "list", "--json").json
    assert float(product["price"]) == 47.5
    file = tmp_path / "products.csv"
    assert messor("export", "products", "-o", str(file)).code == 0
    assert ",47.5," in file.read_text()
    assert "in force" in messor("corrections", "add", record, "brand", "--none").err
    assert "Confirmed: sku" in messor("corrections", "add", record, "sku", "--confirm").err
    listed = messor("corrections", "list", "--state", "in_force", "--json").json
    assert [one["field"] for one in listed] == ["brand", "price"]
    done = messor("corrections", "withdraw", str(made["id"]))
    assert "price of record" in done.err
    assert "is 49.9 again" in done.err
    refused = messor("corrections", "add", record, "price", "abc")
    assert refused.code != 0
    assert "'abc' is not a valid price of a product" in refused.err
    assert messor("corrections", "add", record, "price").code == 2
    assert "No corrections match" in messor("corrections", "list", "--record-id", "999").err
