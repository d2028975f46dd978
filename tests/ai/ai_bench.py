"""What the tests of models share: a stand-in, a model that asks it, and pages to ask about."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import SecretStr

from messor.ai.extract import AiReader, AiReading
from messor.ai.ledger import Subject
from messor.ai.model import Model
from messor.ai.model_page import LocalModelPage
from messor.ai.options import ModelSettings
from messor.content.view import PageView
from messor.fetch.services.options import ServiceSettings
from messor.store.database import Database
from simweb.services.model import ModelStandIn

KEY = "sk-secret-of-the-test"
SUBJECT = Subject("spa.test", "job-1")
OFFERS = (
    "<h1>Spring offer: facial for &euro;49.90 until 30 June 2026</h1>"
    '<p>Free <b>first</b> consultation</p><p><a href="/book">Book now</a></p><p>Our team is kind.</p>'
)


def page(body: str = OFFERS, head: str = "") -> PageView:
    return PageView.of(
        f"<!DOCTYPE html>\r\n<html><head><title>Spa</title>{head}</head><body>{body}</body></html>",
        "https://spa.test/",
    )


@dataclass
class Bench:
    """A stand-in, the model that asks it, and the ledger's database."""

    standin: ModelStandIn
    model: Model
    reader: AiReader
    database: Database

    async def read(self, view: PageView | None = None, subject: Subject = SUBJECT) -> AiReading:
        return await self.reader.read(LocalModelPage(view or page()), subject)

    async def used(self) -> dict[str, tuple[int, int, Decimal]]:
        """Calls, tokens and cost by scope and key."""
        rows = await self.database.fetch("SELECT * FROM messor.ai_usage")
        return {
            f"{row['scope']}:{row['key']}".rstrip(":"): (row["calls"], row["tokens"], row["cost"])
            for row in rows
        }

    async def calls(self) -> list[Any]:
        return list(await self.database.fetch("SELECT * FROM messor.ai_calls ORDER BY id"))


def settings(base_url: str, *, timeout: float = 10.0, **values: Any) -> ModelSettings:
    service = ServiceSettings(
        f"{base_url}/v1", SecretStr(KEY), timeout=timeout, grace=0, max_answer_bytes=500_000
    )
    return ModelSettings(service, **{"model": "little", **values})


@asynccontextmanager
async def bench(
    database: Database, standin: ModelStandIn | None = None, **values: Any
) -> AsyncIterator[Bench]:
    async with standin or ModelStandIn(api_key=KEY) as serving:
        model = Model(settings(serving.base_url, **values), database)
        try:
            yield Bench(serving, model, AiReader(model), database)
        finally:
            await model.close()
