"""A rendered page's requests are signed through the browser's own interface, hop by hop."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from messor.fetch.browser import BrowserLimits, BrowserProvider, why_unavailable
from messor.fetch.identity.message_signatures import HttpMessage, verify
from messor.fetch.identity.signer import RequestKey, RequestSigner
from messor.fetch.outcome import Outcome
from simweb.answers import Request, SimResponse, redirect
from tests.fetch.conftest import permit
from tests.little_web import LittleWeb, Room

MISSING = why_unavailable(BrowserLimits())
pytestmark = pytest.mark.skipif(MISSING is not None, reason=MISSING or "")
PRIVATE = Ed25519PrivateKey.generate()
KEY = RequestKey.of(3, PRIVATE)
PUBLIC = {KEY.name: PRIVATE.public_key().public_bytes_raw()}
HTML = """<!DOCTYPE html><title>T</title><p id=p>Hello</p><script src="/moved.js"></script>
<script>
fetch("http://two.test/data").then(r => r.text()).then(t => { p.textContent += " " + t })
</script>"""


async def test_a_render_signs_what_it_asks_its_own_site_for(tmp_path: Path) -> None:
    asked: list[Request] = []

    def seen(status: int, media: str, body: bytes) -> Room:
        def respond(request: Request) -> SimResponse:
            asked.append(request)
            headers = (("Content-Type", media), ("Access-Control-Allow-Origin", "*"))
            return SimResponse(status, headers, body)

        return respond

    def moved(request: Request) -> SimResponse:
        asked.append(request)
        return redirect("/script.js")

    script = b"p.textContent += ' script'"
    rooms = {
        "/": seen(200, "text/html", HTML.encode()),
        "/moved.js": moved,
        "/script.js": seen(200, "text/javascript", script),
    }
    other = {"/data": seen(200, "text/plain", b"elsewhere")}
    signer = RequestSigner("https://bot.example")
    signer.use(KEY)
    async with LittleWeb(tmp_path, {"one.test": rooms, "two.test": other}) as web:
        provider = BrowserProvider(web.settings(), BrowserLimits(), "1", signer)
        try:
            fetched = await provider.fetch("http://one.test/", permit())
        finally:
            await provider.close()
    assert fetched.outcome is Outcome.OK
    assert b"Hello script elsewhere" in fetched.body or b"Hello elsewhere script" in fetched.body
    by_path = {f"{one.host}{one.path}": one for one in asked}
    for path in ("one.test/", "one.test/moved.js", "one.test/script.js"):
        message = HttpMessage(f"http://{path}", by_path[path].headers)
        verify(message, PUBLIC, tag="web-bot-auth", now=int(time.time()))
    assert "signature" not in by_path["two.test/data"].headers
    assert fetched.signed_by == 3
