"""The router: which provider is tried next when a response is not good enough.

HTTP first, then a browser, Crawl4AI, Firecrawl, as far as configured. A page that is a shell, too
small or nearly all markup goes to the next at once. A refusal is friction first: only domains whose
terms say `failover` are tried with another provider.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from messor.core import clock
from messor.fetch.gates import GateVerdict
from messor.fetch.outcome import Fetched, Outcome, failed
from messor.fetch.provider import PROVIDER_FAULT, Provider
from messor.politeness.lanes import Policy

# Gates that another provider may well pass, and that are not a refusal. Nearly half of the web's
# pages have less text than a twentieth of their markup and are sound all the same, so the ratio
# counts only where there is little text at all.
WORTH_ANOTHER = frozenset({"size", "spa_shell", "empty"})
LITTLE_TEXT = 2_000


class ProviderChoice(NamedTuple):
    """The next provider, and those skipped before it because they are paused."""

    provider: Provider | None
    passed_over: Sequence[Fetched] = ()


NOBODY = ProviderChoice(None)


def passed_over(provider: Provider, sentence: str) -> Fetched:
    """A skipped attempt: it appears in the log, and the page is not judged by it."""
    return Fetched(
        failed(PROVIDER_FAULT, sentence),
        provider=provider.name,
        began_at=clock.now(),
    )


class Router:
    """Chooses among the configured providers besides HTTP, in order."""

    def __init__(
        self, others: Sequence[Provider], on_close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._others = list(others)
        self._on_close = on_close

    async def close(self) -> None:
        for provider in self._others:
            await provider.close()
        if self._on_close is not None:
            await self._on_close()

    def after(
        self,
        policy: Policy,
        fetched: Fetched,
        verdict: GateVerdict,
        *,
        text_length: int = 0,
        same_shell: bool = False,
    ) -> ProviderChoice:
        """The provider to try after this response, if any."""
        if policy.render == "never" or policy.proxies != "none" or not self._others:
            return NOBODY  # services use routes of their own, which a domain's terms may exclude
        thin = "text_ratio" in verdict.gates and text_length < LITTLE_TEXT
        if not (thin or same_shell or self._is_worth_another(policy, fetched, verdict)):
            return NOBODY
        resting: list[Fetched] = []
        for provider in self._after(fetched.provider):
            # For paid providers identical bytes prove a page unchanged.
            if same_shell and provider.paid:
                continue
            if provider.available:
                return ProviderChoice(provider, resting)
            if (sentence := provider.resting) is not None:
                resting.append(passed_over(provider, sentence))
        return ProviderChoice(None, resting)

    def _after(self, name: str) -> list[Provider]:
        names = [provider.name for provider in self._others]
        return self._others[names.index(name) + 1 :] if name in names else self._others

    @staticmethod
    def _is_worth_another(policy: Policy, fetched: Fetched, verdict: GateVerdict) -> bool:
        if fetched.error_type == PROVIDER_FAULT:
            return True
        if fetched.outcome is Outcome.BLOCKED:
            return policy.on_block == "failover"
        return not WORTH_ANOTHER.isdisjoint(verdict.gates)
