"""Rate limits: by member, and by network for anonymous requests."""

from __future__ import annotations

from datetime import timedelta

from messor.access.origin import Origin
from messor.access.principal import Principal
from messor.access.ratelimits import Limit
from messor.runtime.server.rates import Rates, Streams
from messor.settings import Settings

MINUTE = timedelta(minutes=1)
MAX_STREAMS = 100  # live pages per process


class ConsoleRates:
    """The rate limits of one console."""

    def __init__(self, settings: Settings) -> None:
        self._members = Rates(Limit(settings.console_requests_per_minute, MINUTE))
        self._anonymous = Rates(Limit(settings.console_stranger_requests_per_minute, MINUTE))
        self.streams = Streams(MAX_STREAMS, settings.streams_per_member)

    def charge(self, principal: Principal | None, origin: Origin) -> None:
        """Count one request; raises ThrottledError."""
        if principal is None:
            self._anonymous.take(origin.network)
        else:
            self._members.take(principal.actor)
