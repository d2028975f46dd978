"""A Scrapy cache storage over Messor's archive: spiders replay what was crawled, without any traffic.

    HTTPCACHE_ENABLED = True
    HTTPCACHE_STORAGE = "messor_client.scrapy_cache.ArchiveCacheStorage"
    HTTPCACHE_IGNORE_MISSING = True      # what is not archived is not requested
    ROBOTSTXT_OBEY = False               # nothing is requested that could be forbidden
    MESSOR_URL = "http://127.0.0.1:8321"
    MESSOR_KEY = "messor_…"

The newest snapshot of a URL is the response; redirects are replayed. Nothing is written: pages enter the
archive through Messor, which decides about each.
"""

from __future__ import annotations

from typing import Any

from scrapy.http import Headers, Request, Response
from scrapy.responsetypes import responsetypes
from scrapy.settings import BaseSettings

from messor_client.client import DEFAULT_URL, Client
from messor_client.models import KeptSnapshot, LoggedFetch

REDIRECTS = range(300, 400)
LOOKED_AT = 5  # newest fetches of a URL


class ArchiveCacheStorage:
    """Reads responses from the archive."""

    def __init__(self, settings: BaseSettings) -> None:
        self._url = settings.get("MESSOR_URL", DEFAULT_URL)
        self._key = settings.get("MESSOR_KEY")
        self._client: Client | None = None

    def open_spider(self, spider: Any) -> None:  # noqa: ARG002 - Scrapy's signature
        self._client = Client(self._key, self._url)

    def close_spider(self, spider: Any) -> None:  # noqa: ARG002 - Scrapy's signature
        if self._client is not None:
            self._client.close()

    def retrieve_response(self, spider: Any, request: Request) -> Response | None:  # noqa: ARG002
        """The archived response to a GET; None if there is none."""
        assert self._client is not None
        if request.method != "GET":
            return None
        for fetch in next(
            self._client.list_fetches(url=request.url, limit=LOOKED_AT).pages()
        ).items:
            if fetch.status_code in REDIRECTS and fetch.final_url:
                return _redirect(request, fetch)
            snapshot = self._client.list_snapshots(fetch.page_id, limit=1).first()
            if snapshot is not None:
                return _response(request, snapshot, self._client.download_html(snapshot.id))
        return None

    def store_response(self, spider: Any, request: Request, response: Response) -> None:
        """Do nothing: the archive holds what Messor fetched."""


def _redirect(request: Request, fetch: LoggedFetch) -> Response:
    headers = Headers({"Location": fetch.final_url})
    return Response(request.url, status=fetch.status_code or 302, headers=headers)


def _response(request: Request, snapshot: KeptSnapshot, body: bytes) -> Response:
    headers = Headers({"X-Messor-Snapshot": str(snapshot.id)})
    if snapshot.content_type:
        headers["Content-Type"] = snapshot.content_type
    kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
    return kind(request.url, status=snapshot.status_code, headers=headers, body=body)
