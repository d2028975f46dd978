"""What gives pages to programs, made once per server for all of its interfaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from messor.access.principal import Principal
from messor.insight.full_text import FullText
from messor.insight.search import Hit, SearchFilters
from messor.rights.release import Purpose, release
from messor.scrape import archived, site_map
from messor.scrape.archived import SnapshotPage
from messor.scrape.caller import Caller, admit, require_open
from messor.scrape.documents import DocumentMaker, ScrapedDocument, Shape
from messor.scrape.jobs import DOCUMENTS, ScrapeJob
from messor.scrape.keeper import JobKeeper
from messor.scrape.pages import Scraper, WantedPage, transact
from messor.scrape.refusals import ScrapeRefusedError
from messor.scrape.site_map import MappedPage, MapWish
from messor.scrape.uploads import FileReader
from messor.scrape.visible import VisiblePage, visible
from messor.settings import Settings
from messor.store.database import Database
from messor.web.urls import Url

FEW = 2  # known pages of a site below which its start page is fetched for a map


class ScrapeServices:
    """Scraper, documents, keeper and search over one database."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        full_text: FullText,
        closing: Callable[[], bool] = lambda: False,
    ) -> None:
        self.database = database
        self.scraper = Scraper(database, closing)
        self.maker = DocumentMaker(settings, database)
        self.keeper = JobKeeper(settings, database)
        self.files = FileReader()
        self._full_text = full_text

    async def caller(self, principal: Principal, on_behalf_of: str | None = None) -> Caller:
        return await Caller.of(self.database, principal, on_behalf_of)

    async def documents(
        self, caller: Caller, job: ScrapeJob, after: int, *, limit: int, most_bytes: int
    ) -> tuple[list[ScrapedDocument], int, bool]:
        """Documents of a job from a place on, that place, and whether there are more.

        What may not leave is left out, and so is what was erased.
        """
        rows = await self.database.fetch(DOCUMENTS, job.id, after, limit + 1)
        more = len(rows) > limit
        rows = rows[:limit]
        pages = await archived.by_ids(self.database, [row["snapshot_id"] for row in rows])
        passed = await release(
            self.database, Purpose.AGENT, pages, lambda page: page.page_id, caller.uses
        )
        places = {row["snapshot_id"]: row["place"] for row in rows}
        made: list[ScrapedDocument] = []
        size, reached = 0, rows[-1]["place"] if rows else after
        for page in passed:
            document = await self.maker.make(page, job.shape, is_one_of_many=True)
            size += sum(len(part) for part in document.parts.values() if isinstance(part, str))
            if made and size > most_bytes:
                return made, places[made[-1].page.snapshot_id], True
            made.append(document)
        return made, reached, more

    async def pages_of(
        self, caller: Caller, job: ScrapeJob, after: int, limit: int
    ) -> tuple[list[SnapshotPage], int, bool]:
        """Pages of a job from a place on that may leave, that place, and whether there are more."""
        rows = await self.database.fetch(DOCUMENTS, job.id, after, limit + 1)
        shown = rows[:limit]
        pages = await archived.by_ids(self.database, [row["snapshot_id"] for row in shown])
        passed = await release(
            self.database, Purpose.AGENT, pages, lambda page: page.page_id, caller.uses
        )
        return passed, shown[-1]["place"] if shown else after, len(rows) > limit

    async def visible(self, page: SnapshotPage) -> VisiblePage:
        """What a visitor sees of a snapshot."""
        return await visible(self.database, self.maker.archive, page)

    async def map(self, caller: Caller, url: Url, wish: MapWish) -> list[MappedPage]:
        """The known pages of a site; of one that is hardly known, its start page is read first."""
        domain = await transact(self.database, lambda held: admit(held, caller, url))
        require_open(domain)
        found = await site_map.known_pages(self.database, domain.domain, url, wish)
        if len(found) < FEW and not wish.search:
            try:
                await self.scraper.give(caller, WantedPage(url))
            except ScrapeRefusedError:
                if not found:
                    raise
            found = await site_map.known_pages(self.database, domain.domain, url, wish)
        return await release(
            self.database, Purpose.AGENT, found, lambda page: page.page_id, caller.uses
        )

    async def search(
        self, caller: Caller, query: str, limit: int, filters: SearchFilters | None = None
    ) -> list[Hit]:
        """Archived pages that match, best first, that may leave."""
        wanted = filters or SearchFilters(kinds=("page",))
        found = await self._full_text.search(query, wanted, limit=limit)
        return await release(
            self.database, Purpose.AGENT, found.hits, lambda hit: hit.page_id, caller.uses
        )

    async def of_snapshots(
        self, caller: Caller, ids: Sequence[int], shape: Shape
    ) -> dict[int, ScrapedDocument]:
        """Documents of snapshots, by id."""
        pages: list[SnapshotPage] = await archived.by_ids(self.database, list(ids))
        passed = await release(
            self.database, Purpose.AGENT, pages, lambda page: page.page_id, caller.uses
        )
        return {
            page.snapshot_id: await self.maker.make(page, shape, is_one_of_many=True)
            for page in passed
        }
