"""Debian's squid, tinyproxy and dante on loopback, each with its configuration in a folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

USER, PASSWORD = "ant", "s3same"
SQUID, TINYPROXY, DANTE = "/usr/sbin/squid", "/usr/bin/tinyproxy", "/usr/sbin/danted"
PACKAGES = {SQUID: "squid", TINYPROXY: "tinyproxy", DANTE: "dante-server"}
PATIENCE = 30.0
NOBODY = "nobody"  # who runs them where the tests run as root: they refuse to, or ask for it


def needs(program: str) -> pytest.MarkDecorator:
    reason = f"{program} is not installed: apt-get install {PACKAGES[program]}"
    return pytest.mark.skipif(not Path(program).exists(), reason=reason)


@contextmanager
def squid() -> Iterator[int]:
    """With its stock rule that CONNECT leads to some ports alone; here, to any above 1023."""
    config = """
http_port 127.0.0.1:{port}
auth_param basic program /usr/lib/squid/basic_ncsa_auth {folder}/passwords
auth_param basic credentialsttl 1 minute
acl known proxy_auth REQUIRED
acl SSL_ports port 443 1024-65535
acl CONNECT method CONNECT
http_access deny CONNECT !SSL_ports
http_access allow known
http_access deny all
cache deny all
access_log none
cache_log {folder}/cache.log
pid_filename none
coredump_dir {folder}
visible_hostname localhost
pinger_enable off
shutdown_lifetime 0 seconds
max_filedescriptors 256
"""
    digest = subprocess.run(
        ["openssl", "passwd", "-apr1", PASSWORD], check=True, capture_output=True, text=True
    ).stdout.strip()
    files = {"passwords": f"{USER}:{digest}\n", "config": config}
    with _running([SQUID, "-N", "-d", "1", "-f", "{folder}/config"], files) as port:
        yield port


@contextmanager
def tinyproxy() -> Iterator[int]:
    config = f"""
Port {{port}}
Listen 127.0.0.1
Timeout 20
LogLevel Warning
Allow 127.0.0.1
BasicAuth {USER} {PASSWORD}
"""
    with _running([TINYPROXY, "-d", "-c", "{folder}/config"], {"config": config}) as port:
        yield port


@contextmanager
def dante(method: str = "none") -> Iterator[int]:
    """`username` knows the machine's users, so it refuses everybody else."""
    config = f"""
logoutput: {{folder}}/log
internal: 127.0.0.1 port = {{port}}
external: lo
clientmethod: none
socksmethod: {method}
user.privileged: {_user()}
user.unprivileged: {_user()}
client pass {{{{ from: 127.0.0.0/8 to: 0.0.0.0/0 }}}}
socks pass {{{{ from: 127.0.0.0/8 to: 0.0.0.0/0 }}}}
"""
    with _running([DANTE, "-f", "{folder}/config"], {"config": config}) as port:
        yield port


def _user() -> str:
    return NOBODY if os.getuid() == 0 else os.environ.get("USER", NOBODY)


@contextmanager
def _running(words: list[str], files: dict[str, str]) -> Iterator[int]:
    """A server in the foreground, until the context ends."""
    port = _free_port()
    folder = Path(tempfile.mkdtemp(prefix="proxy-"))
    try:
        for name, text in files.items():
            (folder / name).write_text(text.format(port=port, folder=folder))
        who = {}
        if os.getuid() == 0:
            who = {"user": NOBODY, "group": "nogroup", "extra_groups": []}
            for place in (folder, *folder.iterdir()):
                shutil.chown(place, NOBODY)
        command = [word.format(folder=folder) for word in words]
        with (folder / "said").open("wb") as said:
            process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, **who)  # type: ignore[call-overload]
        try:
            _wait_for(port, process, folder)
            yield port
        finally:
            process.kill()  # tinyproxy would wait for its connections to end
            process.wait(PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"It did not start: {(folder / 'said').read_text(errors='replace')[-2000:]}")
