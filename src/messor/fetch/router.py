"""The router: which provider is tried next when a response is not good enough.

HTTP first, then a browser, Crawl4AI, Firecrawl, as far as configured. A page that is a shell, too
small or nearly all markup goes to the next at once. A refusal is friction first: only domains whose
terms say `failover` are tried with another provider. Where a pause comes first, the task remembers
the provider and starts there.
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
        self.paid = [provider.name for provider in others if provider.paid]
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
        is_proved: bool = False,
    ) -> ProviderChoice:
        """The provider to try after this response, if any.

        No provider is paid for a page that is proved unchanged: by the same shell, or by its
        sitemap.
        """
        if not self._others or not _may_leave_http(policy):
            return NOBODY
        thin = "text_ratio" in verdict.gates and text_length < LITTLE_TEXT
        if not (thin or same_shell or self._is_worth_another(policy, fetched, verdict)):
            return NOBODY
        resting: list[Fetched] = []
        for provider in self._after(fetched.provider):
            if provider.paid and (same_shell or is_proved):
                continue
            if provider.available:
                return ProviderChoice(provider, resting)
            if (sentence := provider.resting) is not None:
                resting.append(passed_over(provider, sentence))
        return ProviderChoice(None, resting)

    def resumed(self, policy: Policy, name: str, *, refused: bool) -> Provider | None:
        """The provider to start with after a pause; None if that is HTTP again.

        The terms may have changed during the pause, and a paused provider gives way to the next.
        """
        if not _may_leave_http(policy) or (refused and policy.on_block != "failover"):
            return None
        names = [provider.name for provider in self._others]
        later = self._others[names.index(name) :] if name in names else []
        return next((provider for provider in later if provider.available), None)

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


def _may_leave_http(policy: Policy) -> bool:
    """Services use routes of their own, which a domain's terms may exclude."""
    return policy.render != "never" and policy.proxies == "none"
