"""The audit of records: clean over a real shop, and every check breaks when what it asks for does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest

from messor.ops.record_checks import CHECKS
from tests.cli.conftest import Messor
from tests.parsers.test_page_reading import PRODUCT

# What is done to the stored rows, and the check that has to notice.
HARM = {
    "UPDATE messor.records SET page_id = page_id + 1000 WHERE kind = 'product'": "RECORDS_001",
    "UPDATE messor.records SET snapshot_id = 1000000 WHERE kind = 'product'": "RECORDS_001",
    "UPDATE messor.records SET removed_at = now() WHERE kind = 'product'": "RECORDS_001",
    "UPDATE messor.records SET fields = fields - 'price' WHERE kind = 'product'": "RECORDS_002",
    "DELETE FROM messor.products": "RECORDS_003",
    "UPDATE messor.products SET state = 'removed'": "RECORDS_003",
    "UPDATE messor.products SET url_hash = '\\x00'": "RECORDS_003",
    "UPDATE messor.products SET price = price + 1": "RECORDS_004",
    "UPDATE messor.products SET currency = 'euro'": "RECORDS_004",
    "DELETE FROM messor.product_prices": "RECORDS_004",
    "UPDATE messor.records SET data = jsonb_set(data, '{price}', '12') WHERE kind = 'product'": (
        "RECORDS_005"
    ),
    "UPDATE messor.records SET fields = jsonb_set(fields, '{sku,evidence,quote}', '\"nowhere\"')"
    " WHERE kind = 'product'": "RECORDS_005",
}


@pytest.fixture
def shop(messor: Messor, tmp_path: Path) -> Messor:
    """A shop of one page, extracted."""
    file = tmp_path / "kettle.html"
    file.write_text(PRODUCT)
    url = "https://shop.example/kettle"
    assert messor("import", str(file), "--url", url, "--approve").code == 0
    assert messor("extract", "--once", "--processes", "1").code == 0
    return messor


async def _run(dsn: str, sql: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


def test_nothing_to_judge(messor: Messor) -> None:
    said = messor("audit", "records")
    assert said.code == 0, said.err
    assert "There are no records to check yet." in said.out


@pytest.mark.wide
def test_a_sound_shop_and_each_harm_done_to_it(shop: Messor, dsn: str, tmp_path: Path) -> None:
    said = shop("audit", "records", "--json")
    assert said.code == 0, said.err
    assert said.json["clean"] is True
    assert said.json["records"] > 1
    states = {check["id"]: check["state"] for check in said.json["checks"]}
    assert states == dict.fromkeys((check.id for check in CHECKS), "pass")
    assert "records are complete" in shop("audit", "records").out
    for harm, check in HARM.items():
        asyncio.run(_run(dsn, "CREATE TABLE messor.kept AS TABLE messor.records"))
        asyncio.run(_run(dsn, "CREATE TABLE messor.kept_products AS TABLE messor.products"))
        asyncio.run(_run(dsn, "CREATE TABLE messor.kept_prices AS TABLE messor.product_prices"))
        asyncio.run(_run(dsn, harm))
        said = shop("audit", "records", "--json")
        assert said.code == 8, harm
        broken = [each["id"] for each in said.json["checks"] if each["state"] == "fail"]
        assert check in broken, harm
        assert all(each["examples"] for each in said.json["checks"] if each["broken"])
        for table, kept in (
            ("records", "kept"),
            ("products", "kept_products"),
            ("product_prices", "kept_prices"),
        ):
            asyncio.run(
                _run(
                    dsn,
                    f"DELETE FROM messor.{table};"
                    f"INSERT INTO messor.{table} OVERRIDING SYSTEM VALUE TABLE messor.{kept};"
                    f"DROP TABLE messor.{kept}",
                )
            )
    assert shop("audit", "records", "--json").json["clean"] is True
    segments = list((tmp_path / "data" / "archive").rglob("*.warc.gz"))
    for segment in segments:
        segment.unlink()
    said = shop("audit", "records")
    assert said.code == 8
    assert "RECORDS_005" in said.err
