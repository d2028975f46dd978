"""Real object stores for tests: moto's server, and rclone's, which ignores conditions and ranges."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

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
