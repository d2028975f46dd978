"""Who calls a tool: a key from the request, the key of the settings, or a reader on this machine."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from messor.access import keys, ratelimits
from messor.access.errors import UnauthenticatedError
from messor.access.origin import Origin
from messor.access.principal import Principal, authorise
from messor.access.ratelimits import Limit
from messor.access.roles import Act, Role, acts_of
from messor.settings import Settings
from messor.store.database import Database

# Without a key, on the machine itself: reads what is known, and has nothing fetched.
READER = Principal(None, "local-reader", Role.VIEWER, acts_of(Role.VIEWER))


class Callers:
    """Recognises callers; every call is checked, counted and allowed by its own permission."""

    def __init__(self, settings: Settings, database: Database, *, is_served: bool) -> None:
        self._database = database
        self._key = settings.mcp_key.get_secret_value() if settings.mcp_key else None
        self._is_served = is_served  # over HTTP: each request brings its key
        self._limit = Limit(settings.api_requests_per_minute, timedelta(minutes=1))

    async def of(self, context: Any, act: Act) -> Principal:
        """The caller of a tool, if they may do it."""
        principal = await self._identified(context)
        allowance = await ratelimits.take(self._database, f"api:{principal.actor}", self._limit)
        allowance.require()
        return authorise(principal, act)

    async def _identified(self, context: Any) -> Principal:
        key = self._key
        if self._is_served:
            given = (context.headers or {}).get("authorization") or ""
            scheme, _, key = given.partition(" ")
            if scheme.lower() != "bearer" or not key:
                raise UnauthenticatedError("Send an API key as Authorization: Bearer messor_…")
        if key is None:
            return READER
        return await keys.recognise(self._database, key.strip(), Origin(None, "mcp"))
