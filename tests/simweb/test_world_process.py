"""The simulated web in a process of its own."""

import http.client
import json
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from messor.settings import Settings
from simweb import WorldProcess


def ask(world: WorldProcess, host: str, path: str = "/") -> int:
    connection = http.client.HTTPConnection(world.names[f"{host}:80"], timeout=60)
    try:
        connection.request("GET", path, headers={"Host": host})
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def test_it_starts_answers_logs_and_stops(tmp_path: Path) -> None:
    log_file = tmp_path / "log.tsv"
    with WorldProcess("bench", hosts=2, pages=5, page_bytes=8_000, log_file=log_file) as world:
        pid = world.pid
        host = world.sites[0]["host"]
        assert ask(world, host) == 200
        assert ask(world, host, "/robots.txt") == 200
        world.set_epoch(2)
        assert world.counters()["epoch"] == 2
        assert [request.path for request in world.requests()] == ["/", "/robots.txt"]
        assert world.ca_file is None
    assert len(world.requests()) == 2, "the log outlives the process"
    assert not Path(f"/proc/{pid}").exists()


def test_the_fast_loop_resets_delays_and_encrypts() -> None:
    """The process runs on another event loop than the tests do: what differs is seen here."""
    pytest.importorskip("cryptography")
    with WorldProcess("demo", jitter_ms=40) as world:
        with pytest.raises(ConnectionResetError):
            ask(world, "reset.test", "/flawed")
        context = ssl.create_default_context(cafile=world.ca_file)
        address, port = world.names["riverside-clinic.test:443"].split(":")
        with (
            socket.create_connection((address, int(port)), timeout=60) as bare,
            context.wrap_socket(bare, server_hostname="riverside-clinic.test") as secure,
        ):
            secure.sendall(b"GET / HTTP/1.1\r\nHost: riverside-clinic.test\r\n\r\n")
            assert secure.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")
        assert [request.status for request in world.requests()] == [200, 200]


def test_its_settings_are_messors(monkeypatch: pytest.MonkeyPatch) -> None:
    with WorldProcess("chaos", hosts=3, pages=2) as world:
        names, ports = world.names, world.ports
        for name, value in world.settings_env().items():
            monkeypatch.setenv(name, value)
    allowed = Settings().allowed_networks
    assert allowed.names == names
    assert allowed.ports == ports
    assert allowed.addresses == ["127.0.0.0/8"]


def test_it_ends_when_its_stdin_closes() -> None:
    command = [sys.executable, "-m", "simweb", "--profile", "chaos", "--hosts", "2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        said = json.loads(child.stdout.readline())
        child.stdin.close()
        assert child.wait(60) == 0
    assert set(said) == {
        "port", "tls_port", "control", "names", "ca_file", "sites", "search_engines",
    }  # fmt: skip
    assert set(said["sites"][0]) == {"host", "domain", "kind", "start_url", "pages"}
