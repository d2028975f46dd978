"""One render: the page is requested, responds, settles and is read.

Its response is checked before the browser acts on it: a redirect is reported and not followed, an
error or another content type is not rendered. Later navigations of the page are reported as
redirects too.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from playwright.async_api import BrowserContext, Error, Request, Route
from playwright.async_api import TimeoutError as RestlessError

from messor.fetch.browser.document import answer_of, as_rendered, is_to_be_rendered, read_document
from messor.fetch.browser.limits import BrowserLimits
from messor.fetch.browser.traffic import Traffic, place_of
from messor.fetch.outcome import REDIRECTS, Fetched, failed, is_html
from messor.web.urls import Url, parse

# Not needed for the stored document. Frames have documents of their own, which are not stored.
UNWANTED = frozenset(
    {"image", "media", "font", "texttrack", "manifest", "ping", "beacon", "cspreport"}
)
_ANSWERS = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"}
_REQUESTS = {"urlPattern": "*", "requestStage": "Request"}
_NET_ERROR = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_TLS_ERROR = re.compile(r"ERR_(CERT|SSL|BAD_SSL)_")


_DESCRIPTIONS = {
    "ERR_NAME_NOT_RESOLVED": "the name does not resolve",
    "ERR_CONNECTION_REFUSED": "the connection was refused",
    "ERR_CONNECTION_RESET": "the connection was reset",
    "ERR_CONNECTION_CLOSED": "the connection was closed",
    "ERR_CONNECTION_TIMED_OUT": "no connection in time",
    "ERR_TIMED_OUT": "no complete response in time",
    "ERR_EMPTY_RESPONSE": "the server closed the connection without a response",
    "ERR_TOO_MANY_REDIRECTS": "it redirects too often",
}


def _describe(code: str) -> str:
    """Explain Chromium's error code, with the code itself for look-up."""
    if _TLS_ERROR.match(code):
        return f"its certificate or TLS is not valid (in the browser, {code})"
    message = _DESCRIPTIONS.get(code, "the page could not be loaded")
    return f"{message} (in the browser, {code})"


