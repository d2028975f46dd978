"""Names that the server answers to, and those that it refuses with a sentence."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from messor.runtime.server.hosts import HostNames, console_url
from messor.settings import Settings
from tests.runtime.conftest import Open, ask


def accepts(header: str, local_address: str | None = None, **settings: Any) -> bool:
    return HostNames(Settings(**settings)).accept(header, local_address=local_address)


@pytest.mark.parametrize(
    "header",
    ["localhost", "LOCALHOST:8321", "127.0.0.1:8321", "127.3.2.1", "[::1]:80", "localhost."],
)
def test_loopback_needs_no_setting(header: str) -> None:
    assert accepts(header)


@pytest.mark.parametrize(
    "header",
    ["evil.example", "evil.example:8321", "10.1.2.3", "127.0.0.1.evil.example", "localhost.evil.example",
     "a@localhost", "localhost/..", "local host", "", "[::1", "localhost:99999999"],
)  # fmt: skip
def test_other_names_are_refused(header: str) -> None:
    assert not accepts(header, "192.168.1.5")


def test_the_public_url_and_named_hosts_are_accepted() -> None:
    public: dict[str, Any] = {"public_url": "https://Messor.example.org:8443/"}
    assert accepts("messor.example.org", **public)
    assert not accepts("example.org", **public)
    named: dict[str, Any] = {
        "allowed_hosts": ["harvest.internal", "*.example.net", "[2001:db8::1]"]
    }
    for header in ("harvest.internal:8321", "a.b.example.net", "[2001:db8::1]:8321"):
        assert accepts(header, **named)
    assert not accepts("example.net", **named)
    assert accepts("anything.example", allowed_hosts=["*"])


def test_the_address_a_connection_came_in_on_is_accepted() -> None:
    assert accepts("192.168.1.5:8321", "192.168.1.5", listen_host="0.0.0.0")
    assert not accepts("192.168.1.6:8321", "192.168.1.5", listen_host="0.0.0.0")
    assert accepts("messor.lan", "192.168.1.5", listen_host="messor.lan")


def test_the_console_is_found_where_the_settings_say() -> None:
    assert console_url(Settings(listen_host="::1"), 9) == "http://[::1]:9"
    assert console_url(Settings(public_url="https://m.example")) == "https://m.example"


async def test_the_server_says_what_to_set(open_doors: Open) -> None:
    port = await open_doors(allowed_hosts=["good.example"])
    head = b"GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
    for name in (b"good.example", b"localhost", b"127.0.0.1:%d" % port):
        assert b" 200 " in (await ask(port, head % (b"/login", name))).splitlines()[0]
    refused = await ask(port, head % (b"/login", b"evil.example"))
    assert b" 421 " in refused.splitlines()[0]
    assert b"MESSOR_ALLOWED_HOSTS" in refused
    api = await ask(port, head % (b"/api/v1/health/live", b"evil.example"))
    assert msgspec.json.decode(api.partition(b"\r\n\r\n")[2])["code"] == "unknown_host"
    missing = await ask(port, b"GET /login HTTP/1.0\r\n\r\n")
    assert b" 400 " in missing.splitlines()[0]


async def test_plain_health_checks_need_no_host(open_doors: Open) -> None:
    """Load balancers ask in HTTP/1.0, which knows no Host header."""
    port = await open_doors(allowed_hosts=["good.example"])
    for path in (b"/api/v1/health/live", b"/api/v1/health/ready"):
        answer = await ask(port, b"GET %s HTTP/1.0\r\n\r\n" % path)
        assert b" 200 " in answer.splitlines()[0]
        assert msgspec.json.decode(answer.partition(b"\r\n\r\n")[2])["status"] == "ok"


@pytest.mark.parametrize(
    "request_, status",
    [
        (b"GET /api/v1/health HTTP/1.0", 400),
        (b"GET /api/v1/health/live/ HTTP/1.0", 400),
        (b"GET /api/v1/health/live/../../domains HTTP/1.0", 400),
        (b"GET /login HTTP/1.0", 400),
        (b"GET /api/v1/health/live HTTP/1.1\r\nConnection: close", 400),
        (b"GET /api/v1/health/live HTTP/1.0\r\nHost: evil.example", 421),
        (b"GET /api/v1/health/live HTTP/1.0\r\nHost: a@b", 400),
        (b"GET /api/v1/health/live HTTP/1.0\r\nHost: localhost\r\nHost: localhost", 400),
    ],
)
async def test_all_else_needs_one(open_doors: Open, request_: bytes, status: int) -> None:
    port = await open_doors()
    answer = await ask(port, request_ + b"\r\n\r\n")
    assert b" %d " % status in answer.splitlines()[0]
