"""`messor proxies` as a person meets it; no word of it ever tells a password."""

from __future__ import annotations

import asyncio
import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import pytest

from tests.cli.conftest import Messor, Said
from tests.proxy_servers import PASSWORD, USER, ProxyServer

SECRET = "hunter2"
URL = f"socks5://ant:{SECRET}@proxy.example:1080"


@contextmanager
def serving(server: ProxyServer) -> Iterator[ProxyServer]:
    """A proxy on a loop of its own: commands run one of theirs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(60)
        yield server
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


def say_on_stdin(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))


def is_one_sentence(said: Said) -> bool:
    lines = said.err.strip().splitlines()
    return len(lines) == 1 and lines[0].startswith("messor: ") and "Traceback" not in said.err


async def dump(dsn: str) -> str:
    """Every row that tells of proxies."""
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        rows = await connection.fetch(
            "SELECT p::text AS row FROM messor.proxies p UNION ALL SELECT e::text FROM messor.events e"
        )
        raw = await connection.fetch("SELECT proxy_password FROM messor.proxies")
    finally:
        await connection.close()
    return " ".join([*(row["row"] for row in rows), *(str(r["proxy_password"]) for r in raw)])


def test_a_proxys_life(messor: Messor, dsn: str, tmp_path: Path) -> None:
    assert "No proxies yet" in messor("proxies", "list").err
    added = messor("proxies", "add", URL, "--cost", "0.0004", "--json")
    assert (added.code, added.json["proxy_url"], added.json["proxy_port"]) == (
        0,
        "proxy.example",
        1080,
    )
    assert (added.json["proxy_password"], added.json["is_active"]) == ("***", True)
    number = str(added.json["id"])
    said = [
        added,
        messor("proxies", "list"),
        messor("proxies", "list", "--json"),
        messor("proxies", "show", number),
        messor("proxies", "show", "socks5://proxy.example:1080", "--json"),
        messor("proxies", "disable", number, "--json"),
        messor("proxies", "enable", number),
        messor("proxies", "add", URL),
    ]
    assert [word.code for word in said] == [0] * 7 + [5]
    assert said[5].json["is_active"] is False
    assert "active" in said[6].out
    assert "already exists" in said[7].err
    assert SECRET not in "".join(word.out + word.err for word in said)
    assert SECRET not in asyncio.run(dump(dsn))
    assert (tmp_path / "data" / "secret.key").stat().st_mode & 0o777 == 0o600
    assert messor("proxies", "remove", number).code == 0
    gone = messor("proxies", "show", number)
    assert gone.code == 4
    assert is_one_sentence(gone)


def test_a_password_from_standard_input(
    messor: Messor, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    say_on_stdin(monkeypatch, f"{SECRET}\nmore\n".encode())
    said = messor("proxies", "add", "http://ant@proxy.example:3128", "--password-stdin", "--json")
    assert (said.code, said.json["proxy_password"]) == (0, "***")
    assert SECRET not in said.out + said.err + asyncio.run(dump(dsn))


@pytest.mark.parametrize(
    "text, words",
    [
        (b"", ("http://ant@proxy.example:3128",)),
        (b"\n", ("http://ant@proxy.example:3128",)),
        (b"\xff\xfe\n", ("http://ant@proxy.example:3128",)),
        (b"hunter2" * 600, ("http://ant@proxy.example:3128",)),
        (b"hunter2\n", ("http://proxy.example:3128",)),
        (b"hunter2\n", ("http://ant:hunter2@proxy.example:3128",)),
        (b"hunter2\x00\n", ("http://ant@proxy.example:3128",)),
    ],
    ids=range(7),
)
def test_a_bad_password_is_one_sentence(
    messor: Messor, monkeypatch: pytest.MonkeyPatch, text: bytes, words: tuple[str, ...]
) -> None:
    say_on_stdin(monkeypatch, text)
    said = messor("proxies", "add", *words, "--password-stdin")
    assert said.code == 2
    assert is_one_sentence(said)
    assert SECRET not in said.err


@pytest.mark.parametrize(
    "words",
    [
        ("add", f"http://ant:{SECRET}@proxy.example"),
        ("add", f"socks4://ant:{SECRET}@proxy.example:1080"),
        ("add", f"ant:{SECRET}@proxy.example:1080"),
        ("add", URL, "--cost", "free"),
        ("add", URL, "--cost", "-1"),
        ("add", URL, "--cost", "nan"),
        ("show", f"ant:{SECRET}"),
        ("probe", "proxy"),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_sentence(messor: Messor, words: tuple[str, ...]) -> None:
    said = messor("proxies", *words)
    assert said.code == 2
    assert is_one_sentence(said)
    assert SECRET not in said.err


@pytest.mark.parametrize("protocol, stranger", [("socks5", 0), ("http", 407), ("http", 401)])
def test_a_probe_from_the_command_line(
    messor: Messor, monkeypatch: pytest.MonkeyPatch, protocol: str, stranger: int
) -> None:
    server = ProxyServer(protocol, login=(USER, PASSWORD))
    server.stranger = stranger
    with serving(server), serving(ProxyServer()) as place:  # any listener
        monkeypatch.setenv("MESSOR_ALLOWED_NETWORKS__ADDRESSES", '["127.0.0.1"]')
        monkeypatch.setenv("MESSOR_ALLOWED_NETWORKS__PORTS", f"[{place.port}]")
        say_on_stdin(monkeypatch, PASSWORD.encode())
        added = messor("proxies", "add", server.url(), "--password-stdin", "--json")
        number = str(added.json["id"])
        nowhere = messor("proxies", "probe", number)
        assert (nowhere.code, "--target" in nowhere.err) == (2, True)
        monkeypatch.setenv("MESSOR_PROXY_PROBE_TARGET", f"127.0.0.1:{place.port}")
        well = messor("proxies", "probe", number, "--json")
        assert (well.code, well.json["failure_count"]) == (0, 0)
        assert "accepts the login and connects" in well.err
        assert server.asked == [f"127.0.0.1:{place.port}"]
        say_on_stdin(monkeypatch, b"wrong horse")
        messor("proxies", "remove", number)
        added = messor("proxies", "add", server.url(), "--password-stdin", "--json")
        wrong = messor("proxies", "probe", str(added.json["id"]))
        assert wrong.code == 6
        assert is_one_sentence(wrong)
        assert "it refused the login" in wrong.err
        found = {check["name"]: check for check in messor("doctor", "--json").json}["proxies"]
        assert (found["state"], "it refused the login" in found["found"]) == ("note", True)
        refused = messor("proxies", "probe", number, "--target", "169.254.169.254:80")
        assert (refused.code, "are never allowed" in refused.err) == (2, True)
    number = str(added.json["id"])
    gone = messor("proxies", "probe", number)
    assert gone.code == 6
    assert "cannot be reached" in gone.err
    assert messor("proxies", "show", number, "--json").json["failure_count"] == 2
    assert PASSWORD not in gone.err + well.out


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "168.63.129.16", "0.0.0.0"],
)
def test_the_operator_cannot_name_a_metadata_address_either(messor: Messor, host: str) -> None:
    said = messor("proxies", "add", f"http://{host}:3128")
    assert said.code == 2
    assert is_one_sentence(said)
    assert "never allowed" in said.err
    assert messor("proxies", "list", "--json").json == []
