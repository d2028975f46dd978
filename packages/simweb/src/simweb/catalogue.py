"""A well-behaved host with many pages of one size, for benchmarks.

Every page is reachable from the homepage and has its own title, prose, prices and links. Pages are
compressed before they are requested: blocks shared by all pages of a host once, a page's own blocks
once per edition.
"""

from __future__ import annotations

from dataclasses import dataclass

from simweb import epochs, sitemaps, splice
from simweb.answers import Request, SimResponse, plain
from simweb.cataloguepage import CataloguePages, Plan
from simweb.documents import Document, http_date, modified_at

RATES = epochs.Rates(change=0.05, vanish=0.004)
_URLS_PER_SITEMAP = 10_000


@dataclass(frozen=True, slots=True)
class _Rendered:
    """What is cached of one page: its own compressed blocks and the gzip trailer."""

    edition: int
    head: bytes
    main: bytes
    trailer: bytes

    @property
    def etag(self) -> str:
        return f'"{self.trailer.hex()}"'


class CatalogueHost:
    def __init__(self, plan: Plan) -> None:
        self._names = (plan.seed, plan.host)
        self._base = plan.base
        self._pages = CataloguePages(plan)
        self._index = {path: index for index, path in enumerate(self._pages.paths)}
        top, middle, bottom = map(splice.Block.of, self._pages.shared())
        self._top, self._middle, self._bottom = top, middle, bottom
        self._rendered: dict[int, _Rendered] = {}

    def respond(self, request: Request) -> SimResponse:
        index = self._index.get(request.route)
        if index is None:
            return self._respond_aside(request)
        edition = self._edition(index, request.epoch)
        if edition is None:
            return plain(410, "This page is gone for good.\n")
        return self._document(index, edition).deliver(request.headers)

    def warm(self, epoch: int) -> None:
        for index in range(len(self._pages.paths)):
            edition = self._edition(index, epoch)
            if edition is not None:
                self._render(index, edition)

    def _edition(self, index: int, epoch: int) -> int | None:
        if epoch == 0 or index == 0:
            return 0
        return epochs.edition(epoch, RATES, *self._names, index)

    def _document(self, index: int, edition: int) -> Document:
        rendered = self._rendered.get(index)
        if rendered is None or rendered.edition != edition:
            rendered = self._render(index, edition)
        blocks = (
            self._top.packed,
            rendered.head,
            self._middle.packed,
            rendered.main,
            self._bottom.packed,
        )
        return Document(
            "text/html; charset=utf-8",
            splice.join(blocks, rendered.trailer),
            rendered.etag,
            _modified(edition),
        )

    def _render(self, index: int, edition: int) -> _Rendered:
        head, main = (text.encode() for text in self._pages.own(index, edition))
        whole = b"".join((self._top.plain, head, self._middle.plain, main, self._bottom.plain))
        rendered = _Rendered(
            edition, splice.deflate(head), splice.deflate(main), splice.checksum(whole)
        )
        self._rendered[index] = rendered
        return rendered

    def _respond_aside(self, request: Request) -> SimResponse:
        """Everything that is not a page: robots.txt, sitemaps, unknown paths."""
        count = -(-len(self._pages.paths) // _URLS_PER_SITEMAP)
        names = [f"/sitemap-{number}.xml" for number in range(count)]
        if request.route == "/robots.txt":
            return plain(200, f"User-agent: *\nAllow: /\n\nSitemap: {self._base}/sitemap.xml\n")
        if request.route == "/sitemap.xml":
            return sitemaps.index([f"{self._base}{name}" for name in names])
        if request.route in names:
            start = names.index(request.route) * _URLS_PER_SITEMAP
            part = range(start, min(start + _URLS_PER_SITEMAP, len(self._pages.paths)))
            return sitemaps.urlset(self._entries(part, request.epoch))
        return plain(404, "There is no such page.\n")

    def _entries(self, part: range, epoch: int) -> list[sitemaps.Entry]:
        editions = ((index, self._edition(index, epoch)) for index in part)
        return [
            sitemaps.Entry(f"{self._base}{self._pages.paths[index]}", modified_at(edition))
            for index, edition in editions
            if edition is not None
        ]


def _modified(edition: int) -> str:
    return _MODIFIED[edition] if edition < len(_MODIFIED) else http_date(modified_at(edition))


_MODIFIED = tuple(http_date(modified_at(edition)) for edition in range(64))
