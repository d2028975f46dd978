"""Real object stores for tests: moto's server, and rclone's, which ignores conditions and ranges."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from messor.archive.objects import ObjectStore, StoreOptions, open_store

KEY_ID, SECRET, BUCKET = "messor-key", "messor-secret", "pages"
PATIENCE = 60.0


@contextlib.contextmanager
def moto() -> Iterator[StoreOptions]:
    """An S3 server that keeps to the rules."""
    port = _free_port()
    code = "import sys; from moto.server import main; main(sys.argv[1:])"
    with _server([sys.executable, "-W", "ignore", "-c", code, "-H", "127.0.0.1", "-p", str(port)]):
        endpoint = f"http://127.0.0.1:{port}"
        _wait_for(endpoint)
        _make_bucket(endpoint)
        yield StoreOptions(endpoint=endpoint, key_id=KEY_ID, secret=SECRET)


@contextlib.contextmanager
def rclone(folder: Path) -> Iterator[StoreOptions]:
    """An S3 server that overwrites silently and answers ranges with everything."""
    port = _free_port()
    (folder / BUCKET).mkdir(parents=True)
    program = Path(sys.executable).parent / "rclone"
    command = [str(program), "serve", "s3", "--addr", f"127.0.0.1:{port}"]
    command += ["--auth-key", f"{KEY_ID},{SECRET}", "--config", os.devnull, str(folder)]
    with _server(command):
        endpoint = f"http://127.0.0.1:{port}"
        _wait_for(endpoint)
        yield StoreOptions(endpoint=endpoint, key_id=KEY_ID, secret=SECRET)


class Fault(StrEnum):
    """What happens to a request on its way."""

    BUSY = "busy"  # 503, and the server never hears of it
    ANSWER_LOST = "answer lost"  # the server does it; the connection breaks before the answer
    SLOW = "slow"
    FORGOTTEN = "forgotten"  # 200, and the server never hears of it


class _Line(BaseHTTPRequestHandler):
    """Passes requests on, with what happens to them on the way."""

    protocol_version = "HTTP/1.1"
    target = ""
    faults: ClassVar[list[tuple[str, Fault]]] = []
    sent: ClassVar[list[dict[str, str]]] = []

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.command == "PUT":
            said = {name.lower(): value for name, value in self.headers.items()}
            self.sent.append({**said, "path": self.path})
        fault = next((fault for method, fault in self.faults if method == self.command), None)
        if fault is not None:
            self.faults.remove((self.command, fault))
        if fault is Fault.BUSY:
            self._answer(503, {}, b"<Error><Code>SlowDown</Code></Error>")
            return
        if fault is Fault.FORGOTTEN:
            self._answer(200, {"ETag": '"0123"'}, b"")
            return
        if fault is Fault.SLOW:
            time.sleep(1)
        target = HTTPConnection(self.target, timeout=PATIENCE)
        target.request(self.command, self.path, body, dict(self.headers))
        response = target.getresponse()
        content = response.read()
        target.close()
        if fault is Fault.ANSWER_LOST:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self._answer(response.status, dict(response.headers), content)

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _pass_on  # noqa: N815 - the library's names

    def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        length = headers.get("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        self.wfile.write(content if self.command != "HEAD" else b"")

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def unsteady(
    real: StoreOptions, faults: list[tuple[str, Fault]], sent: list[dict[str, str]] | None = None
) -> Iterator[StoreOptions]:
    """The same server over a bad line: each fault strikes the next request of its method, once.

    `sent` gets the headers of what was put.
    """
    state = {
        "target": urlsplit(str(real.endpoint)).netloc,
        "faults": faults,
        "sent": [] if sent is None else sent,
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Line", (_Line,), state))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield replace(real, endpoint=f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()


def fresh(options: StoreOptions) -> ObjectStore:
    """A store of one test in a bucket that many share."""
    return open_store(f"s3://{BUCKET}/{secrets.token_hex(6)}", options)


def in_memory() -> ObjectStore:
    from obstore.store import MemoryStore  # noqa: PLC0415 - only where it is tested

    return ObjectStore(f"memory://{secrets.token_hex(6)}", MemoryStore())


def on_disk(folder: Path) -> ObjectStore:
    return open_store(f"file://{folder}", StoreOptions())


def has_rclone() -> bool:
    return shutil.which(str(Path(sys.executable).parent / "rclone")) is not None


@contextlib.contextmanager
def _server(command: list[str]) -> Iterator[None]:
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(endpoint: str) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            urllib.request.urlopen(endpoint, timeout=2).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


def _make_bucket(endpoint: str) -> None:
    request = urllib.request.Request(f"{endpoint}/{BUCKET}", method="PUT")
    urllib.request.urlopen(request, timeout=PATIENCE).close()
