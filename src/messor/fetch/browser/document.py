"""The response to a rendered page, and the document rendered from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from multidict import CIMultiDict
from playwright.async_api import CDPSession

from messor.fetch.outcome import Fetched, is_html
from messor.web.unseen import UNSEEN_MARK

RENDERED = "text/html; charset=utf-8"
BARE = "<html><head></head><body></body></html>"
# They describe the bytes on the wire, which are not what is stored.
_OF_THE_WIRE = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_MAX_ELEMENTS = 20_000  # checked for visibility
# Runs in a world that the page's scripts cannot reach; an oversized document is not transferred.
_SERIALISE = (Path(__file__).parent / "serialise.js").read_text(encoding="utf-8")


def answer_of(event: dict[str, Any]) -> Fetched:
    """The head of a response that the browser has paused."""
    fields = [
        (field["name"], field["value"].replace("\n", ", "))
        for field in event.get("responseHeaders", [])
        if field["name"].lower() not in _OF_THE_WIRE
    ]
    return Fetched(
        status=event["responseStatusCode"],
        reason=event.get("responseStatusText", ""),
        headers=CIMultiDict(fields),
        raw_headers=_raw(fields),
    )


def is_to_be_rendered(answer: Fetched) -> bool:
    """Whether a response is a page; one offered for download is not."""
    disposition = answer.headers.get("Content-Disposition", "")
    return (
        answer.status is not None
        and 200 <= answer.status < 300
        and answer.status not in (204, 205)
        and answer.content_type is not None
        and is_html(answer.content_type, b"")
        and not disposition.strip().lower().startswith("attachment")
    )


async def read_document(cdp: CDPSession, frame: str, most: int) -> str | None:
    """Read the current document; None when it has more than `most` characters."""
    world = await cdp.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "messor"})
    answer = await cdp.send(
        "Runtime.evaluate",
        {
            "expression": f"({_SERIALISE})({most}, '{UNSEEN_MARK}', {_MAX_ELEMENTS})",
            "contextId": world["executionContextId"],
            "returnByValue": True,
        },
    )
    html: str | None = answer["result"].get("value")
    return html


def as_rendered(answer: Fetched, html: str | None, most: int) -> Fetched:
    """The response with the rendered document as its body, always in UTF-8."""
    body = None if html is None else html.encode("utf-8", "replace")
    if body is None or len(body) > most:
        error = f"the document is more than {most} bytes"
        answer.result = answer.result.too_large(error, "too_large")
        return answer
    fields = [
        (name, value) for name, value in answer.headers.items() if name.lower() != "content-type"
    ]
    fields.append(("Content-Type", RENDERED))
    answer.headers, answer.raw_headers = CIMultiDict(fields), _raw(fields)
    answer.body = b"" if html == BARE else body
    answer.size = len(answer.body)
    return answer.classify()


def _raw(fields: list[tuple[str, str]]) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((name.encode(), value.encode("utf-8", "replace")) for name, value in fields)
