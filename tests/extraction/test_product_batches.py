"""Products are written in batches: one statement for all pages of a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from messor.extraction.extract import BATCH
from messor.records import product_rows
from messor.records.product_rows import PriceChange, ProductSource
from tests.extraction.test_extract import opened_bench, product


async def test_products_of_many_pages_are_written_at_once(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    write = product_rows.write

    async def counted(connection: Any, products: Sequence[ProductSource]) -> list[PriceChange]:
        written.append(len(products))
        return await write(connection, products)

    monkeypatch.setattr(product_rows, "write", counted)
    rooms = {f"item{n}": product(f"{n}.50", name=f"Kettle {n}") for n in range(1, 9)}
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        await bench.extract()
        assert len(await bench.rows("SELECT * FROM messor.products")) == 8
    assert [count for count in written if count] == [8]
    assert 100 <= BATCH <= 500
