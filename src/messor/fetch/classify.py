"""Classifies a response by its status, content type and size alone, whichever provider fetched it.

Content (a challenge, a shell without text) is judged by the gates.
"""

from __future__ import annotations

from messor.fetch.gates.verdict import FRICTION_STATUS
from messor.fetch.outcome import Fetched, Outcome
from messor.fetch.retry_after import parse_retry_after

REDIRECTS = frozenset({301, 302, 303, 307, 308})
FRICTION = frozenset(FRICTION_STATUS)
GONE = frozenset({404, 410})
_HTML = ("text/html", "application/xhtml+xml")


def name_outcome(fetched: Fetched) -> Fetched:
    """Set the outcome, and what follows from it, of a response with status, headers and body."""
    status, headers = fetched.status, fetched.headers
    assert status is not None
    if status == 304:
        fetched.outcome = Outcome.UNCHANGED
    elif status in REDIRECTS:
        fetched.outcome = Outcome.REDIRECTED
        fetched.location = headers.get("Location")
    elif status in GONE:
        fetched.outcome = Outcome.NOT_FOUND
    elif status in FRICTION:
        fetched.outcome = Outcome.BLOCKED
        fetched.retry_after = parse_retry_after(headers.get("Retry-After"))
        fetched.error = f"the site returned {status}"
    elif not 200 <= status < 300:
        fetched.outcome = Outcome.ERROR
        fetched.error = f"the site returned {status}"
    elif not is_html(headers.get("Content-Type"), fetched.body):
        fetched.outcome = Outcome.NOT_HTML
    elif not fetched.body.strip():
        fetched.outcome = Outcome.EMPTY
        fetched.error = "the page has no content"
    return fetched


def is_html(content_type: str | None, body: bytes) -> bool:
    """Whether to read a response as HTML; one without a type is judged by its beginning."""
    if content_type:
        return content_type.partition(";")[0].strip().lower() in _HTML
    start = body[:512].lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<!--"))
