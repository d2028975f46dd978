"""What a program does with the client: lists, decisions, exports, the feed, watches; and its errors."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from messor.access.ratelimits import Limit
from messor.access.roles import Role
from messor_client import AsyncClient, Client, FileCursor, Retries, errors
from tests.client.conftest import Installation
from tests.listening import listen


def test_lists_follow_their_cursors(messor: Client) -> None:
    every = [page.url for page in messor.list_pages(domain="one.test", kind="page")]
    assert "http://one.test/kettle" in every
    assert [p.url for p in messor.list_pages(domain="one.test", kind="page", limit=1)] == every
    first, *_ = messor.list_pages(domain="one.test", kind="page", limit=1).pages()
    rest = messor.list_pages(domain="one.test", kind="page", cursor=first.next)
    assert [page.url for page in rest] == every[1:]
    assert messor.list_pages(domain="absent.test").first() is None


async def test_the_asynchronous_client_gives_the_same(installation: Installation) -> None:
    key = await asyncio.to_thread(installation.key)
    async with AsyncClient(key, installation.url) as messor:
        pages = [page async for page in messor.list_pages(domain="one.test", limit=2)]
        assert await messor.show_page(pages[0].id) == pages[0]
        assert (await messor.explain("http://one.test/private/x")).verdict == "denied"
        with pytest.raises(errors.NotFoundError):
            await messor.show_record(10**9)
        entries = [
            entry
            async for batch in messor.follow_changes(wait=0, forever=False, limit=3)
            for entry in batch.items
        ]
    with Client(key, installation.url) as other:
        again = await asyncio.to_thread(lambda: list(other.list_pages(domain="one.test")))
        assert again == pages
        batches = await asyncio.to_thread(
            lambda: list(other.follow_changes(wait=0, forever=False, limit=1000))
        )
        assert [entry for batch in batches for entry in batch.items] == entries


def test_a_domain_is_submitted_approved_and_explained(messor: Client) -> None:
    submitted = messor.submit_domain("new.test", context="A shop", max_crawl_depth=2)
    assert submitted.domain.status == "pending_review"
    messor.add_note("new.test", "looks fine")
    decided = messor.approve_domain("new.test", uses=["search"])
    assert (decided.domain.status, decided.domain.max_crawl_depth) == ("approved", 2)
    why = messor.explain("http://one.test/private/x")
    assert why.verdict == "denied"
    assert any("disallow" in fact.sentence for fact in why.facts if fact.says == "no")
    kept = messor.list_pages(q="about", kept=True).first()
    assert kept is not None
    assert kept.snapshot_id is not None
    assert "About us" in messor.show_markdown(kept.snapshot_id)
    assert b"<title>About us" in messor.download_html(kept.snapshot_id)


def test_watches_and_products(messor: Client) -> None:
    assert list(messor.list_products(domain="one.test")) == []  # nothing was extracted yet
    condition = {"when": "falls", "field": "price", "percent": 10}
    made = messor.add_watch("Cheaper", "products", condition, channel="feed")
    assert made.token
    assert [watch.id for watch in messor.list_watches()] == [made.watch.id]
    assert messor.show_preview(made.watch.id) is not None
    assert messor.switch_watch(made.watch.id, is_active=True).is_active
    messor.remove_watch(made.watch.id)
    assert list(messor.list_watches()) == []


def test_problems_are_typed(installation: Installation, messor: Client) -> None:
    with pytest.raises(errors.NotFoundError) as missing:
        messor.show_domain("absent.test")
    assert (missing.value.status, missing.value.code) == (404, "not_found")
    assert len(missing.value.request_id) > 8
    with pytest.raises(errors.InvalidRequestError) as invalid:
        messor.submit_domain("new.test", max_crawl_depth=-1)
    assert invalid.value.errors[0]["where"] == ["body", "max_crawl_depth"]
    with pytest.raises(errors.ConflictError):
        messor.approve_domain("one.test")
    with (
        installation.client(Role.VIEWER) as viewer,
        pytest.raises(errors.ForbiddenError, match=r"\w"),
    ):
        viewer.submit_domain("new.test")
    with Client("messor_wrong", installation.url) as stranger:
        with pytest.raises(errors.UnauthenticatedError):
            stranger.list_domains().first()
    with Client(base_url="http://127.0.0.1:1", retries=Retries(times=0)) as nobody:
        with pytest.raises(errors.UnreachableError, match="/api/v1/health/live"):
            nobody.is_alive()


def test_a_used_up_limit_says_when_to_come_back(installation: Installation) -> None:
    assert installation.served.app is not None
    context = installation.served.app.state.context
    context.limits = replace(context.limits, known=Limit(2, timedelta(hours=1)))
    slept: list[float] = []
    with installation.client(sleep=slept.append, retries=Retries(seconds=5)) as client:
        client.who_am_i()
        client.who_am_i()
        with pytest.raises(errors.RateLimitedError) as limited:
            client.who_am_i()
    assert limited.value.retry_after is not None
    assert limited.value.retry_after > 5  # longer than it may wait, so it does not
    assert slept == []


def test_an_expired_cursor_has_its_own_error() -> None:
    error = errors.error_of(410, {"code": "cursor_expired", "detail": "Read the lists anew."})
    assert isinstance(error, errors.CursorExpiredError)
    assert str(error) == "Read the lists anew."


def test_an_export_arrives_whole(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "pages.jsonl"
    with installation.client(sleep=lambda _: installation.work()) as client:
        export = client.export("pages", target, format="jsonl", filters={"domain": "one.test"})
        lines = target.read_text().splitlines()
        assert export.rows == len(lines) > 3
        # An interrupted download continues where it ended.
        whole = target.read_bytes()
        target.with_name("pages.jsonl.part").write_bytes(whole[:40])
        asked = _ranges(client, monkeypatch)
        client.download(export, target)
        assert asked == ["bytes=40-"]
        assert target.read_bytes() == whole
        # What differs from the export is not taken.
        target.with_name("pages.jsonl.part").write_bytes(b"x" * 40)
        with pytest.raises(errors.ExportFailedError, match="differs"):
            client.download(export, target)
        assert target.read_bytes() == whole
        client.download(export, target)


def _ranges(client: Client, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []
    stream = client._http.stream

    def watched(**how: object) -> object:
        headers = how["headers"]
        assert isinstance(headers, dict)
        asked.append(headers.get("Range", ""))
        return stream(**how)  # type: ignore[arg-type]

    monkeypatch.setattr(client._http, "stream", watched)
    return asked


def test_the_feed_continues_at_the_stored_cursor_and_tells_what_was_erased(
    messor: Client, tmp_path: Path
) -> None:
    store = FileCursor(tmp_path / "cursor")
    first = list(messor.follow_changes(store, wait=0, forever=False, limit=2))
    subjects = {change.subject for batch in first for change in batch.statements}
    assert len(first) > 1
    assert subjects
    assert list(messor.follow_changes(store, wait=0, forever=False)) == []
    messor.erase("url", "http://one.test/about", "asked to")
    (batch,) = messor.follow_changes(store, wait=0, forever=False)
    assert {change.subject for change in batch.tombstones} & subjects
    # A batch whose loop was left counts as unread.
    for seen in messor.follow_changes(FileCursor(tmp_path / "other"), wait=0):
        assert seen.items
        break
    assert FileCursor(tmp_path / "other").load() is None


class Flaky(BaseHTTPRequestHandler):
    """A stub: refuses twice with Retry-After, then answers; speaks the API's own problems."""

    refusals = 2
    keys: tuple[str | None, ...] = ()

    def do_GET(self) -> None:
        type(self).keys = (*self.keys, self.headers.get("Idempotency-Key"))
        is_refused = len(self.keys) <= self.refusals
        body = {"code": "busy", "detail": "Busy.", "retryable": True} if is_refused else {
            "status": "alive"
        }  # fmt: skip
        text = json.dumps(body).encode()
        self.send_response(503 if is_refused else 200)
        self.send_header("Retry-After", "3")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_PATCH = do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def flaky() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Flaky)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Flaky.keys = ()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_retry_after_is_honoured() -> None:
    slept: list[float] = []
    with flaky() as url, Client(base_url=url, sleep=slept.append) as client:
        client.is_alive()
        assert slept == [3.0, 3.0]
    with flaky() as url, Client(base_url=url, sleep=slept.append, retries=Retries(times=1)) as one:
        with pytest.raises(errors.UnavailableError, match=r"Busy\.") as busy:
            one.is_alive()
        assert busy.value.retryable
    assert slept == [3.0, 3.0, 3.0]


