"""Records on the command line: extracted, looked at, read anew, and read by other versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.candidates import pack_candidates
from tests.cli.conftest import Messor, Said, run_process
from tests.parsers.test_page_reading import PRODUCT

URL = "https://shop.example/kettle"


@pytest.fixture
def shop(messor: Messor, tmp_path: Path) -> Messor:
    """A shop of one page, imported."""
    bring(messor, tmp_path, PRODUCT)
    return messor


def bring(messor: Messor, folder: Path, html: str) -> None:
    file = folder / "kettle.html"
    file.write_text(html)
    assert messor("import", str(file), "--url", URL, "--approve").code == 0


def test_products_and_records_are_listed_and_shown(shop: Messor, tmp_path: Path) -> None:
    said = shop("extract", "--once", "--processes", "1", "--json")
    assert said.code == 0, said.err
    assert (said.json["pages"], said.json["set_aside"]) == (1, 0)
    (product,) = shop("products", "list", "--domain", "shop.example", "--json").json
    assert (product["price"], product["currency"], product["sku"]) == (19.9, "EUR", "K-1")
    assert "19.9" in shop("products", "list", "--q", "KETTLE").out
    assert "19.9" in shop("products", "list", "--max-price", "20", "--sort", "price").out
    assert "No matching products" in shop("products", "list", "--min-price", "20").err
    assert "No matching products" in shop("products", "list", "--q", "teapot").err
    bring(shop, tmp_path, PRODUCT.replace("19.90", "15.00"))
    assert shop("extract", "--processes", "1").code == 0
    shown = shop("products", "show", str(product["id"]), "--json").json
    assert [line["price"] for line in shown["prices"]] == [19.9, 15.0]
    assert "price: 15" in shop("products", "show", str(product["id"])).out
    prices = shop("products", "prices", str(product["id"]), "--json").json
    assert [line["price"] for line in prices] == [15.0, 19.9]
    (record,) = shop("records", "list", "--kind", "product", "--json").json
    shown = shop("records", "show", str(record["id"]), "--json").json
    assert shown["fields"]["price"]["value"] == 15.0
    assert "15.00" in shown["fields"]["price"]["evidence"]["quote"]
    assert [line["field"] for line in shown["history"]] == [None, "price"]
    assert "json_ld" in shop("records", "show", str(record["id"])).out
    changes = shop("records", "changes", str(record["id"]), "--json").json
    assert [line["field"] for line in changes] == ["price", None]
    assert "contact" in shop("records", "list").out
    health = shop("parsers", "health", "--json").json
    assert {(each["kind"], each["alarming"]) for each in health} >= {("product", False)}
    assert "0.95        ok" in shop("parsers", "health").out


def test_what_is_not_there_is_said_in_a_sentence(messor: Messor) -> None:
    assert messor("records", "show", "99").code == 4
    assert messor("products", "show", "99").code == 4
    assert "No matching" in messor("records", "list", "--domain", "nobody.example").err
    assert messor("records", "list", "--domain", "nobody").code == 2
    assert messor("products", "list", "--min-price", "9", "--max-price", "1").code == 2
    assert messor("replay", "--since", "yesterday").code == 2
    assert messor("replay", "--parser", "nothing").code == 2
    assert messor("parsers", "unpin", "products").code == 4
    assert messor("parsers", "pin", "products=77").code == 2
    assert messor("parsers", "pin", "products").code == 2


def test_a_replay_reads_the_archive_and_marks_no_change_of_the_web(shop: Messor) -> None:
    shop("extract", "--processes", "1")
    before = shop("products", "list", "--json").json
    said = shop("replay", "--domain", "shop.example", "--processes", "1", "--json")
    assert said.code == 0, said.err
    assert (said.json["pages"], said.json["changed"], said.json["new"]) == (1, 0, 0)
    assert shop("products", "list", "--json").json == before
    assert shop("replay", "--resume", "--processes", "1", "--json").json["pages"] == 0
    compared = shop("replay", "--dry-run", "--processes", "1", "--json").json
    assert (compared["pages"], compared["lost"], compared["gained"]) == (1, 0, 0)
    assert compared["fields"]["product.price"]["agreement"] == 1.0
    events = [json.loads(line)["type"] for line in shop("events", "--json").out.splitlines()]
    assert "product.price_changed" not in events


def test_what_a_replay_would_change_is_told_in_words(shop: Messor) -> None:
    shop("extract", "--processes", "1")
    said = shop("replay", "--dry-run", "--processes", "1")
    assert "1 pages compared." in said.err
    assert "All fields match the stored values." in said.err
    assert said.out == ""


@pytest.mark.parametrize("more", [["--domain", "shop.example"], ["--parser", "products"],
                                  ["--since", "2026-05-01"], ["--dry-run"]])  # fmt: skip
def test_what_is_resumed_cannot_be_chosen_anew(more: list[str], messor: Messor) -> None:
    said = messor("replay", "--resume", *more)
    assert said.code == 2
    assert "--resume cannot be combined with filters" in said.err


def test_a_replay_in_a_process_of_its_own(shop: Messor, dsn: str, tmp_path: Path) -> None:
    shop("extract", "--processes", "1")
    env = {"MESSOR_DATABASE_URL": dsn, "MESSOR_DATA_DIR": str(tmp_path / "data")}
    said = run_process("replay", "--processes", "1", "--json", folder=tmp_path, **env)
    assert said.code == 0, said.err
    assert said.json["pages"] == 1


def test_parsers_are_listed_and_begun(shop: Messor, tmp_path: Path) -> None:
    names = [row["parser"] for row in shop("parsers", "list", "--json").json]
    assert names == ["amazon", "products", "generic"]
    said = shop("parsers", "new", "shop.example", "--folder", str(tmp_path / "mine"))
    assert said.code == 0, said.err
    assert (tmp_path / "mine" / "tests" / "page.html").read_text() == PRODUCT
    assert shop("parsers", "new", "shop.example", "--folder", str(tmp_path / "mine")).code == 2
    assert shop("parsers", "new", "nobody.example").code == 4
    assert "pip install -e" in said.err
    other = shop("parsers", "new", "shop.example", "--snapshot", "99", "--folder", "other")
    assert (other.code, "Snapshot 99 is not the current snapshot" in other.err) == (4, True)
    assert shop("parsers", "new", "shop.example", "--snapshot", f"{10**20}").code == 2


def test_a_candidate_is_compared_promoted_and_rolled_back(shop: Messor, tmp_path: Path) -> None:
    shop("extract", "--processes", "1")
    path = pack_candidates(tmp_path / "packages")

    def messor(*args: str) -> Said:
        return run_process(*args, folder=tmp_path, PYTHONPATH=path)

    said = messor("parsers", "compare", "forgetful=1rc1", "--processes", "1", "--json")
    assert said.code == 0, said.err
    trial = said.json["id"]
    assert (said.json["report"]["pages"], said.json["most"]) == (1, None)
    said = messor("parsers", "promote", trial, "--reason", "better")
    assert said.code == 0, said.err
    assert messor("parsers", "promote", trial).code == 5
    (pin,) = shop("parsers", "pins", "--json").json
    assert (pin["parser"], pin["version"], pin["domain"]) == ("forgetful", "1rc1", None)
    rows = messor("parsers", "list", "--json").json
    reads = {row["version"]: row["reads"] for row in rows if row["parser"] == "forgetful"}
    assert reads == {"1rc1": "yes", "2rc1": "candidate", "3rc1": "candidate"}
    assert shop("parsers", "roll-back", trial).code == 0
    assert shop("parsers", "pins", "--json").json == []
    assert shop("parsers", "trials", "--json").json[0]["state"] == "rolled_back"
    assert "forgetful" in shop("parsers", "trials").out


def test_what_compared_no_page_is_not_promoted(shop: Messor, tmp_path: Path) -> None:
    shop("extract", "--processes", "1")
    path = pack_candidates(tmp_path / "packages")
    said = run_process(
        "parsers", "compare", "forgetful=2rc1", "--json", folder=tmp_path, PYTHONPATH=path
    )
    assert said.json["report"]["failed"] == 1
    said = shop("parsers", "promote", said.json["id"])
    assert said.code == 5
    assert "has compared no page yet" in said.err


@pytest.mark.wide
def test_a_candidate_shadows_what_comes_in(shop: Messor, tmp_path: Path) -> None:
    path = pack_candidates(tmp_path / "packages")

    def messor(*args: str) -> Said:
        return run_process(*args, folder=tmp_path, PYTHONPATH=path)

    said = messor("parsers", "shadow", "forgetful=1rc1", "--domain", "www.shop.example")
    assert said.code == 0, said.err
    assert "0 of 1000" in said.out
    assert messor("parsers", "shadow", "forgetful=1rc1", "--domain", "shop.example").code == 5
    assert messor("parsers", "shadow", "forgetful=9").code == 2
    assert messor("parsers", "shadow", "forgetful=1rc1", "--domain", "nobody.example").code == 4
    assert messor("parsers", "shadow", "forgetful=1rc1", "--max-pages", "0").code == 2
    assert messor("extract", "--processes", "1").code == 0
    (trial,) = messor("parsers", "trials", "--json").json
    assert (trial["state"], trial["pages"], trial["most"]) == ("shadowing", 1, 1000)
    assert trial["report"]["fields"]["product.price"]["lost"] == 1
    assert "1 of 1000" in shop("parsers", "trials").out
    (product,) = shop("products", "list", "--json").json
    assert product["price"] == 19.9  # it changes nothing
    assert messor("parsers", "reject", trial["id"], "--reason", "It loses prices.").code == 0
    assert messor("parsers", "trials", "--json").json[0]["state"] == "rejected"


def test_nothing_is_compared_where_nothing_was_extracted(shop: Messor) -> None:
    said = shop("parsers", "compare", "products=1", "--processes", "1")
    assert said.code == 4
    assert "nothing to compare" in said.err
    assert shop("parsers", "trials", "--json").json == []
    assert shop("parsers", "compare", "products=1", "--max-pages", "0").code == 2


def test_a_comparison_tells_each_field_that_differs(shop: Messor, tmp_path: Path) -> None:
    """Not only where both state a value and disagree."""
    shop("extract", "--processes", "1")
    path = pack_candidates(tmp_path / "packages")
    told = run_process("parsers", "compare", "forgetful=1rc1", folder=tmp_path, PYTHONPATH=path)
    assert told.code == 0, told.err
    assert "forgetful=1rc1 found records on 1 of them." in told.err
    (line,) = [line for line in told.out.splitlines() if line.startswith("product.price ")]
    assert line.split() == ["product.price", "0", "0", "0", "1", "0", "0"]
    told = run_process("parsers", "compare", "forgetful=2rc1", folder=tmp_path, PYTHONPATH=path)
    assert "0 pages compared; forgetful=2rc1 found records on 0 of them and failed on 1" in told.err
