"""What the operator says of search engines: which are used, in which order, at which price.

`MESSOR_SEARCH_ENGINES` is a table by engine; the order of its entries is the order of asking.
"""

from __future__ import annotations

from decimal import Decimal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from messor.errors import UsageError
from messor.fetch.services.options import ServiceSettings
from messor.scout.engines.engine import Engine
from messor.settings import Settings

MAX_ANSWER_BYTES = 8_000_000


class EngineOptions(BaseModel):
    """One engine; what is left out is the engine's usual."""

    model_config = ConfigDict(extra="forbid")

    url: str | None = None
    key: SecretStr | None = None
    cost: Decimal | None = Field(default=None, ge=0)  # of one search
    monthly_budget: Decimal | None = Field(default=None, ge=0)
    timeout: float = Field(default=30.0, gt=0, le=120)  # well within the hold on a search

    def settings_for(self, engine: type[Engine]) -> ServiceSettings:
        url = self.url or engine.default_url
        if url is None:
            raise UsageError(f"Say where {engine.title} is: search_engines.{engine.name}.url")
        if engine.needs_key and self.key is None:
            raise UsageError(f"{engine.title} needs a key: search_engines.{engine.name}.key")
        return ServiceSettings(
            url,
            self.key,
            cost=engine.list_price if self.cost is None else self.cost,
            monthly_budget=self.monthly_budget,
            timeout=self.timeout,
            grace=0,
            max_answer_bytes=MAX_ANSWER_BYTES,
        )


class ScoutSettings(Settings):
    """The settings, with those of the scout."""

    search_engines: dict[str, EngineOptions] = Field(
        default_factory=dict,
        description="Search engines by name, asked in this order: url, key, cost, monthly_budget",
    )
