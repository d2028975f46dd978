"""What all engines share: asking once, and telling a page from a refusal before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar

from messor.fetch.services.answer import Answer
from messor.fetch.services.faults import HOUR, ProviderFaultError, fault_of_status, said_by
from messor.fetch.services.options import ServiceSettings
from messor.scout.engines.endpoint import Call, EngineEndpoint
from messor.scout.engines.model import RawAnswer, SearchFaultError, SearchProfile, SerpPage

SLOW_DOWN = 60.0  # seconds, where an engine asks for less haste and does not say how much


class Engine:
    """An engine over HTTP; each names itself, what it is asked and how its answer is read."""

    name: ClassVar[str]
    title: ClassVar[str]
    default_url: ClassVar[str | None] = None  # None: always an engine of one's own
    needs_key: ClassVar[bool] = True
    list_price: ClassVar[Decimal] = Decimal(0)  # of one search, unless the operator says otherwise
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
        """Ask for one result page; raises SearchFaultError when the engine gives none."""
        if not 1 <= page <= self.last_page:
            raise SearchFaultError(f"{self.title} has no page {page}: {self.last_page} at most.")
        if len(query) > self.longest_query:
            raise SearchFaultError(f"{self.title} takes {self.longest_query} characters at most.")
        try:
            answer = await self.endpoint.ask(self.call(query, profile, page))
        except ProviderFaultError as fault:  # another origin than the configured one
            raise SearchFaultError(fault.sentence) from fault
        except SearchFaultError as fault:
            raise self._scrubbed(fault) from fault
        refused = self.refusal(answer)
        if refused is not None:
            raise self._scrubbed(refused)
        return RawAnswer(self.name, answer.status, answer.headers, answer.body)

    def call(self, query: str, profile: SearchProfile, page: int) -> Call:
        raise NotImplementedError

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        raise NotImplementedError

    def refusal(self, answer: Answer) -> SearchFaultError | None:
        """Why an answer holds no page; None for one that should. Nothing refused is charged."""
        if answer.status == 200:
            return None
        fault = fault_of_status(self.title, answer)
        hold = fault.hold
        if answer.status == 429 or answer.status >= 500:
            hold = hold or SLOW_DOWN
        if answer.status == 403:
            hold = HOUR
        return SearchFaultError(fault.sentence, hold=hold)

    def said(self, value: Any) -> str:
        return said_by(value) if isinstance(value, Mapping) else ""

    def _scrubbed(self, fault: SearchFaultError) -> SearchFaultError:
        return SearchFaultError(
            self.endpoint.scrub(fault.sentence), hold=fault.hold, charged=fault.charged
        )

    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.endpoint.key}"}


def exhausted(title: str, said: str) -> SearchFaultError:
    """The plan's searches are used up: asking again soon is of no use."""
    return SearchFaultError(
        f"{title} has no searches left: {said or 'it does not say more'}", hold=HOUR
    )
