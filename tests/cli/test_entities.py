"""Entities on the command line: brought up to date, listed, shown, decided about, refused with a reason."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Messor
from tests.harvested import product_html


def test_two_shops_one_product(messor: Messor, tmp_path: Path) -> None:
    for name, title in (("one", "Acme Kettle KX-200B red"), ("two", "Acme Kettle KX-200B")):
        page = tmp_path / f"{name}.html"
        page.write_text(product_html(title, sku=name))
        assert (
            messor("import", str(page), "--url", f"https://{name}.example/k", "--approve").code == 0
        )
    assert messor("extract", "--once", "--processes", "1").code == 0
    assert "entities update" in messor("entities", "list").err
    assert messor("entities", "update", "--json").json == {"records": 2}
    assert len(messor("entities", "list", "--kind", "product", "--json").json) == 2
    (asked,) = messor("entities", "proposals", "--json").json
    made = messor(
        "entities", "decide", str(asked["id"]), "same", "--reason", "seen it", "--json"
    ).json
    assert (made["domains"], made["bases"][0]["reason"]) == (2, "seen it")
    shown = messor("entities", "show", str(made["id"]))
    assert "two.example" in shown.out
    assert "seen it" in shown.err
    statement = next(one["id"] for one in made["members"] if one["domain"] == "two.example")
    apart = messor("entities", "split", str(made["id"]), str(statement), "--json").json
    assert apart["domains"] == 1
    assert messor("entities", "merge", str(made["id"]), str(apart["id"])).code == 0
    again = messor("entities", "merge", str(made["id"]), str(apart["id"]))
    assert again.code != 0
    assert "one entity already" in again.err
    assert "no entity 999" in messor("entities", "show", "999").err
