"""Full-text search as every interface asks for it: by the search server if one is configured.

While that is down, PostgreSQL answers and the answer says so; the server is tried again after a
pause. A list that one of them began is continued by the same one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Self, TypeVar

from messor.core import clock
from messor.core.logs import room_logger
from messor.errors import UsageError
from messor.insight import search as postgresql
from messor.insight.search import (
    NO_FILTERS,
    POSTGRESQL,
    Facets,
    SearchFilters,
    SearchResults,
    opened,
)
from messor.insight.search_server import finder
from messor.insight.search_server.client import (
    SearchServer,
    SearchServerDownError,
    SearchServerRefusedError,
    SearchServerSettings,
)
from messor.settings import Settings
from messor.store.database import Connection, Database

REST_SECONDS = 30.0  # in which a server that failed is not asked
Result = TypeVar("Result")
logger = room_logger(__name__)


class FullText:
    """Search over pages and records; close it when done."""

    def __init__(self, source: Connection | Database, server: SearchServer | None = None) -> None:
        self._source = source
        self._server = server
        self._rests_until = 0.0
        self._trouble: str | None = None

    @classmethod
    def of(cls, settings: Settings, source: Connection | Database) -> Self:
        """The search that the settings ask for."""
        server = SearchServerSettings.of(settings)
        return cls(source, None if server is None else SearchServer(server))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._server is not None:
            await self._server.close()

    async def search(
        self,
        typed: str,
        filters: SearchFilters = NO_FILTERS,
        *,
        after: str | None = None,
        limit: int = 20,
    ) -> SearchResults:
        """A page of the best matches; `after` is the cursor of the previous page."""
        place = None if after is None else opened(after, typed, filters)
        server = self._server
        if server is not None and (place is None or place.answered_by != POSTGRESQL):
            found = await self._tried(
                lambda: finder.search(
                    self._source, server, typed, filters, after=place, limit=limit
                )
            )
            if found is not None:
                return found
        if place is not None and place.answered_by != POSTGRESQL:
            raise UsageError(
                "The search server that returned the first page does not respond. Start again from the first page."
            )
        found = await postgresql.search(self._source, typed, filters, after=after, limit=limit)
        return replace(found, notice=self._trouble) if server is not None else found

    async def facets(self, typed: str, filters: SearchFilters = NO_FILTERS) -> Facets:
        """Counts of all matches by domain, kind, brand, category, price and rating."""
        server = self._server
        if server is not None:
            found = await self._tried(lambda: finder.facets(self._source, server, typed, filters))
            if found is not None:
                return found
        return await postgresql.facets(self._source, typed, filters)

    async def _tried(self, ask: Callable[[], Awaitable[Result]]) -> Result | None:
        """The server's answer; None while it is down, as `_trouble` says."""
        if clock.now() < self._rests_until:
            return None
        try:
            found = await ask()
        except (SearchServerDownError, SearchServerRefusedError) as error:
            if self._trouble != str(error):
                logger.warning("PostgreSQL serves searches: %s", error)
            self._trouble = f"PostgreSQL was used instead: {error}"
            # A refused question says nothing about the next one; a refused login does.
            if isinstance(error, SearchServerDownError) or error.status in (401, 403):
                self._rests_until = clock.now() + REST_SECONDS
            return None
        self._trouble = None
        return found
