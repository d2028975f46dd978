"""A well-behaved host with pages, robots.txt, sitemaps and a few files; a trade's host is one.

Pages are rendered on first request and cached per edition.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from simweb import epochs, files, sitemaps
from simweb.answers import Request, SimResponse, plain
from simweb.documents import Document, modified_at
from simweb.epochs import share
from simweb.items import Assortment
from simweb.markup import esc, piece, template
from simweb.pages import At, Charter, Content, Page
from simweb.prose import label
from simweb.sites import base_url
from simweb.standard_pages import PRIVATE, StandingPages

_PRICE_LIST = "/files/price-list.pdf"
_LOGO = "/images/logo.png"


class PageHost:
    """Serves the given pages: those of the menu, and the items they link to."""

    def __init__(
        self, seed: int, charter: Charter, menu: Sequence[Page], items: Sequence[Page]
    ) -> None:
        self._seed = seed
        self._charter = charter
        self._base = base_url(charter.host, secure=charter.secure)
        self._menu = tuple(menu)
        self.pages = {p.path: p for p in (*menu, *items)}
        self._documents: dict[tuple[str, int], Document] = {}

    def warm(self, epoch: int) -> None:
        """Nothing to prepare: rendering a few pages on request is cheap enough."""

    def respond(self, request: Request) -> SimResponse:
        page = self.pages.get(request.route)
        if page is None:
            return self._respond_aside(request)
        at = self._at(page, request.epoch)
        if at is None:
            status = 410 if self._is_gone(page, request.epoch) else 404
            return self._missing(status)
        key = (page.path, at.edition)
        if key not in self._documents:
            self._documents[key] = self._render(page, at)
        return self._documents[key].deliver(request.headers)

    def _at(self, page: Page, epoch: int) -> At | None:
        own = epochs.edition(epoch, page.rates, *self._names(page))
        if own is None:
            return None
        events = (epochs.last_event(epoch, w.rates, *self._names(w)) for w in page.watched)
        return At(epoch, max(own, *events) if page.watched else own)

    def _names(self, page: Page) -> tuple[object, ...]:
        return (self._seed, self._charter.host, page.path)

    def _is_gone(self, page: Page, epoch: int) -> bool:
        """Removed pages return 410 on half of the hosts and 404 on the others."""
        gone = epochs.has_vanished(epoch, page.rates, *self._names(page))
        return gone and share(self._seed, self._charter.host, "410") < 0.5

    def _render(self, page: Page, at: At) -> Document:
        html = self._html(page, page.compose(at))
        minutes = int(share(*self._names(page)) * 10_000)
        return Document.of(html.encode(), modified_at(at.edition, minutes))

    def _html(self, page: Page, content: Content) -> str:
        charter = self._charter
        data = "".join(
            piece("data", json=json.dumps(d, ensure_ascii=False).replace("</", "<\\/"))
            for d in content.data
        )
        return template(charter.layout).substitute(
            language=page.language,
            title=esc(content.title),
            description=esc(content.description),
            url=f"{self._base}{page.path}",
            robots=page.robots_meta,
            image=f"{self._base}{_LOGO}",
            data=data,
            brand=esc(charter.name),
            nav="".join(piece("nav_link", href=p.path, text=esc(p.name)) for p in self._menu),
            heading=esc(content.heading or content.title.partition(" · ")[0]),
            main="".join(content.blocks),
            friends=self._friends(page),
            files_label=esc(label(charter.language, "files")),
            price_list=_PRICE_LIST,
            logo=_LOGO,
        )

    def _friends(self, page: Page) -> str:
        """Links to other sites: on the homepage and on a third of the other pages."""
        if page.path != "/" and share(*self._names(page), "friends") > 0.34:
            return ""
        links = (
            piece("link_entry", href=f"{esc(friend)}/", text=esc(friend.partition("//")[2]))
            for friend in self._charter.friends
        )
        heading = esc(label(self._charter.language, "friends"))
        return piece("links", heading=heading, entries="".join(links))

    def _missing(self, status: int) -> SimResponse:
        body = piece("missing", status=status, brand=esc(self._charter.name)).encode()
        return SimResponse(status, (("Content-Type", "text/html; charset=utf-8"),), body)

    def _respond_aside(self, request: Request) -> SimResponse:
        route = request.route
        if route == "/robots.txt":
            return plain(200, self._robots())
        if route == _PRICE_LIST:
            return files.pdf(f"Price list of {self._charter.name}")
        if route.startswith("/images/") and route.endswith(".png"):
            return files.png(share(route))
        return self._sitemap(route, request.epoch) or self._missing(404)

    def _robots(self) -> str:
        charter = self._charter
        lines = ["User-agent: *", f"Disallow: {PRIVATE.rpartition('/')[0]}/", "Disallow: /*?print="]
        if charter.crawl_delay is not None:
            lines.append(f"Crawl-delay: {charter.crawl_delay}")
        if charter.sitemap != "none":
            suffix = ".xml.gz" if charter.sitemap == "gzip" else ".xml"
            lines += ["", f"Sitemap: {self._base}/sitemap{suffix}"]
        return "\n".join([*lines, ""])

    def _sitemap(self, route: str, epoch: int) -> SimResponse | None:
        style = self._charter.sitemap
        entries = self._entries(epoch)
        if style == "plain" and route == "/sitemap.xml":
            return sitemaps.urlset(entries)
        if style == "gzip" and route == "/sitemap.xml.gz":
            return sitemaps.gzipped_urlset(entries)
        if style == "index" and route == "/sitemap.xml":
            parts = (f"{self._base}/sitemap-{part}.xml" for part in ("site", "items"))
            return sitemaps.index(parts)
        if style == "index" and route in ("/sitemap-site.xml", "/sitemap-items.xml"):
            middle = len(self._menu) - 1
            return sitemaps.urlset(entries[:middle] if "site" in route else entries[middle:])
        return None

    def _entries(self, epoch: int) -> list[sitemaps.Entry]:
        seen = ((page, self._at(page, epoch)) for page in self.pages.values() if page.listed)
        return [
            sitemaps.Entry(f"{self._base}{page.path}", modified_at(at.edition))
            for page, at in seen
            if at is not None
        ]


class TradeHost(PageHost):
    """A trade's site, generated from its charter."""

    def __init__(self, seed: int, charter: Charter) -> None:
        assortment = Assortment(seed, charter)
        standing = StandingPages(seed, charter, assortment).pages()
        menu = (standing[0], *assortment.categories, *standing[1:])
        super().__init__(seed, charter, menu, assortment.items)
