"""The tools: each a thin call of what the other interfaces call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from messor.access.principal import Principal
from messor.access.roles import Act
from messor.errors import MessorError, UsageError
from messor.explain.why import explain
from messor.feed.queries import CHANGES, ChangeFilter
from messor.governance import intake
from messor.mcp.answers import answer, bounded, part_of, said
from messor.mcp.caller import Callers
from messor.records.product_queries import PRODUCTS, ProductFilter
from messor.records.queries import RECORDS, RecordFilter
from messor.registry.submissions import Submitter
from messor.rights.release import Purpose, release
from messor.scrape import archived, jobs
from messor.scrape.jobs import CrawlOrder
from messor.scrape.pages import WantedPage
from messor.scrape.services import ScrapeServices
from messor.scrape.site_map import MapWish
from messor.scrape.visible import plain_title
from messor.settings import Settings
from messor.store.listing import ListPage
from messor.watches.queries import WATCHES, WatchFilter
from messor.web.urls import Url

LISTED = 50  # items of a page of a list
HOUR = 3_600.0


class Tools:
    """Over one database; every call has its own permission."""

    def __init__(self, settings: Settings, services: ScrapeServices, callers: Callers) -> None:
        self._settings = settings
        self._services = services
        self._database = services.database
        self._callers = callers

    @asynccontextmanager
    async def _asked(self, context: Context, act: Act) -> AsyncIterator[Principal]:
        """The caller, if they may; a refusal becomes the tool's error, with its code."""
        try:
            yield await self._callers.of(context, act)
        except MessorError as error:
            raise ToolError(f"{error.code}: {error}") from error

    async def search(self, context: Context, query: str, limit: int = 10) -> str:
        """Search the archived pages; returns quotes, titles and URLs. Fetches nothing."""
        async with self._asked(context, Act.READ) as principal:
            caller = await self._services.caller(principal)
            hits = await self._services.search(caller, query, max(1, min(limit, LISTED)))
            found = [
                {"url": hit.url, "title": plain_title(hit.title),
                 "quotes": [fragment.text for fragment in hit.fragments], "snapshot": hit.snapshot_id}
                for hit in hits
            ]  # fmt: skip
            data, _ = bounded(found)
            return answer(data, found=len(found))

    async def fetch(
        self, context: Context, url: str, max_age_hours: float = 48.0, cursor: str | None = None
    ) -> str:
        """Read one page: from the archive if it is recent enough there, else a worker fetches it.

        The text is what a visitor sees. Continue a long page with the cursor in `next`.
        """
        async with self._asked(context, Act.READ if cursor else Act.INGEST_RUN) as principal:
            if cursor is not None:
                snapshot_id, start = _place(cursor)
                pages = await archived.by_ids(self._database, [snapshot_id])
                caller = await self._services.caller(principal)
                passed = await release(
                    self._database, Purpose.AGENT, pages, lambda page: page.page_id, caller.uses
                )
                if not passed:
                    raise UsageError("This cursor leads nowhere: fetch the page again.")
                page = passed[0]
            else:
                start = 0
                caller = await self._services.caller(principal)
                wanted = WantedPage(_url(url), max(max_age_hours, 0.0) * HOUR)
                page = (await self._services.scraper.give(caller, wanted)).page
            seen = await self._services.visible(page)
            text, following = part_of(seen.text, start)
            return answer(
                {"url": page.url, "title": plain_title(page.title), "text": text},
                following=None if following is None else f"{page.snapshot_id}:{following}",
                domain=page.domain,
                page=page.page_id,
                snapshot=page.snapshot_id,
                confirmed_at=page.seen_at,
                characters=len(seen.text),
                hidden_elements_removed=seen.hidden,
                lines_addressing_machines_removed=seen.withheld,
            )

    async def crawl(
        self,
        context: Context,
        url: str,
        *,
        limit: int = 50,
        depth: int | None = None,
        include_paths: list[str] | None = None,
        exclude_paths: list[str] | None = None,
    ) -> str:
        """Start a crawl of a site and return its job; ask messor_crawl_status how it goes.

        Robots.txt, pace and approval apply. Paths are regular expressions.
        """
        async with self._asked(context, Act.INGEST_RUN) as principal:
            caller = await self._services.caller(principal)
            order = CrawlOrder(
                _url(url),
                depth,
                max(1, min(limit, 10_000)),
                include=tuple(include_paths or ()),
                exclude=tuple(exclude_paths or ()),
                whole_domain=True,
            )
            job_id = await jobs.start_crawl(self._database, caller, order)
            self._services.keeper.wake()
            return said(job=str(job_id), status="scraping")

    async def crawl_status(self, context: Context, job: str, cursor: str | None = None) -> str:
        """How far a crawl is: its pages so far, by URL and title, and what was refused."""
        async with self._asked(context, Act.READ) as principal:
            caller = await self._services.caller(principal)
            found = await jobs.owned(self._database, caller, _uuid(job))
            known = await jobs.progress(self._database, found)
            pages, reached, more = await self._services.pages_of(
                caller, found, _number(cursor), LISTED
            )
            refused = await jobs.refused(self._database, found, LISTED)
            data = {
                "pages": bounded(
                    [{"url": page.url, "title": plain_title(page.title)} for page in pages]
                )[0],
                "refused": [
                    {"url": one.url[:300], "code": one.code, "why": one.error[:300]}
                    for one in refused
                ],
            }
            return answer(
                data,
                following=str(reached) if more else None,
                status=found.status,
                completed=known.completed,
                refused=known.refused,
                total=known.total,
                why=found.error,
            )

    async def map(
        self, context: Context, url: str, search: str | None = None, limit: int = 200
    ) -> str:
        """List the known pages of a site, with titles."""
        async with self._asked(context, Act.INGEST_RUN) as principal:
            caller = await self._services.caller(principal)
            wish = MapWish(search, limit=max(1, min(limit, 1_000)))
            found = await self._services.map(caller, _url(url), wish)
            data, shown = bounded(
                [{"url": page.url, "title": plain_title(page.title)} for page in found]
            )
            return answer(data, found=len(found), shown=shown)

    async def records(
        self,
        context: Context,
        domain: str | None = None,
        kind: str | None = None,
        cursor: str | None = None,
    ) -> str:
        """List typed records that pages state, such as offers, contacts or events."""
        async with self._asked(context, Act.READ) as principal:
            filters = RecordFilter(domain=domain, kind=kind)
            return await self._listed(
                principal, await RECORDS.read(self._database, filters, cursor=cursor, limit=LISTED)
            )

    async def products(
        self,
        context: Context,
        query: str | None = None,
        domain: str | None = None,
        cursor: str | None = None,
    ) -> str:
        """List products with prices, as their pages state them now."""
        async with self._asked(context, Act.READ) as principal:
            filters = ProductFilter(q=query, domain=domain)
            return await self._listed(
                principal, await PRODUCTS.read(self._database, filters, cursor=cursor, limit=LISTED)
            )

    async def changes(
        self, context: Context, domain: str | None = None, cursor: str | None = None
    ) -> str:
        """List what changed, in the order in which it was stored; continue with the cursor."""
        async with self._asked(context, Act.READ) as principal:
            filters = ChangeFilter(domain=domain)
            return await self._listed(
                principal, await CHANGES.read(self._database, filters, cursor=cursor, limit=20)
            )

    async def _listed(self, principal: Principal, page: ListPage[Any]) -> str:
        """A page of a list: what may leave, each item shortened where needed."""
        caller = await self._services.caller(principal)
        passed = await release(
            self._database, Purpose.AGENT, page.items, lambda item: item.page_id, caller.uses
        )
        data, shown = bounded(passed)
        return answer(
            data, following=page.next, withheld=len(page.items) - len(passed),
            left_out_for_size=len(passed) - shown,
        )  # fmt: skip

    async def why(self, context: Context, url: str) -> str:
        """Explain what was or would be decided about a URL, as a chain of facts."""
        async with self._asked(context, Act.READ):
            found = await explain(self._database, self._settings, url)
            facts = [
                {"step": fact.step, "says": fact.says, "fact": fact.sentence}
                for fact in found.facts
            ]
            return answer({"url": found.url, "facts": bounded(facts)[0]}, verdict=found.verdict)

    async def submit_domain(
        self, context: Context, domain: str, context_text: str | None = None
    ) -> str:
        """Submit a domain for review; a person decides."""
        async with self._asked(context, Act.DOMAINS_SUBMIT) as principal:
            async with self._database.transaction() as connection:
                result = await intake.submit_domain(
                    connection, domain, Submitter.of(principal), context=context_text
                )
            return said(outcome=result.outcome, domain=result.domain.domain, message=result.message)

    async def watches(self, context: Context, cursor: str | None = None) -> str:
        """List watches: what somebody wants to be told about changes."""
        async with self._asked(context, Act.READ):
            page = await WATCHES.read(self._database, WatchFilter(), cursor=cursor, limit=LISTED)
            shown = [
                {"id": str(one.id), "name": one.name, "noun": one.noun, "channel": one.channel,
                 "is_active": one.is_active}
                for one in page.items
            ]  # fmt: skip
            return answer(bounded(shown)[0], following=page.next)


def _url(text: str) -> Url:
    url = archived.understand(text)
    if url is None:
        raise UsageError(f"{text[:200]!r} is not a web address.")
    return url


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise UsageError(f"{text[:50]!r} is not a job; messor_crawl returns one.") from error


def _number(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 9:
        raise UsageError("Invalid cursor: use the one of the previous answer.")
    return int(cursor)


def _place(cursor: str) -> tuple[int, int]:
    snapshot, _, start = cursor.partition(":")
    return _number(snapshot), _number(start)
