"""A finished resource and its delivery: validators, 304, gzip or plain.

The ETag is derived from the content, so a page that stays the same between epochs keeps its ETag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import blake2b

from simweb import splice
from simweb.answers import Headers, SimResponse

HTML = "text/html; charset=utf-8"
_FIRST_DAY = datetime(2026, 1, 5, 6, 0, tzinfo=UTC)


def modified_at(edition: int, offset_minutes: int = 0) -> datetime:
    """When that edition was published: editions are a week apart."""
    return _FIRST_DAY + timedelta(weeks=edition, minutes=offset_minutes)


def http_date(moment: datetime) -> str:
    return format_datetime(moment, usegmt=True)


@dataclass(frozen=True, slots=True)
class Document:
    content_type: str
    packed: bytes  # gzip
    etag: str
    modified: str
    extra: Headers = ()

    @classmethod
    def of(
        cls, plain: bytes, modified: datetime, content_type: str = HTML, extra: Headers = ()
    ) -> Document:
        etag = f'"{blake2b(plain, digest_size=8).hexdigest()}"'
        return cls(content_type, splice.compress(plain), etag, http_date(modified), extra)

    def deliver(self, headers: Mapping[str, str]) -> SimResponse:
        validators = (
            ("ETag", self.etag),
            ("Last-Modified", self.modified),
            ("Vary", "Accept-Encoding"),
        )
        if self._is_fresh(headers):
            return SimResponse(304, validators)
        described = (("Content-Type", self.content_type), *validators, *self.extra)
        if "gzip" in headers.get("accept-encoding", ""):
            return SimResponse(200, (("Content-Encoding", "gzip"), *described), self.packed)
        return SimResponse(200, described, splice.decompress(self.packed))

    def _is_fresh(self, headers: Mapping[str, str]) -> bool:
        """RFC 9110 section 13.2.2: If-None-Match, when present, decides alone."""
        known = headers.get("if-none-match")
        if known is not None:
            tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
            return "*" in tags or self.etag in tags
        since = headers.get("if-modified-since")
        if since is None:
            return False
        try:
            return parsedate_to_datetime(since) >= parsedate_to_datetime(self.modified)
        except (ValueError, TypeError):
            return False  # an unreadable or zoneless date is no condition
