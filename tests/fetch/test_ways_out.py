"""Every way out of the process is listed here, with what stands before it.

Sites are reached behind the address guard and with a permit; operator endpoints, named in the
configuration, by clients bound to them. A way out that is not listed fails these tests.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from yarl import URL

import messor
from messor.fetch import guard
from messor.fetch.client import Client
from messor.fetch.connector import PermitConnector, make_connector
from messor.fetch.guard import AddressGuard
from messor.fetch.outcome import Outcome
from messor.fetch.proxies.tunnel import TunnelConnector
from messor.politeness.pace import PERMIT
from messor.settings import AllowedNetworks
from messor.store.database import Database
from simweb.answers import plain, redirect
from tests.crawling import admit, crawl
from tests.fetch.conftest import Going, permit
from tests.little_web import LittleWeb, Room, page, robots

SOURCE = Path(messor.__file__).parent
# Rooms that open connections of their own, to the database and within the simulated web.
EXEMPT = ("store/", "world/")
WAYS_OUT = {
    "ClientSession",
    "TCPConnector",
    "UnixConnector",
    "NamedPipeConnector",
    "BaseConnector",
    "PermitConnector",
    "TunnelConnector",
    "make_connector",
    "start_connection",
    "socket",
    "socketpair",
    "fromfd",
    "create_connection",
    "create_unix_connection",
    "open_connection",
    "open_unix_connection",
    "create_datagram_endpoint",
    "sock_connect",
    "sock_sendto",
    "sendto",
    "connect_ex",
    "ws_connect",
    "urlopen",
    "urlretrieve",
    "HTTPConnection",
    "HTTPSConnection",
    "request",
    # Names are asked of somebody, too.
    "AsyncResolver",
    "ThreadedResolver",
    "DefaultResolver",
    "DNSResolver",
    "getaddrinfo",
    "gethostbyname",
    # Whoever is started may go out by itself.
    "async_playwright",
    "sync_playwright",
    "launch_persistent_context",
    "connect_over_cdp",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "subprocess_exec",
    "Popen",
    "check_call",
    "check_output",
    "getoutput",
    "system",
    "popen",
    "posix_spawn",
    "execv",
    "execve",
    "execvp",
}
LIBRARIES = {
    "httpx",
    "httpcore",
    "requests",
    "urllib3",
    "urllib.request",
    "http.client",
    "pycurl",
    "curl_cffi",
    "ftplib",
    "smtplib",
    "imaplib",
    "poplib",
    "telnetlib",
    "xmlrpc",
    "websockets",
    "websocket",
    "selenium",
    "pyppeteer",
    "scrapy",
    "boto3",
    "botocore",
    "obstore",
    "aioboto3",
    "paramiko",
    "openai",
    "playwright",
    "crawl4ai",
    "firecrawl",
}
# To sites: the guard judges the address of every socket, and a permit is used on it.
TO_SITES = {
    ("fetch/connector.py", "PermitConnector"),
    ("fetch/guard.py", "socket"),  # the guarded socket itself
    ("fetch/guard.py", "AsyncResolver"),  # whose answers are judged
    ("fetch/http.py", "make_connector"),
    ("fetch/proxies/tunnel.py", "TunnelConnector"),
    ("fetch/browser/pinning_proxy.py", "start_connection"),  # with guarded sockets
    ("fetch/browser/pinning_proxy.py", "open_connection"),  # of one that is connected
    ("fetch/browser/chromium.py", "async_playwright"),  # behind the pinning proxy
}
# To operator endpoints: bound to what the configuration names.
TO_OPERATORS = {
    ("fetch/services/endpoint.py", "ClientSession"),
    ("fetch/services/endpoint.py", "TCPConnector"),
    ("fetch/services/health.py", "ClientSession"),
    ("insight/search_server/client.py", "ClientSession"),
    ("insight/search_server/client.py", "TCPConnector"),
    ("insight/search_server/client.py", "request"),
    ("fetch/services/identity_provider.py", "ClientSession"),
    ("fetch/services/identity_provider.py", "request"),
    ("fetch/services/identity_provider.py", "TCPConnector"),
    ("fetch/services/health.py", "TCPConnector"),
    ("fetch/proxies/tunnel.py", "getaddrinfo"),  # whose answers are judged
    ("fetch/proxies/tunnel.py", "create_connection"),  # to the proxy itself
    ("fetch/proxies/placement.py", "getaddrinfo"),  # of a proxy that is to be added
    ("mail/server.py", "getaddrinfo"),  # whose answers are judged
    ("mail/server.py", "create_connection"),  # to the mail server
}
# To webhooks: the guard judges the address of every socket; they are no sites and need no permit.
TO_WEBHOOKS = {
    ("ops/webhooks/post.py", "ClientSession"),
    ("ops/webhooks/post.py", "TCPConnector"),
}
# To the resolver of this machine: a record shows that a domain is somebody's; no site is contacted.
TO_RESOLVER = {("fetch/txt_records.py", "DNSResolver")}
# Programs of our own: workers, readers of pages, the database's shell; and a worker that has grown
# too large and becomes a new one.
PROGRAMS = {
    ("cli/db_programs.py", "create_subprocess_exec"),
    ("cli/worker.py", "execv"),
    ("crawl/sandboxed_reader.py", "create_subprocess_exec"),
    ("extraction/reader_pool.py", "subprocess_exec"),
    ("ops/backup/create.py", "Popen"),
    ("ops/backup/restore.py", "Popen"),
    ("runtime/supervisor.py", "create_subprocess_exec"),
}
# Not a way out but in: the address that the console and the API listen on.
LISTENING = {("runtime/server/listener.py", "socket")}
# Between a supervisor and its processes: a socket pair, inherited as standard input.
PULSES = {("runtime/supervisor.py", "socketpair"), ("runtime/pulse.py", "socket")}
# Between the processes of one machine: sockets in the data folder.
LOCAL = {("runtime/metrics_socket.py", "open_unix_connection")}
# The browser is driven in its own room, which starts it behind the pinning proxy.
DRIVERS = {
    ("fetch/browser/chromium.py", "playwright"),
    ("fetch/browser/document.py", "playwright"),
    ("fetch/browser/pool.py", "playwright"),
    ("fetch/browser/render.py", "playwright"),
}


WORDS = {"request", "socket", "system"}  # names that variables have as well


@cache
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


def calls_of(name: str, file: str) -> list[ast.Call]:
    """The calls of a function or method in one file."""
    tree = dict(sources())[file]
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and name in (getattr(node.func, "attr", None), getattr(node.func, "id", None))
    ]


def constants(call: ast.Call) -> dict[str, object]:
    """The keywords of a call that are spelled out."""
    return {
        keyword.arg: keyword.value.value
        for keyword in call.keywords
        if keyword.arg and isinstance(keyword.value, ast.Constant)
    }


def test_every_way_out_is_known() -> None:
    found = {(name, call) for name, tree in sources() for call in calls(tree) & WAYS_OUT}
    assert (
        found
        == TO_SITES
        | TO_OPERATORS
        | TO_WEBHOOKS
        | TO_RESOLVER
        | PROGRAMS
        | LISTENING
        | PULSES
        | LOCAL
    )


def test_no_other_library_goes_out() -> None:
    found = {
        (name, library)
        for name, tree in sources()
        for module in imports(tree)
        for library in LIBRARIES
        if f"{module}.".startswith(f"{library}.")
    }
    assert found == DRIVERS | {
        ("mail/server.py", "smtplib"),
        ("archive/objects.py", "obstore"),  # stores that the configuration names
        ("exports/object_place.py", "botocore"),
    }


def test_no_way_out_goes_by_another_name() -> None:
    """Neither renamed where it is imported, nor handed on as a value to be called elsewhere."""
    renamed, handed = set(), set()
    for name, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                renamed |= {
                    (name, alias.name)
                    for alias in node.names
                    if alias.asname and alias.name.rpartition(".")[2] in WAYS_OUT | LIBRARIES
                }
            elif isinstance(node, ast.Call):
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                handed |= {
                    (name, said)
                    for value in given
                    if (said := getattr(value, "attr", getattr(value, "id", ""))) in WAYS_OUT
                }
    assert renamed == set()
    assert {(name, said) for name, said in handed if said not in WORDS} == set()


def test_no_module_is_imported_by_a_name_made_up() -> None:
    dynamic = {"__import__", "import_module", "exec", "eval"}
    found = {(name, call) for name, tree in sources() for call in calls(tree) & dynamic}
    assert found == {("cli/main.py", "import_module")}  # of our own commands, by a table


def test_no_client_takes_the_environments_proxy_or_follows_redirects() -> None:
    known = TO_SITES | TO_OPERATORS | TO_WEBHOOKS
    files = {file for file, call in known if call == "ClientSession"}
    for file in files:
        (session,) = calls_of("ClientSession", file)
        assert constants(session)["trust_env"] is False, file
        sent = [call for verb in ("get", "post", "request") for call in calls_of(verb, file)]
        asked = [call for call in sent if "session" in ast.unparse(call.func)]
        assert asked, file
        assert all(constants(call)["allow_redirects"] is False for call in asked), file
    verbs = {"put", "patch", "delete", "options", "head", "ws_connect"}
    assert not {file for file, tree in sources() if file in files and calls(tree) & verbs}


@pytest.mark.parametrize(
    "file",
    [file for file, call in sorted(TO_OPERATORS) if call == "TCPConnector"],
)
def test_operator_endpoints_are_never_link_local(file: str) -> None:
    (connector,) = calls_of("TCPConnector", file)
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in connector.keywords}
    assert given["socket_factory"] == "operator_socket"


def test_webhooks_go_by_the_guard() -> None:
    (connector,) = calls_of("TCPConnector", "ops/webhooks/post.py")
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in connector.keywords}
    assert given["socket_factory"] == "self._guard.socket_factory"
    assert given["resolver"] == "resolver"


def test_the_listening_socket_only_listens() -> None:
    tree = dict(sources())["runtime/server/listener.py"]
    assert "bind" in calls(tree)
    assert not calls(tree) & {"connect", "connect_ex", "sendto"}


def test_pulses_reach_the_supervisor_alone() -> None:
    for file, _ in PULSES:
        assert not calls(dict(sources())[file]) & {"bind", "connect", "connect_ex", "sendto"}


def test_sites_are_asked_in_one_place() -> None:
    """Clients are made on the permit's connectors alone, and ask with a permit at hand."""
    made = {file for file, tree in sources() if "Client" in calls(tree)}
    assert made == {"fetch/http.py"}
    (make,) = [
        node
        for node in ast.walk(dict(sources())["fetch/http.py"])
        if isinstance(node, ast.FunctionDef) and "Client(" in ast.unparse(node)
    ]
    annotated = {ast.unparse(a.annotation) for a in make.args.args if a.annotation}
    assert annotated == {"PermitConnector"}
    assert issubclass(TunnelConnector, PermitConnector)
    (connect,) = calls_of("connect", "fetch/client.py")
    assert ast.unparse(connect.func) == "self.connector.connect"
    assert inspect.signature(Client.get).parameters["permit"].default is inspect.Parameter.empty


