"""Pages rendered by a real Chromium: what comes of them, what they may reach, what is left."""

from __future__ import annotations

import asyncio
import base64
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from messor.ai.visible_text import VisibleText
from messor.content.view import PageView
from messor.core import clock
from messor.errors import LeaseLostError
from messor.fetch.browser import BrowserLimits, BrowserProvider, why_unavailable
from messor.fetch.browser import chromium as chromium_module
from messor.fetch.outcome import Fetched, Outcome
from messor.fetch.provider import PROVIDER_FAULT, Provider
from messor.politeness.lease import WorkerLease
from messor.politeness.pace import Pace, Permit
from simweb.answers import Ending, Request, SimResponse, Stream, plain, redirect
from tests.fetch.conftest import permit
from tests.little_web import LittleWeb, Room
from tests.moments import is_over

MISSING = why_unavailable(BrowserLimits())
pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(MISSING is not None, reason=MISSING or ""),
]
CALL = """let p = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:UDP'}]});
  p.createDataChannel('x'); p.createOffer().then(offer => p.setLocalDescription(offer))"""
more = partial(pytest.param, marks=pytest.mark.wide)  # a render takes half a second of CPU
HANG = "<p>Hello</p><script>while (true) {}</script>"


def doc(html: str, *extra: tuple[str, str], status: int = 200) -> SimResponse:
    return SimResponse(status, (("Content-Type", "text/html"), *extra), html.encode())


def script(source: str) -> SimResponse:
    return doc(f"<!DOCTYPE html><title>T</title><p>Hello</p><script>{source}</script>")


@dataclass
class Street:
    """A web of one.test and two.test, a forbidden inner.test, and a browser to see them with."""

    web: LittleWeb
    inner: Inner
    settings: Any
    provider: BrowserProvider
    mark: int = 0

    async def see(
        self, answer: Room, *, by: BrowserProvider | None = None, **rooms: Room
    ) -> Fetched:
        """Render http://one.test/, with other paths of one.test beside it."""
        self.furnish(answer, **rooms)
        return await (by or self.provider).fetch("http://one.test/", permit())

    def furnish(self, answer: Room, **rooms: Room) -> None:
        paths = {f"/{name}": room for name, room in rooms.items()}
        self.web.houses["one.test"].rooms = {"/": answer, **paths}
        self.mark = len(self.web.requests())

    @property
    def asked(self) -> list[str]:
        """What the sites were asked since the last page was put up."""
        return [f"{one.host}{one.path}" for one in self.web.requests()[self.mark :]]

    @asynccontextmanager
    async def browser(self, **limits: Any) -> AsyncIterator[BrowserProvider]:
        """A browser of one's own."""
        provider = BrowserProvider(self.settings, BrowserLimits(**limits), "1")
        try:
            yield provider
        finally:
            await provider.close()

    async def until_asked(self, path: str = "one.test/") -> None:
        await until(lambda: path in self.asked)


