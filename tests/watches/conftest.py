"""Watches over a shop whose pages change, and what reaches their receivers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from messor.settings import Settings
from messor.store.database import Database
from messor.watches import watches
from messor.watches.evaluate import evaluate
from messor.watches.queries import Alert
from messor.watches.watches import NewWatch, Watch

ALERTS = """
SELECT id, watch_id, subject, page_id, record_id, message, url, details::text AS details, state, created_at,
       sent_at FROM messor.watch_alerts ORDER BY id
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        data_dir=tmp_path,
        contact="https://example.invalid/tests",
        public_url="https://messor.example",
    )


async def watch_for(
    database: Database, noun: str, condition: dict[str, Any], on: bool = True, **more: Any
) -> Watch:
    async with database.transaction() as connection:
        wanted = NewWatch(more.pop("name", "Test"), noun, condition, **more)  # type: ignore[arg-type]
        made, _ = await watches.add(connection, wanted, actor="ann")
        return await watches.switch(connection, made.id, on=True, actor="ann") if on else made


async def evaluate_all(database: Database) -> None:
    while await evaluate(database):
        pass


async def alerts(database: Database) -> Sequence[Alert]:
    return [Alert.of(row) for row in await database.fetch(ALERTS)]
