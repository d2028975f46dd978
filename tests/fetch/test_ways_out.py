"""Only the permit connector opens connections to sites: every way out of the source is listed."""

from __future__ import annotations

import ast
from pathlib import Path

import aiohttp
import pytest

import messor
from messor.courtesy.pace import PERMIT
from messor.fetch.connector import PermitConnector, make_connector
from messor.fetch.guard import AddressGuard
from messor.fetch.outcome import Outcome
from messor.settings import AllowedNetworks
from messor.world.answers import redirect
from tests.fetch.conftest import Going, permit
from tests.little_web import page

SOURCE = Path(messor.__file__).parent
# Rooms that open connections of their own, to the database and within the simulated web.
EXEMPT = ("store/", "world/")
WAYS_OUT = {
    "ClientSession",
    "TCPConnector",
    "UnixConnector",
    "BaseConnector",
    "PermitConnector",
    "make_connector",
    "socket",
    "create_connection",
    "open_connection",
    "open_unix_connection",
    "create_datagram_endpoint",
    "sock_connect",
    "urlopen",
    "HTTPConnection",
    "HTTPSConnection",
    "request",
}
LIBRARIES = {
    "httpx",
    "requests",
    "urllib3",
    "urllib.request",
    "http.client",
    "pycurl",
    "ftplib",
    "smtplib",
    "telnetlib",
    "websockets",
    "playwright",
}
EXPECTED = {
    ("fetch/connector.py", "PermitConnector"),
    ("fetch/guard.py", "socket"),  # the guarded socket itself
    ("fetch/http.py", "ClientSession"),
    ("fetch/http.py", "make_connector"),
}


def sources() -> list[tuple[str, ast.Module]]:
    files = [(path.relative_to(SOURCE).as_posix(), path) for path in SOURCE.rglob("*.py")]
    return [(name, ast.parse(p.read_text())) for name, p in files if not name.startswith(EXEMPT)]


def calls(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute):
                found.add(function.attr)
            elif isinstance(function, ast.Name):
                found.add(function.id)
    return found


def imports(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_every_way_out_is_known() -> None:
    found = {(name, call) for name, tree in sources() for call in calls(tree) & WAYS_OUT}
    assert found == EXPECTED


def test_no_other_library_goes_out() -> None:
    found = {(name, module) for name, tree in sources() for module in imports(tree) & LIBRARIES}
    assert found == set()


def test_the_session_is_used_in_one_place() -> None:
    """Of the session's methods only `get`, and only where redirects are not followed."""
    tree = dict(sources())["fetch/http.py"]
    used = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr == "_session"
        and node.func.attr != "close"
    ]
    assert [node.func.attr for node in used if isinstance(node.func, ast.Attribute)] == ["get"]
    (get,) = used
    (follow,) = [keyword for keyword in get.keywords if keyword.arg == "allow_redirects"]
    assert isinstance(follow.value, ast.Constant)
    assert follow.value.value is False


async def test_a_request_without_a_permit_is_refused(going_out: Going) -> None:
    async with going_out({"/": page("Good")}) as out:
        assert isinstance(out.fetcher._connector, PermitConnector)
        with pytest.raises((PermissionError, aiohttp.ClientError), match="permit"):
            await out.fetcher._session.get("http://one.test/")
        assert out.web.requests() == []


async def test_a_permit_sends_one_request_and_not_two(going_out: Going) -> None:
    async with going_out({"/": page("Good")}) as out:
        once = permit()
        await out.fetcher.fetch("http://one.test/", once)
        again = await out.fetcher.fetch("http://one.test/", once)
        assert again.outcome is Outcome.ERROR
        assert len(out.web.requests()) == 1
        assert PERMIT.get() is None


async def test_following_a_redirect_would_need_a_permit_of_its_own(going_out: Going) -> None:
    async with going_out({"/": redirect("/private"), "/private": page("Private")}) as out:
        token = PERMIT.set(permit())
        try:
            with pytest.raises(aiohttp.ClientConnectionError):
                await out.fetcher._session.get("http://one.test/", allow_redirects=True)
        finally:
            PERMIT.reset(token)
        assert out.web.paths("one.test") == ["/"]


async def test_a_connector_always_verifies_certificates() -> None:
    connector = make_connector(AddressGuard(AllowedNetworks()))
    try:
        context = connector._ssl
        assert not isinstance(context, (bool, aiohttp.Fingerprint))
        assert context.check_hostname
        assert context.verify_mode.name == "CERT_REQUIRED"
    finally:
        await connector.close()
