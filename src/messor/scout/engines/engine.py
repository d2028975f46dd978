"""What all engines share.

One request, and telling a page from a refusal before anything is stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar

from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.faults import HOUR, ProviderFaultError, fault_of_status, said_by
from messor.fetch.services.options import ServiceSettings
from messor.scout.engines.endpoint import EngineEndpoint, EngineRequest
from messor.scout.engines.model import RawAnswer, SearchFaultError, SearchProfile, SerpPage

_QUOTA = re.compile(r"\b(quota|credits?|limit|plan|balance|billing)\b", re.IGNORECASE)
SLOW_DOWN = 60.0  # seconds, if an engine demands a pause without a duration


class Engine:
    """An engine over HTTP; each defines its name, its request and its response format."""

    name: ClassVar[str]
    title: ClassVar[str]
    default_url: ClassVar[str | None] = None  # None: always self-hosted
    needs_key: ClassVar[bool] = True
    list_price: ClassVar[Decimal] = Decimal(0)  # of one search, unless the operator sets another
    last_page: ClassVar[int] = 1
    longest_query: ClassVar[int] = 400

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self.endpoint = EngineEndpoint(self.title, settings)

    @property
    def cost(self) -> Decimal:
        return self._settings.cost

    async def close(self) -> None:
        await self.endpoint.close()

    async def search(self, query: str, profile: SearchProfile, page: int = 1) -> RawAnswer:
        """Request one result page; raises SearchFaultError if the engine returns none."""
        if not 1 <= page <= self.last_page:
            raise SearchFaultError(
                f"{self.title} has at most {self.last_page} pages; page {page} was requested."
            )
        if len(query) > self.longest_query:
            raise SearchFaultError(f"{self.title} accepts at most {self.longest_query} characters.")
        try:
            response = await self.endpoint.ask(self.call(query, profile, page))
        except ProviderFaultError as fault:  # another origin than the configured one
            raise SearchFaultError(fault.sentence) from fault
        except SearchFaultError as fault:
            raise self._scrubbed(fault) from fault
        raw = RawAnswer(self.name, response.status, response.headers, response.body)
        refused = self.refusal(response) or self._empty_handed(response, raw)
        if refused is not None:
            raise self._scrubbed(refused)
        return raw

    def call(self, query: str, profile: SearchProfile, page: int) -> EngineRequest:
        raise NotImplementedError

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        raise NotImplementedError

    def refusal(self, answer: ServiceResponse) -> SearchFaultError | None:
        """Why a response holds no page; None if it should. Refusals are not charged."""
        if answer.status == 200:
            return None
        fault = fault_of_status(self.title, answer)
        hold = fault.hold
        if answer.status == 429 or answer.status >= 500:
            hold = hold or SLOW_DOWN
        if answer.status == 403:
            hold = HOUR
        return SearchFaultError(fault.sentence, hold=hold, slow_down=fault.slow_down)

    def _empty_handed(self, answer: ServiceResponse, raw: RawAnswer) -> SearchFaultError | None:
        """A 200 without a page: an error in the body, or no engine responded.

        What was paid for is stored as it came and is a gap: a better parser may read it later. The
        rest is not a result: it must not pass for a page without results.
        """
        try:
            self.parse(raw)
        except SearchFaultError as fault:
            message = self.message_of(answer.value)
            if message and _QUOTA.search(message):
                return exhausted(self.title, message)
            if message:
                return SearchFaultError(f"{self.title} failed: {message}", hold=SLOW_DOWN)
            if fault.charged and self.cost > 0:
                return None
            return SearchFaultError(fault.sentence, hold=fault.hold or SLOW_DOWN)
        return None

    def probe(self) -> EngineRequest | None:
        """A free request that shows whether the key is valid.

        For most engines it lacks a query and is refused for that; None if there is no such request.
        """
        return None

    async def trouble(self) -> str | None:
        """Why the engine cannot be used as configured, in a sentence; None if it can."""
        probe = self.probe()
        if probe is None:
            return None
        try:
            response = await self.endpoint.ask(probe)
        except (ProviderFaultError, SearchFaultError) as fault:
            return self.endpoint.scrub(fault.sentence)
        refused = self.refusal(response)
        is_about_the_query = response.status in (400, 422) and (refused is None or not refused.hold)
        if refused is None or is_about_the_query:
            return None
        return self.endpoint.scrub(refused.sentence)

    async def doubt(self) -> str | None:
        """Why the engine returns no results although it can be used; None if it does, or unknown."""
        return None

    def message_of(self, value: Any) -> str:
        return said_by(value) if isinstance(value, Mapping) else ""

    def _scrubbed(self, fault: SearchFaultError) -> SearchFaultError:
        return SearchFaultError(
            self.endpoint.scrub(fault.sentence),
            hold=fault.hold,
            charged=fault.charged,
            slow_down=fault.slow_down,
        )

    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.endpoint.key}"}


def exhausted(title: str, message: str) -> SearchFaultError:
    """The plan's searches are used up: a retry soon is useless."""
    return SearchFaultError(
        f"{title} has no searches left: {message or 'it gives no details'}", hold=HOUR
    )
