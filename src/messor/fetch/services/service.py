"""The path shared by all services: check, breaker, budget, permit, contract, settlement.

Each service has its own contract for requests and responses; if there are two, the one that the
endpoint supports is detected once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from messor.core import clock
from messor.core.logs import room_logger
from messor.errors import LeaseLostError
from messor.fetch.outcome import Fetched, failed
from messor.fetch.provider import PROVIDER_FAULT
from messor.fetch.services import budget, health, holds
from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.breaker import FAULTS_IN_A_ROW, FIRST_WAIT, Breaker, BreakerPermit
from messor.fetch.services.endpoint import ServiceEndpoint
from messor.fetch.services.faults import ProviderFaultError
from messor.fetch.services.holds import HeldError
from messor.fetch.services.options import ServiceSettings
from messor.fetch.services.outcome import Brought
from messor.fetch.services.target import Check, refusal_of
from messor.politeness.pace import Permit
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse

logger = room_logger(__name__)

SPENT_SECONDS = 24 * 3600.0  # until a page is retried that a spent budget left unfetched


@dataclass(frozen=True, slots=True)
class Contract:
    """One request format of a service."""

    name: str
    path: str
    body: Callable[[str], dict[str, Any]]
    read: Callable[[ServiceResponse, str], Brought]
    foreign: frozenset[int]  # statuses of an endpoint that uses another format


class RemoteProvider:
    """A provider backed by an external service; each service names itself and its contracts."""

    name: str
    title: str
    paid: bool
    is_remote = True

    def __init__(
        self,
        settings: ServiceSettings,
        database: Database,
        check: Check,
        *,
        breaker: Breaker | None = None,
    ) -> None:
        self._settings = settings
        self._database = database
        self._check = check
        self.paid = self.paid or settings.cost > 0
        self.breaker = breaker or Breaker()
        self.endpoint = ServiceEndpoint(self.title, settings)
        wanted = settings.contract
        offered = {contract.name: contract for contract in self.contracts()}
        self._contracts = list(offered.values()) if wanted == "auto" else [offered[wanted]]

    def contracts(self) -> Sequence[Contract]:
        """The request formats, the one to try first at the front."""
        raise NotImplementedError

    @property
    def available(self) -> bool:
        """Whether the service can be used now."""
        return self.breaker.available

    @property
    def resting(self) -> str | None:
        return None if self.available else self._skip_reason

    @property
    def _skip_reason(self) -> str:
        return f"{self.title} was not used: {self.breaker.sentence}"

    async def close(self) -> None:
        await self.endpoint.close()

    async def fetch(self, href: str, permit: Permit) -> Fetched:
        """Have the service fetch one page; raises nothing but a lost lease."""
        started = clock.now()
        fetched = await refusal_of(self._check, href)
        if fetched is None:
            fetched = await self._fetch_unless_paused(href, permit)
        fetched.provider = self.name
        if fetched.error is not None:
            fetched.result = fetched.result.explained(self.endpoint.scrub(fetched.error))
        fetched.take_times(permit, started)
        return fetched

    async def _fetch_unless_paused(self, href: str, permit: Permit) -> Fetched:
        ticket = self.breaker.admit()
        if ticket is None:
            return _fault(self._skip_reason)
        try:
            return await self._within_budget(href, permit, ticket)
        finally:
            ticket.give_back()

    async def _within_budget(self, href: str, permit: Permit, ticket: BreakerPermit) -> Fetched:
        settings = self._settings
        try:
            month = await budget.reserve(
                self._database, self.name, settings.cost, settings.monthly_budget
            )
        except HeldError as held:  # another worker was told to wait
            self.breaker.hold(held.seconds, held.reason)
            return _fault(self._skip_reason)
        except (*LOST_CONNECTION, *TRY_AGAIN) as error:
            logger.warning("%s's budget cannot be read: %s", self.title, type(error).__name__)
            return _fault(f"{self.title} was not used: its budget cannot be read at present.")
        if month is None:
            return _fault(
                f"{self.title} was not used: its budget of {settings.monthly_budget} "
                "for this month is spent.",
                SPENT_SECONDS,
            )
        try:
            permit.use()
        except LeaseLostError:
            await self._settle(month, 0)
            raise
        return await self._fetch_paid(href, permit, ticket, month)

    async def _fetch_paid(
        self, href: str, permit: Permit, ticket: BreakerPermit, month: date
    ) -> Fetched:
        try:
            brought = await self._ask(href)
        except ProviderFaultError as fault:
            await self._learn(ticket, fault, href)
            brought = Brought(_fault(fault.sentence), credits=1 if fault.charged else 0)
        else:
            ticket.answered()
        finally:
            permit.finished()
        brought.fetched.cost = self._settings.cost * brought.credits
        await self._settle(month, brought.credits)
        return brought.fetched

    async def _learn(self, ticket: BreakerPermit, fault: ProviderFaultError, href: str) -> None:
        """Update breaker and hold after a fault."""
        sentence = self.endpoint.scrub(fault.sentence)
        if fault.of_the_page:
            ticket.answered()
        elif fault.doubtful:
            ticket.failed_at(_site_of(href), sentence)
            await self._check_health()
        elif fault.slow_down:
            ticket.failed(sentence, await self._hold(fault.hold, sentence))
        else:
            ticket.failed(sentence, fault.hold)

    async def _hold(self, seconds: float, sentence: str) -> float:
        """Make every worker wait; returns for how many seconds."""
        try:
            return await holds.hold(self._database, self.name, seconds, sentence)
        except (*LOST_CONNECTION, *TRY_AGAIN) as error:
            logger.warning("%s's hold was not shared: %s", self.title, type(error).__name__)
            return seconds or holds.FIRST_SECONDS

    async def _check_health(self) -> None:
        """After several failed pages in a row, possibly all of one site, check the service's
        health.
        """
        if self.breaker.page_faults % FAULTS_IN_A_ROW or not self.breaker.available:
            return
        at = self._settings
        trouble = await health.trouble_with(self.name, at.base_url, ca_file=at.ca_file)
        if trouble is not None:
            self.breaker.hold(FIRST_WAIT, f"{self.title} {trouble}")

    async def _ask(self, href: str) -> Brought:
        contract = self._contracts[0]
        answer = await self.endpoint.post(contract.path, contract.body(href))
        if answer.status in contract.foreign and len(self._contracts) > 1:
            other = self._contracts[1]
            second = await self.endpoint.post(other.path, other.body(href))
            if second.status not in other.foreign:
                contract, answer = other, second
                if second.status == 200:
                    self._contracts.reverse()
        return contract.read(answer, href)

    async def _settle(self, month: date, credits_used: int) -> None:
        """Adjust the reservation of one credit to what the service charged."""
        cost = self._settings.cost
        try:
            if credits_used == 0:
                await budget.refund(self._database, self.name, cost, month)
            elif credits_used > 1 and cost:
                extra = cost * (credits_used - 1)
                await budget.adjust(self._database, self.name, extra, month)
        except (*LOST_CONNECTION, *TRY_AGAIN) as error:
            # The reservation stands: better one page too few this month than one too many.
            logger.warning("%s's usage was not settled: %s", self.title, type(error).__name__)


def read_json(title: str, answer: ServiceResponse, kind: Any) -> Any:
    """Parse a successful response into a type; a fault when it violates the contract."""
    if not answer.is_json:
        raise ProviderFaultError(f"{title} returned something other than JSON.", charged=True)
    try:
        return answer.read(kind)
    except (ValueError, RecursionError) as error:
        raise ProviderFaultError(
            f"{title} returned JSON that does not match its API.", charged=True
        ) from error


def _fault(sentence: str, retry_after: float | None = None) -> Fetched:
    return Fetched(failed(PROVIDER_FAULT, sentence, retry_after))


def _site_of(href: str) -> str:
    """The site blamed for a failure: the registrable domain, as subdomains cost nothing."""
    url = parse(href)
    return (registrable_domain(url.host) or url.host) if url is not None else href


def credits_for(count: Any, most: int = 1000) -> int:
    """The credits a service reports; one when the report is not plausible."""
    is_count = isinstance(count, (int, float)) and not isinstance(count, bool)
    return int(Decimal(count).to_integral_value()) if is_count and 0 <= count <= most else 1
