"""ETags: unchanged reads return 304, and If-Match protects decisions against concurrent ones.

A domain's tag has two parts: its governance and its full state. A caller who has seen the current
governance may decide even if a running crawl has changed the figures meanwhile.
"""

from __future__ import annotations

import hashlib
import re

from fastapi import Request
from starlette.responses import Response

from messor.api.problems import PreconditionError
from messor.registry.domains import Domain

_TAG = re.compile(r'(?:W/)?("[^"\x00-\x20\x7f]*")')
# Fields that a crawl changes without any decision.
_FIGURES = frozenset({"pages_known", "last_scraped_at", "last_processed_at", "processing_count"})


def conditional(request: Request, response: Response) -> Response:
    """Add the ETag, or return 304 when the caller already has this version."""
    body = getattr(response, "body", None)
    if response.status_code != 200 or not isinstance(body, bytes):
        return response
    tag = response.headers.get("etag")
    if tag is None:
        tag = f'"{_digest(body)}"'
        response.headers["ETag"] = tag
    response.headers.setdefault("Cache-Control", "private, no-cache")
    if not is_known(request.headers.get("if-none-match"), tag):
        return response
    headers = {"ETag": tag, "Cache-Control": response.headers["Cache-Control"]}
    return Response(status_code=304, headers=headers)


def is_known(given: str | None, tag: str) -> bool:
    """Whether If-None-Match names a tag; compared weakly (RFC 9110, section 13.1.2)."""
    if given is None:
        return False
    return given.strip() == "*" or tag in _TAG.findall(given)


def of_domain(domain: Domain) -> str:
    names = sorted(Domain.__dataclass_fields__)
    whole = "\n".join(f"{name}={getattr(domain, name)!r}" for name in names)
    return f'"{governance(domain)}.{_digest(whole.encode("utf-8", "surrogatepass"))}"'


def governance(domain: Domain) -> str:
    names = sorted(Domain.__dataclass_fields__.keys() - _FIGURES)
    text = "\n".join(f"{name}={getattr(domain, name)!r}" for name in names)
    return _digest(text.encode("utf-8", "surrogatepass"))


def require(request: Request, domain: Domain) -> None:
    """Raise when If-Match does not match the domain; call while holding its lock."""
    given = request.headers.get("if-match")
    if given is None or given.strip() == "*":
        return
    seen = {tag.strip('"').partition(".")[0] for tag in _TAG.findall(given)}
    if governance(domain) not in seen:
        raise PreconditionError(
            f"{domain.domain} has changed since you read it and is now {domain.status}; "
            "read it again before you decide."
        )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]
