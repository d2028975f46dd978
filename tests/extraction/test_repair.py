"""A shop is rebuilt: its products are lost, and where their values stand now is proposed."""

from __future__ import annotations

from pathlib import Path

from messor.extraction.repair import propose_repairs
from messor.registry import domains
from simweb.answers import SimResponse
from simweb.documents import HTML
from tests.extraction.test_extract import SHOP, opened_bench, product


def rebuilt(number: int) -> SimResponse:
    body = (
        f"<html><title>Our things</title><h1>Kettle {number}</h1><div class=cost>{number},50 €</div>"
        f"<p>{'Much was written about it in the journals of its time. ' * 60}</p></html>"
    )
    return SimResponse(200, (("Content-Type", HTML),), body.encode())


async def test_lost_values_are_found_again_and_nothing_changes(tmp_path: Path, dsn: str) -> None:
    rooms = {f"item{n}": product(f"{n}.50", name=f"Kettle {n}") for n in range(1, 6)}
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        await bench.extract()
        archive = bench.settings.data_dir / "archive"
        async with bench.opened() as database:
            domain = await domains.get(database, SHOP)
            assert await propose_repairs(database, archive, domain.id) == []
        for n in range(1, 6):
            bench.set(f"/item{n}", rebuilt(n))
        await bench.crawl()
        await bench.extract()
        before = await bench.rows("SELECT * FROM messor.records ORDER BY id")
        assert {row["state"] for row in before if row["kind"] == "product"} == {"removed"}
        async with bench.opened() as database:
            proposed = {
                one.field: one for one in await propose_repairs(database, archive, domain.id)
            }
        assert proposed["price"].selector == "div.cost"
        assert proposed["product_name"].selector == "h1"
        assert (proposed["price"].found, proposed["price"].pages) == (5, 5)
        assert await bench.rows("SELECT * FROM messor.records ORDER BY id") == before


async def test_a_field_that_went_while_its_product_stayed_is_found_again(
    tmp_path: Path, dsn: str
) -> None:
    rooms = {f"item{n}": product(f"{n}.50", name=f"Kettle {n}") for n in range(1, 6)}
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        await bench.extract()
        for n in range(1, 6):
            made = product("", name=f"Kettle {n}")
            hidden = f"<div hidden class=cost>{n},50 €</div></html>".encode()
            body = made.body.replace(b"</html>", hidden)
            bench.set(f"/item{n}", SimResponse(200, made.headers, body))
        await bench.crawl()
        await bench.extract()
        rows = await bench.rows("SELECT state, price FROM messor.products")
        assert {(row["state"], row["price"]) for row in rows} == {("current", None)}
        async with bench.opened() as database:
            domain = await domains.get(database, SHOP)
            archive = bench.settings.data_dir / "archive"
            proposed = await propose_repairs(database, archive, domain.id)
        assert [(one.field, one.selector) for one in proposed] == [("price", "div.cost")]