def test_the_browsers_connections_are_made_with_guarded_sockets() -> None:
    (opened,) = calls_of("open_connection", "fetch/browser/pinning_proxy.py")
    assert not opened.args
    assert {keyword.arg for keyword in opened.keywords} == {"sock", "limit"}
    (started,) = calls_of("start_connection", "fetch/browser/pinning_proxy.py")
    (factory,) = [k.value for k in started.keywords if k.arg == "socket_factory"]
    assert ast.unparse(factory) == "self._guard.socket_factory"


def test_the_browser_starts_behind_the_proxy() -> None:
    """The browser itself and each of its contexts; loopback is no exception."""
    for name in ("launch", "new_context"):
        found = [c for c in calls_of(name, "fetch/browser/chromium.py") if c.keywords]
        assert len(found) == 1, name
        (proxy,) = [keyword.value for keyword in found[0].keywords if keyword.arg == "proxy"]
        assert "_behind(proxy)" in ast.unparse(proxy)
    (behind,) = [
        node
        for node in ast.walk(dict(sources())["fetch/browser/chromium.py"])
        if isinstance(node, ast.FunctionDef) and node.name == "_behind"
    ]
    assert "'<-loopback>'" in ast.unparse(behind)


def test_a_tunnel_judges_every_address_before_the_proxy_hears_of_it() -> None:
    (make,) = [
        node
        for node in ast.walk(dict(sources())["fetch/proxies/tunnel.py"])
        if isinstance(node, ast.AsyncFunctionDef) and node.name == "_wrap_create_connection"
    ]
    first, second, *_ = make.body
    assert ast.unparse(first) == "places = self._judged(addr_infos)"
    assert "open_tunnel(self._proxy, places" in ast.unparse(second)