def test_an_answer_that_is_not_ours_is_said_to_be_so() -> None:
    with flaky() as url, Client(base_url=url, sleep=lambda _: None) as client:
        with pytest.raises(errors.UnreachableError, match="check the base URL"):
            client.show_domain("one.test")


@contextmanager
def losing_first_answers(target: str) -> Iterator[str]:
    """A relay that hangs up instead of passing on the first response."""
    listening = listen()
    host, port = target.removeprefix("http://").split(":")
    is_over = threading.Event()

    def relay() -> None:
        is_first = True
        while not is_over.is_set():
            try:
                near, _ = listening.accept()
            except OSError:
                return
            with near, socket.create_connection((host, int(port))) as far:
                far.sendall(_request_of(near))
                answer = b"".join(iter(lambda: far.recv(65536), b""))
                if not is_first:
                    near.sendall(answer)
                is_first = False

    thread = threading.Thread(target=relay)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        is_over.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


def _request_of(connection: socket.socket) -> bytes:
    text = b""
    while b"\r\n\r\n" not in text:
        text += connection.recv(65536)
    head, _, body = text.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\nConnection: close\r\n\r\n" + body


def test_a_request_whose_answer_was_lost_takes_effect_once(
    installation: Installation, messor: Client
) -> None:
    with losing_first_answers(installation.url) as url:
        with Client(installation.key(), url, sleep=lambda _: None) as client:
            client.add_note("one.test", "said once")
    assert [note.body for note in messor.list_notes("one.test")] == ["said once"]
