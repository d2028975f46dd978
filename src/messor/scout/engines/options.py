"""The operator's settings of search engines, converted for a service.

`MESSOR_SEARCH_ENGINES` is a table by engine; the order of its entries is the order of use.
"""

from __future__ import annotations

from messor.errors import UsageError
from messor.fetch.services.options import ServiceSettings
from messor.scout.engines.engine import Engine
from messor.settings import EngineOptions

MAX_ANSWER_BYTES = 8_000_000


def settings_for(engine: type[Engine], given: EngineOptions) -> ServiceSettings:
    """How to call an engine; raises an error if a setting is missing."""
    url = given.url or engine.default_url
    if url is None:
        raise UsageError(f"Set the URL of {engine.title}: search_engines.{engine.name}.url")
    if engine.needs_key and given.key is None:
        raise UsageError(f"Set the key of {engine.title}: search_engines.{engine.name}.key")
    return ServiceSettings(
        url,
        given.key,
        cost=engine.list_price if given.cost is None else given.cost,
        monthly_budget=given.monthly_budget,
        timeout=given.timeout,
        grace=0,
        max_answer_bytes=MAX_ANSWER_BYTES,
    )