class Render:
    """One page in one context; `run` is called once."""

    def __init__(self, url: Url, traffic: Traffic, limits: BrowserLimits, max_bytes: int) -> None:
        self._url = url
        self._traffic = traffic
        self._limits = limits
        self._max_bytes = max_bytes
        self._answer: Fetched | None = None
        self._location: str | None = None  # where the page navigates to
        self._has_begun = False
        self._is_cut = False
        self._is_done = False
        self._is_over = asyncio.Event()  # the document will receive nothing more
        self._tasks: set[asyncio.Future[Any]] = set()

    async def run(self, context: BrowserContext) -> Fetched:
        """Render the page; raises the driver's error for a fault of the browser."""
        await context.route("**/*", self._route)
        self._page = await context.new_page()
        context.on("page", lambda popup: self._run_in_background(popup.close))
        self._page.on("requestfailed", self._note_failure)
        self._cdp = await context.new_cdp_session(self._page)
        await self._intercept_answers()
        try:
            await self._arrive()
            if self._traffic.limit == "bytes":
                return self._too_large()
            if self._is_cut:
                return _truncated()
            await self._settle()
            return await self._read()
        except Error as error:
            return self._explain(error)
        finally:
            await self._cancel_tasks()

    @property
    def has_answer(self) -> bool:
        return self._answer is not None

    async def _intercept_answers(self) -> None:
        tree = await self._cdp.send("Page.getFrameTree")
        self._main_frame: str = tree["frameTree"]["frame"]["id"]
        self._cdp.on(
            "Fetch.requestPaused", lambda event: self._run_in_background(self._judge, event)
        )
        patterns = [_REQUESTS, _ANSWERS] if self._traffic.is_signing else [_ANSWERS]
        await self._cdp.send("Fetch.enable", {"patterns": patterns})

    async def _judge(self, event: dict[str, Any]) -> None:
        """Sign a paused request; release or block a paused response."""
        paused = {"requestId": event["requestId"]}
        is_answer = "responseStatusCode" in event or "responseErrorReason" in event
        if self._traffic.is_signing and not is_answer:
            await self._cdp.send("Fetch.continueRequest", paused | self._signed(event["request"]))
            return
        is_page = event["frameId"] == self._main_frame and "responseStatusCode" in event
        if not is_page or await self._may_render(event):
            await self._cdp.send("Fetch.continueRequest", paused)
        else:
            await self._cdp.send("Fetch.failRequest", {**paused, "errorReason": "Aborted"})

    def _signed(self, request: dict[str, Any]) -> dict[str, Any]:
        """A request's fields with a signature; each hop of a redirect passes here by itself."""
        url = parse(request["url"])
        signature = self._traffic.sign(url) if url is not None else ()
        if not signature:
            return {}
        fields = [*request["headers"].items(), *signature]
        return {"headers": [{"name": name, "value": value} for name, value in fields]}

    async def _may_render(self, event: dict[str, Any]) -> bool:
        """Whether the page's response is a document to render."""
        if self._traffic.failure is not None:
            return False  # the response is our own proxy's
        asked = parse(event["request"]["url"])
        if asked is None or asked.href != self._url.href:  # an upgrade within the browser
            self._leave_for(asked)
            return False
        self._answer = answer = answer_of(event)
        if is_to_be_rendered(answer):
            return True
        if answer.status in REDIRECTS or not is_html(answer.content_type, b"<html"):
            return False
        return await self._is_page_after_all(answer, event["requestId"])

    async def _is_page_after_all(self, answer: Fetched, request_id: str) -> bool:
        """Take the body as received; one without a type is judged by its beginning."""
        try:
            body = await self._cdp.send("Fetch.getResponseBody", {"requestId": request_id})
        except Error:
            self._is_cut = True
            return False
        text: str = body["body"]
        answer.body = base64.b64decode(text) if body["base64Encoded"] else text.encode()
        answer.size = len(answer.body)
        return answer.content_type is None and is_html(None, answer.body) and answer.status == 200

    async def _arrive(self) -> None:
        """Wait for the whole document; one that broke off or navigated away may never complete."""
        ways = {asyncio.ensure_future(self._load()), asyncio.ensure_future(self._is_over.wait())}
        try:
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in done:
                way.result()
        finally:
            for way in ways:
                way.cancel()

    async def _load(self) -> None:
        await self._page.goto(self._url.href, wait_until="commit", timeout=0)
        await self._page.wait_for_load_state("domcontentloaded", timeout=0)

    async def _settle(self) -> None:
        """Wait for an idle network, up to a limit."""
        with suppress(RestlessError):
            await self._page.wait_for_load_state(
                "networkidle", timeout=self._limits.settle_seconds * 1000
            )

    async def _read(self) -> Fetched:
        if self._location is not None:
            return self._redirected(self._location)
        assert self._answer is not None
        html = await read_document(self._cdp, self._main_frame, self._max_bytes)
        here = parse(self._page.url)
        if here is None or place_of(here) != self._traffic.lane:
            error = "the page replaced itself with content from outside the site"
            self._answer.result = self._answer.result.empty(error)
            return self._answer
        return as_rendered(self._answer, html, self._max_bytes)

    def _explain(self, error: Exception) -> Fetched:
        """The result for a page that could not be rendered."""
        if self._traffic.failure is not None:
            return self._traffic.failure
        if self._location is not None:
            return self._redirected(self._location)
        if self._traffic.limit == "bytes":
            return self._too_large()
        if self._is_cut:
            return _truncated()
        code = _NET_ERROR.search(str(error))
        if code is None:
            raise error
        if self._answer is not None and code[1] == "ERR_ABORTED":
            return self._answer.classify()
        kind = "tls" if _TLS_ERROR.match(code[1]) else "protocol"
        return Fetched(failed(kind, _describe(code[1])))

    def _too_large(self) -> Fetched:
        most = self._limits.traffic_bytes
        sentence = f"the page and its sub-resources are more than {most} bytes"
        return Fetched(failed("too_large", sentence))

    def _redirected(self, location: str) -> Fetched:
        answer = self._answer or Fetched()
        answer.result = answer.result.redirected(location)
        return answer

    async def _route(self, route: Route) -> None:
        with suppress(Error):  # the page may be gone by now
            if self._may_ask(route.request):
                await route.continue_()
            elif route.request.is_navigation_request():
                await route.abort("aborted")  # the current document stays
            else:
                await route.abort("blockedbyclient")

    def _may_ask(self, request: Request) -> bool:
        if request.is_navigation_request():
            return self._may_navigate(request)
        if request.resource_type in UNWANTED:
            self._traffic.blocked[request.resource_type] += 1
            return False
        url = parse(request.url)
        return url is None or self._traffic.may_ask(place_of(url))

    def _may_navigate(self, request: Request) -> bool:
        """Only the page itself may be navigated to, once."""
        try:
            is_main = request.frame == self._page.main_frame
        except Error:  # a window that is still opening
            is_main = False
        if not is_main:
            self._traffic.blocked["frame"] += 1
            return False
        if not self._has_begun:
            self._has_begun = True
            return True
        self._traffic.blocked["navigation"] += 1
        self._is_over.set()
        if request.method == "GET":
            self._leave_for(parse(request.url))
        return False

    def _note_failure(self, request: Request) -> None:
        """Record that the page broke off after it began; if its own script ended it, it is
        complete.
        """
        is_page = request.is_navigation_request() and parse(request.url) == self._url
        if is_page and self._answer is not None and request.failure != "net::ERR_ABORTED":
            self._is_cut = True
            self._is_over.set()

    def _leave_for(self, url: Url | None) -> None:
        if url is not None and url.href != self._url.href:
            self._location = self._location or url.href

    def _run_in_background(self, work: Callable[..., Awaitable[None]], *args: Any) -> None:
        """Run work concurrently with the render, cancelled when it ends."""
        if self._is_done:
            return

        # Created within the task: a task cancelled before it starts leaves no coroutine unawaited.
        async def run() -> None:
            with suppress(Error):  # the page may be gone by now
                await work(*args)

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _cancel_tasks(self) -> None:
        """Cancel background work; late events start none."""
        self._is_done = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _truncated() -> Fetched:
    return Fetched(failed("truncated", "the response ended before it was complete"))