@dataclass
class Inner:
    """Something of our own network that no page may reach, by TCP or UDP."""

    connections: int = 0
    datagrams: int = 0
    port: int = 0
    udp_port: int = 0
    _closing: list[Any] = field(default_factory=list)

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        transport, _ = await loop.create_datagram_endpoint(
            lambda: _Datagrams(self), local_addr=("127.0.0.1", 0)
        )
        self.udp_port = transport.get_extra_info("sockname")[1]
        self._closing = [server, transport]

    def close(self) -> None:
        for one in self._closing:
            one.close()

    def _accept(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, inner: Inner) -> None:
        self._inner = inner

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._inner.datagrams += 1


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def street(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    inner = Inner()
    await inner.open()
    folder = tmp_path_factory.mktemp("street")
    async with LittleWeb(folder, {"one.test": {}, "two.test": {}}) as web:
        settings = web.settings(max_decoded_bytes=200_000)
        settings.allowed_networks.names["inner.test:80"] = f"127.0.0.1:{inner.port}"
        provider = BrowserProvider(settings, BrowserLimits(settle_seconds=3.0), "1")
        try:
            yield Street(web, inner, settings, provider)
        finally:
            await provider.close()
            inner.close()


async def until(is_so: Callable[[], bool], seconds: float = 90.0) -> None:
    async with asyncio.timeout(seconds):
        while not is_so():  # noqa: ASYNC110 - processes and logs have no event
            await asyncio.sleep(0.02)


def processes_of(home: str) -> list[psutil.Process]:
    """Living processes that have this home folder in their command line."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and home in " ".join(process.cmdline()):
                found.append(process)
    return found


def is_there(folder: str) -> bool:
    return Path(folder).exists()


def profile_of(home: str) -> str:
    """Where Chromium keeps its profile; it is there while the browser is."""
    profile = str((Path(home) / "profile").readlink())
    assert is_there(profile)
    return profile


def home_of(provider: BrowserProvider) -> str:
    return str(browser_of(provider)._home)


def browser_of(provider: BrowserProvider) -> chromium_module.Chromium:
    assert provider.pool is not None
    assert provider.pool.chromium is not None
    return provider.pool.chromium


async def test_a_page_made_by_scripts_is_read_as_rendered(street: Street) -> None:
    source = "fetch('/api').then(a => a.text()).then(t => document.body.append(t))"
    seen = await street.see(script(source), api=plain(200, "žluťoučký from the API"))
    assert (seen.outcome, seen.status, seen.provider) == (Outcome.OK, 200, "browser")
    assert "žluťoučký from the API" in seen.body.decode()
    assert seen.body.startswith(b"<!DOCTYPE html>")
    assert seen.content_type == "text/html; charset=utf-8"
    assert seen.size == len(seen.body)
    assert seen.detail is not None
    assert seen.detail["hosts"]["one.test"]["requests"] == 1
    assert street.asked == ["one.test/", "one.test/api"]


async def test_it_is_a_provider(street: Street) -> None:
    provider: Provider = street.provider
    assert (provider.name, provider.paid, provider.available) == ("browser", False, True)


async def test_it_says_who_it_is_and_nothing_else(street: Street) -> None:
    heads: list[Request] = []

    def answer(request: Request) -> SimResponse:
        heads.append(request)
        return script("document.body.append(navigator.userAgent)")

    seen = await street.see(answer)
    (head,) = heads
    assert head.headers["user-agent"].startswith("Mozilla/5.0 (compatible; MessorBot/1; +https://")
    assert head.headers["user-agent"] in seen.body.decode()
    assert not any(name.startswith("proxy-") for name in head.headers)


async def test_a_page_in_another_encoding_becomes_utf_8(street: Street) -> None:
    body = '<meta charset="windows-1251"><p>Привет</p>'.encode("windows-1251")
    seen = await street.see(
        SimResponse(200, (("Content-Type", "text/html; charset=windows-1251"),), body)
    )
    assert "Привет" in seen.body.decode()


async def test_lone_surrogates_do_no_harm(street: Street) -> None:
    seen = await street.see(script("document.body.append('a\\ud800b')"))
    assert seen.outcome is Outcome.OK
    seen.body.decode()


async def test_what_no_visitor_sees_is_marked_by_all_styles_of_the_page(street: Street) -> None:
    """A style sheet elsewhere hides it, so that the document alone does not tell."""
    sheet = """
      :root { --gone: none } .a { display: var(--gone) } .b { visibility: hidden } .c { opacity: 0 }
      .d { position: absolute; left: -9999px } .e { color: #fff } .f { font-size: 0 }
      .g { height: 0; overflow: hidden } .h { clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden }
      .dark { background: #024 } .i { text-indent: -9999px }
    """
    unseen = "".join(f'<div class="{name}"><p>unseen {name}</p></div>' for name in "abcdefghi")
    body = (
        f"<link rel=stylesheet href=/style>{unseen}<p>seen 1</p><p class=dark><b class=e>seen 2</b></p>"
        "<details><summary>seen 3</summary><p>seen 4</p><p class=a>unseen z</p></details>"
        "<span>seen 5</span><p style='margin-top:5000px'>seen 6</p>"
        "<script>window.said = []; new MutationObserver(all => document.title = 'watched')"
        ".observe(document.body, {attributes: true, subtree: true})</script>"
    )
    style = SimResponse(200, (("Content-Type", "text/css"),), sheet.encode())
    fetched = await street.see(doc(f"<!DOCTYPE html>{body}"), style=style)
    lines = VisibleText.of(PageView.of(fetched.body.decode(), "http://one.test/")).lines()
    text = " ".join(lines)
    assert "unseen" not in text
    assert [f"seen {n}" in text for n in range(1, 7)] == [True] * 6


async def test_images_media_fonts_and_frames_are_not_asked_for(street: Street) -> None:
    html = """<p>Hello</p><img src=/i.png><video src=/v.mp4></video><iframe src=/frame></iframe>
      <link rel=icon href=/icon.png><link rel=manifest href=/m.json>
      <style>@font-face{font-family:f;src:url(/f.woff)} p{font-family:f;background:url(/b.png)}</style>
      <script>navigator.sendBeacon('/beacon', 'x'); new Image().src = '/n.gif'; window.open('/popup')</script>"""
    seen = await street.see(doc(html), frame=doc("frame"), popup=doc("popup"))
    assert seen.outcome is Outcome.OK
    assert street.asked == ["one.test/"]
    assert seen.detail is not None
    assert {"image", "media", "font", "frame"} <= set(seen.detail["blocked"])


# Each in a script of its own, so that none keeps the next from trying.
INWARDS = [
    "fetch('http://inner.test/', {mode: 'no-cors'})",
    "fetch('http://127.0.0.1:PORT/', {mode: 'no-cors'})",
    "fetch('/inwards', {mode: 'no-cors'})",
    "document.write('<script src=/inwards?by-script><\\/script>')",
    "document.write('<link rel=stylesheet href=http://inner.test/style>')",
    "document.write('<link rel=preconnect href=http://127.0.0.1:PORT>')",
    "document.write('<link rel=prefetch href=http://inner.test/prefetch>')",
    "new WebSocket('ws://inner.test/')",
    "new WebSocket('ws://127.0.0.1:PORT/')",
    "new EventSource('http://inner.test/events')",
    "new Worker(URL.createObjectURL(new Blob(['fetch(\"http://inner.test/worker\")'])))",
    "window.open('http://inner.test/')",
    "fetch('http://169.254.169.254/latest/meta-data/', {mode: 'no-cors'})",
    "CALL",
]


@pytest.mark.parametrize(
    "sources", [INWARDS, ["location = 'http://127.0.0.1:PORT/'"]], ids=["staying", "leaving"]
)
async def test_no_page_reaches_our_own_network(street: Street, sources: list[str]) -> None:
    inner = street.inner
    ports = {"CALL": CALL, "PORT": str(inner.port), "UDP": str(inner.udp_port)}
    scripts = "</script><script>".join([*sources, "document.body.append('all were tried')"])
    for name, value in ports.items():
        scripts = scripts.replace(name, value)
    seen = await street.see(script(scripts), inwards=redirect("http://inner.test/"))
    assert seen.outcome in (Outcome.OK, Outcome.REDIRECTED)
    assert b"all were tried" in seen.body or sources is not INWARDS
    assert (inner.connections, inner.datagrams) == (0, 0)


async def test_what_was_refused_is_told(street: Street) -> None:
    seen = await street.see(script("new WebSocket('ws://inner.test/'); fetch('http://10.1.2.3/')"))
    assert seen.detail is not None
    assert seen.detail["hosts"]["inner.test"]["refused"] == 1
    assert any("inner.test" in refusal for refusal in seen.detail["refusals"])


@pytest.mark.parametrize(
    "href", ["http://inner.test/", "http://127.0.0.1:9/", "http://[::1]/", "x"]
)
async def test_a_page_at_a_refused_address_is_not_asked_for(street: Street, href: str) -> None:
    unused = permit()
    seen = await street.provider.fetch(href, unused)
    assert seen.outcome is Outcome.REFUSED_ADDRESS
    assert seen.error_type == "refused_address"
    assert not unused.used_at
    assert street.inner.connections == 0


@pytest.mark.parametrize(
    "location", ["/next", "http://two.test/", "http://inner.test/", "http://169.254.169.254/"]
)
async def test_a_redirect_is_reported_and_not_followed(street: Street, location: str) -> None:
    seen = await street.see(redirect(location), next=doc("next"))
    assert (seen.outcome, seen.status, seen.location) == (Outcome.REDIRECTED, 302, location)
    assert street.asked == ["one.test/"]
    assert street.inner.connections == 0


@pytest.mark.parametrize(
    "html, host",
    [
        ("<script>location = '{}'</script>Hello", "two"),
        more("Hello<script>onload = () => location.replace('{}')</script>", "one"),
        more("<meta http-equiv=refresh content='0;url={}'>Hello", "two"),
        more("<a href='{}'>x</a><script>document.links[0].click()</script>", "one"),
        ("<form action='{}'></form><script>document.forms[0].submit()</script>", "two"),
    ],
)
async def test_where_a_page_goes_by_itself_is_a_redirect(
    street: Street, html: str, host: str
) -> None:
    target = f"http://{host}.test/there"
    seen = await street.see(doc(html.format(target)))
    assert seen.outcome is Outcome.REDIRECTED
    assert (seen.location or "").removesuffix("?") == target
    assert street.asked == ["one.test/"]
    assert seen.body == b""


@pytest.mark.parametrize(
    "html",
    [
        "Hello<script>location = '#part'</script>",
        more("Hello<script>history.pushState({}, '', '/elsewhere')</script>"),
        more("Hello<meta http-equiv=refresh content='0'>"),
        "Hello<form method=post action=/x></form><script>document.forms[0].submit()</script>",
    ],
)
async def test_a_page_that_stays_is_kept(street: Street, html: str) -> None:
    seen = await street.see(doc(html))
    assert seen.outcome is Outcome.OK
    assert b"Hello" in seen.body
    assert street.asked == ["one.test/"]


async def test_a_page_that_empties_itself_is_not_taken_for_the_sites(street: Street) -> None:
    seen = await street.see(doc("Hello<script>location = 'about:blank'</script>"))
    assert seen.outcome is Outcome.EMPTY


@pytest.mark.parametrize(
    "answer, outcome",
    [
        (doc("gone", status=404), Outcome.NOT_FOUND),
        (doc("denied", status=403), Outcome.BLOCKED),
        more(doc("later", ("Retry-After", "7"), status=429), Outcome.BLOCKED),
        more(doc("password", ("WWW-Authenticate", "Basic realm=x"), status=401), Outcome.BLOCKED),
        (doc("broken", status=500), Outcome.ERROR),
        more(plain(200, "text"), Outcome.NOT_HTML),
        (SimResponse(200, (("Content-Type", "application/pdf"),), b"%PDF-1.7"), Outcome.NOT_HTML),
        more(doc("x", ("Content-Disposition", "attachment")), Outcome.OK),
        more(SimResponse(200, (), b"<html>untyped"), Outcome.OK),
        more(SimResponse(200, (), b"\x00\x01\x02"), Outcome.NOT_HTML),
        (doc(""), Outcome.EMPTY),
        more(doc("x", ("X-Odd", "a"), ("X-Odd", "b")), Outcome.OK),
        (SimResponse(200, (("Content-Type", "text/html"),), b"part", claimed_length=999, ending=Ending.CLOSE),
         Outcome.ERROR),
        more(SimResponse(200, (("Content-Type", "text/html"),), b"part", claimed_length=999, ending=Ending.RESET),
         Outcome.ERROR),
    ],
)  # fmt: skip
async def test_answers_have_the_same_names_as_by_http(
    street: Street, answer: SimResponse, outcome: Outcome
) -> None:
    seen = await street.see(answer)
    assert seen.outcome is outcome
    assert len(street.asked) == 1
    if answer.status == 429:
        assert seen.retry_after == 7
    if answer.status in (403, 404):
        assert seen.body == answer.body


async def test_no_site_is_shown_the_credential_of_the_proxy(street: Street) -> None:
    shown: list[str | None] = []

    def answer(request: Request) -> SimResponse:
        shown.append(request.headers.get("authorization"))
        return doc("x", ("WWW-Authenticate", "Basic realm=messor"), status=401)

    await street.see(answer)
    assert shown == [None]


async def test_no_cookie_outlives_its_render(street: Street) -> None:
    await street.see(doc("x", ("Set-Cookie", "a=1; Max-Age=9999")))
    cookies: list[str | None] = []

    def answer(request: Request) -> SimResponse:
        cookies.append(request.headers.get("cookie"))
        return doc("x")

    await street.see(answer)
    assert cookies == [None]


@pytest.mark.parametrize(
    "source",
    [
        "document.body.append('\\u20ac'.repeat(150000))",
        more("document.body.append('x'.repeat(300000))"),
    ],
)
async def test_a_document_that_grows_too_large_is_refused(street: Street, source: str) -> None:
    seen = await street.see(script(source))
    assert (seen.outcome, seen.error_type) == (Outcome.TOO_LARGE, "too_large")


async def test_an_endless_page_is_too_large(street: Street) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"<p>more</p>" * 1000

    async with street.browser(traffic_bytes=1_000_000) as browser:
        headers = (("Content-Type", "text/html"),)
        seen = await street.see(SimResponse(200, headers, stream=Stream(endless)), by=browser)
    assert seen.outcome is Outcome.TOO_LARGE


async def test_requests_of_a_page_are_limited(street: Street) -> None:
    source = "for (let n = 0; n < 20; n++) { fetch('/x?' + n); fetch('http://two.test/?' + n) }"
    async with street.browser(requests_here=3, requests_elsewhere=5) as browser:
        seen = await street.see(script(source), by=browser, x=plain(200, "x"))
    assert seen.outcome is Outcome.OK
    hosts = [path.partition("/")[0] for path in street.asked]
    assert hosts.count("one.test") == 1 + 3
    assert hosts.count("two.test") == 5
    assert seen.detail is not None
    assert seen.detail["limit"] in ("requests_here", "requests_elsewhere")


async def test_bytes_of_parts_are_limited_and_the_page_is_kept(street: Street) -> None:
    source = "onload = () => fetch('/big')"
    big = SimResponse(200, (("Content-Type", "text/plain"),), b"x" * 1_000_000)
    async with street.browser(traffic_bytes=100_000) as browser:
        seen = await street.see(script(source), by=browser, big=big)
    assert seen.outcome is Outcome.OK
    assert seen.detail is not None
    assert seen.detail["limit"] == "bytes"


async def test_the_lane_waits_from_the_end_of_the_render(street: Street) -> None:
    served: list[float] = []

    def part(_request: Request) -> SimResponse:
        served.append(clock.now())
        return plain(200, "x")

    pace = Pace(10.0, 0.0, WorkerLease(1, 60.0, clock.now()))
    once = Permit(pace)
    street.furnish(script("onload = () => setTimeout(() => fetch('/part'), 20)"), part=part)
    seen = await street.provider.fetch("http://one.test/", once)
    assert street.asked == ["one.test/", "one.test/part"]
    assert once.used_at < served[0] <= pace.due - pace.delay <= clock.now()
    assert seen.sent_at == seen.began_at == once.used_at
    assert seen.duration > 0


async def test_without_a_lease_nothing_is_asked(street: Street) -> None:
    street.furnish(doc("x"))
    late = Permit(Pace(0.0, 0.0, WorkerLease(1, 1.0, clock.now() - 2)))
    with pytest.raises(LeaseLostError):
        await street.provider.fetch("http://one.test/", late)
    assert street.asked == []


async def test_a_permit_is_good_for_one_render(street: Street) -> None:
    street.furnish(doc("x"))
    once = permit()
    await street.provider.fetch("http://one.test/", once)
    with pytest.raises(LeaseLostError):
        await street.provider.fetch("http://one.test/", once)
    assert street.asked == ["one.test/"]


@pytest.mark.parametrize(
    "html", [HANG, more("Hello<script>setTimeout(() => {while (true) {}}, 50)</script>")]
)
async def test_a_page_that_hangs_is_ended_and_the_next_is_rendered(
    street: Street, html: str
) -> None:
    async with street.browser(render_seconds=8.0, closing_seconds=5.0, contexts=1) as browser:
        seen = await street.see(doc(html), by=browser)
        assert (seen.outcome, seen.error_type) == (Outcome.TIMEOUT, "timeout")
        assert (await street.see(doc("Hello"), by=browser)).outcome is Outcome.OK


async def test_a_site_that_never_answers_is_a_timeout(street: Street) -> None:
    async with street.browser(render_seconds=8.0) as browser:
        seen = await street.see(SimResponse(200, silent=True), by=browser)
    assert (seen.outcome, seen.error) == (Outcome.TIMEOUT, "no complete response in time")


async def test_a_browser_that_hangs_is_killed_and_replaced(street: Street) -> None:
    async with street.browser(render_seconds=8.0, closing_seconds=1.0) as browser:
        street.furnish(doc(HANG))
        render = asyncio.ensure_future(browser.fetch("http://one.test/", permit()))
        await street.until_asked()
        stuck = browser_of(browser)
        home = home_of(browser)
        profile = profile_of(home)
        assert stuck.pid is not None
        os.kill(stuck.pid, signal.SIGSTOP)
        assert (await render).outcome is Outcome.TIMEOUT
        assert (await street.see(doc("Hello"), by=browser)).outcome is Outcome.OK
        assert browser_of(browser).pid != stuck.pid
        await until(lambda: processes_of(home) == [])
        assert not is_there(profile)


async def test_a_browser_that_dies_is_replaced(street: Street) -> None:
    async with street.browser() as browser:
        street.furnish(doc(HANG))
        render = asyncio.ensure_future(browser.fetch("http://one.test/", permit()))
        await street.until_asked()
        pid = browser_of(browser).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        seen = await render
        assert (seen.outcome, seen.error_type) == (Outcome.ERROR, PROVIDER_FAULT)
        assert (await street.see(doc("Hello"), by=browser)).outcome is Outcome.OK


@pytest.mark.wide
async def test_a_driver_that_dies_is_replaced(street: Street) -> None:
    async with street.browser() as browser:
        assert (await street.see(doc("Hello"), by=browser)).outcome is Outcome.OK
        driver = psutil.Process(browser_of(browser)._driver_pid)
        driver.kill()
        await until(lambda: is_over(driver))
        assert (await street.see(doc("Hello"), by=browser)).outcome is Outcome.OK


async def test_a_page_that_crashes_its_process_harms_no_other(street: Street) -> None:
    seen = await street.see(script("let a = []; while (true) a.push(new Array(1e6).fill(1.1))"))
    assert (seen.outcome, seen.error_type) == (Outcome.ERROR, PROVIDER_FAULT)
    assert (await street.see(doc("Hello"))).outcome is Outcome.OK


async def test_a_browser_that_outgrows_its_bounds_is_killed(street: Street) -> None:
    async with street.browser(memory_mb=40) as browser:
        seen = await street.see(doc(HANG), by=browser)
    assert (seen.outcome, seen.error_type) == (Outcome.ERROR, PROVIDER_FAULT)
    assert "80 MB" in (seen.error or "")


@pytest.mark.parametrize("limits", [{"renders": 1}, more({"memory_mb": 200})])
async def test_a_worn_browser_is_replaced(street: Street, limits: dict[str, int]) -> None:
    async with street.browser(**limits) as browser:
        assert (await street.see(doc("Hello"), by=browser)).outcome is Outcome.OK
        first = browser_of(browser).pid
        assert (await street.see(doc("Hello"), by=browser)).outcome is Outcome.OK
        assert browser_of(browser).pid != first


async def test_an_idle_browser_is_closed(street: Street) -> None:
    async with street.browser(idle_seconds=0.0) as browser:
        await street.see(doc("Hello"), by=browser)
        pool = browser.pool
        assert pool is not None
        await until(lambda: pool.chromium is None)


@pytest.mark.wide
async def test_renders_share_one_browser(street: Street) -> None:
    async with street.browser(contexts=2) as browser:
        street.furnish(script("document.body.append('done')"))
        seen = await asyncio.gather(
            *(browser.fetch("http://one.test/", permit()) for _ in range(4))
        )
        assert [one.outcome for one in seen] == [Outcome.OK] * 4
        assert len(street.asked) == 4
        assert browser_of(browser).renders == 4


async def test_a_render_called_off_stops_at_once(street: Street) -> None:
    street.furnish(SimResponse(200, silent=True))
    pace = Pace(10.0, 0.0, WorkerLease(1, 60.0, clock.now()))
    render = asyncio.ensure_future(street.provider.fetch("http://one.test/", Permit(pace)))
    await until(lambda: street.web.server.counters()["open_connections"] > 0)
    await until(lambda: pace.due - clock.now() > 9)
    render.cancel()
    with pytest.raises(asyncio.CancelledError):
        await render
    await until(lambda: street.web.server.counters()["open_connections"] == 0)
    assert (await street.see(doc("Hello"))).outcome is Outcome.OK


async def test_nothing_is_left_after_closing(street: Street) -> None:
    async with street.browser() as browser:
        await street.see(doc("Hello"), by=browser)
        home, tree = home_of(browser), psutil.Process(browser_of(browser)._driver_pid)
        below = [tree, *tree.children(recursive=True)]
        profile = profile_of(home)
    await until(lambda: processes_of(home) == [])
    await until(lambda: all(is_over(one) for one in below))
    assert not is_there(home)
    assert not is_there(profile)


WORKER = """
import asyncio, sys
from messor.fetch.browser import BrowserLimits, BrowserProvider
from messor.settings import Settings
from tests.fetch.conftest import permit

async def main():
    settings = Settings.model_validate_json(sys.argv[1])
    provider = BrowserProvider(settings, BrowserLimits(), "1")
    await provider.fetch("http://one.test/", permit())
    print(provider.pool.chromium._home, flush=True)
    await provider.fetch("http://one.test/hang", permit())

asyncio.run(main())
"""


async def test_nothing_is_left_of_a_worker_that_was_killed(street: Street) -> None:
    street.furnish(doc("Hello"), hang=doc(HANG))
    worker = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        WORKER,
        street.settings.model_dump_json(),
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parent.parent.parent,
    )
    assert worker.stdout is not None
    home = (await worker.stdout.readline()).decode().strip()
    await street.until_asked("one.test/hang")
    assert processes_of(home) != []
    profile = profile_of(home)
    worker.kill()
    await worker.wait()
    await until(lambda: processes_of(home) == [])
    await asyncio.to_thread(chromium_module.remove_stale_homes)
    assert not is_there(home)
    assert not is_there(profile)


async def trust(web: LittleWeb) -> str:
    """The flag that makes Chromium take the certificate of this web."""
    place = ("127.0.0.1", web.server.tls_port or 0)
    pem = await asyncio.to_thread(ssl.get_server_certificate, place)
    key = x509.load_pem_x509_certificate(pem.encode()).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    digest = hashes.Hash(hashes.SHA256())
    digest.update(key.public_bytes(serialization.Encoding.DER, form))
    spki = base64.b64encode(digest.finalize()).decode()
    return f"--ignore-certificate-errors-spki-list={spki}"


async def test_over_tls_the_same_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "fetch('/api').then(a => a.text()).then(t => document.body.append(t))"
    rooms = {
        "/": script(source),
        "/api": plain(200, "from the API"),
        "/away": redirect("https://two.test/"),
        "/here": redirect("/api"),
        "/leave": script("location = 'https://two.test/'"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms, "two.test": {}}, tls=True) as web:
        flags = (*chromium_module.FLAGS, await trust(web))
        monkeypatch.setattr(chromium_module, "FLAGS", flags)
        browser = BrowserProvider(web.settings(), BrowserLimits(settle_seconds=3.0), "1")
        try:
            seen = {
                path: await browser.fetch(f"https://one.test{path}", permit())
                for path in rooms
                if path not in ("/api", "/robots.txt")
            }
        finally:
            await browser.close()
        assert b"from the API" in seen["/"].body
        assert seen["/away"].location == seen["/leave"].location == "https://two.test/"
        assert seen["/here"].location == "/api"
        assert web.paths("two.test") == []
        assert web.paths("one.test") == ["/", "/api", "/away", "/here", "/leave"]


async def test_an_unknown_certificate_is_refused(tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": doc("x")}}, tls=True) as web:
        browser = BrowserProvider(web.settings(), BrowserLimits(), "1")
        try:
            seen = await browser.fetch("https://one.test/", permit())
        finally:
            await browser.close()
        assert (seen.outcome, seen.error_type) == (Outcome.ERROR, "tls")
        assert web.requests() == []


async def test_without_a_browser_the_advice_is_plain(street: Street, tmp_path: Path) -> None:
    async with street.browser(path=tmp_path / "chromium") as browser:
        unused = permit()
        assert not browser.available
        seen = await browser.fetch("http://one.test/", unused)
    assert (seen.outcome, seen.error_type) == (Outcome.ERROR, PROVIDER_FAULT)
    assert "install messor[browser] and Chromium (apt install chromium)" in (seen.error or "")
    assert not unused.used_at


async def test_a_program_that_is_no_browser_is_told_of(street: Street) -> None:
    async with street.browser(path=Path("/bin/false")) as browser:
        seen = await browser.fetch("http://one.test/", permit())
    assert seen.error_type == PROVIDER_FAULT
    assert "Chromium could not be started" in (seen.error or "")


async def test_playwright_is_loaded_only_when_needed() -> None:
    check = "import sys, messor.fetch.browser; sys.exit('playwright' in sys.modules)"
    worker = await asyncio.create_subprocess_exec(sys.executable, "-c", check)
    assert await worker.wait() == 0