CONNECTED: list[tuple[str, int]] = []
_noting = [False]


def _note(event: str, args: tuple[object, ...]) -> None:
    if event == "socket.connect" and _noting[0] and isinstance(args[1], tuple):
        CONNECTED.append((str(args[1][0]), int(args[1][1])))


sys.addaudithook(_note)


async def test_a_crawl_connects_to_its_sites_and_the_database_alone(
    database: Database, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen by the interpreter itself: robots.txt, sitemaps, pages, redirects and their targets."""
    monkeypatch.setattr(guard, "AsyncResolver", _NoNames)
    inside = ("http://127.0.0.1/", "http://[::1]/", "http://one.test:22/", "http://10.0.0.1/")
    rooms: dict[str, Room] = {
        "/": page("home", "/map", *(f"/to/{n}" for n in range(len(inside))), *inside),
        "/robots.txt": robots("".join(f"Sitemap: {x}map.xml\n" for x in ("/", *inside))),
        "/map.xml": plain(200, f"<urlset><url><loc>{inside[2]}</loc></url></urlset>"),
        **{f"/to/{n}": redirect(target) for n, target in enumerate(inside)},
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/")
        _noting[0] = True
        try:
            await crawl(web.settings(), database)
        finally:
            _noting[0] = False
        assert set(web.paths("one.test")) >= set(rooms) - {"/map"}
        sites = {_place(target) for target in web.server.names().values()}
    store = urlsplit(dsn)
    assert sites & set(CONNECTED)
    assert set(CONNECTED) - sites <= {(store.hostname, store.port)}


class _NoNames:
    """No name server is asked: what the web at hand does not know has no address."""

    async def resolve(self, host: str, *_: object) -> list[object]:
        raise OSError(f"{host} is not known here")

    async def close(self) -> None:
        """Nothing is open."""


def _place(target: str) -> tuple[str, int]:
    address, _, port = target.rpartition(":")
    return address, int(port)


async def test_a_request_without_a_permit_is_refused(going_out: Going) -> None:
    async with going_out({"/": page("Good")}) as out:
        connector = out.fetcher._client.connector
        assert isinstance(connector, PermitConnector)
        wanted = aiohttp.ClientRequest("GET", URL("http://one.test/"))
        with pytest.raises(PermissionError, match="permit"):
            await connector.connect(wanted, [], aiohttp.ClientTimeout())
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
    """Even a session of the library on our connector gets no further than its first request."""
    async with going_out({"/": redirect("/private"), "/private": page("Private")}) as out:
        token = PERMIT.set(permit())
        connector = out.fetcher._client.connector
        try:
            async with aiohttp.ClientSession(connector=connector, connector_owner=False) as session:
                with pytest.raises(aiohttp.ClientConnectionError):
                    await session.get("http://one.test/", allow_redirects=True)
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
