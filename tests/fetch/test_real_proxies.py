"""Messor through the proxies that people run: squid, tinyproxy, dante."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from messor.fetch.outcome import Outcome
from messor.fetch.proxies.probe import Prober
from messor.fetch.proxies.proxy import PROXY_FAULT, Proxy, ProxyAddress
from messor.fetch.proxies.target import Target
from tests.fetch.conftest import Going
from tests.little_web import page
from tests.real_proxies import (
    DANTE,
    PASSWORD,
    SQUID,
    TINYPROXY,
    USER,
    dante,
    needs,
    squid,
    tinyproxy,
)

WITH_LOGIN = [
    pytest.param(squid, marks=needs(SQUID), id="squid"),
    pytest.param(tinyproxy, marks=needs(TINYPROXY), id="tinyproxy"),
]
Start = Callable[[], AbstractContextManager[int]]


def proxy(port: int, password: str | None, protocol: str = "http") -> Proxy:
    user = USER if password is not None else ""
    return Proxy(1, ProxyAddress(protocol, "127.0.0.1", port, user), password, trusted=True)


def prober(out: object, going: Target) -> Prober:
    return Prober(out.fetcher.guard, seconds=20.0, target=going)  # type: ignore[attr-defined]


@pytest.mark.parametrize("start", WITH_LOGIN)
async def test_a_wrong_login_is_found_by_fetch_and_probe_alike(
    going_out: Going, start: Start
) -> None:
    async with going_out({"/": page("Good")}) as out:
        host, _, port = out.web.server.names()["one.test:80"].rpartition(":")
        probe = prober(out, Target(host, int(port))).probe
        with start() as at:
            good = await out.get(via=proxy(at, PASSWORD))
            assert (good.outcome, good.status) == (Outcome.OK, 200)
            assert (await probe(proxy(at, PASSWORD))).error is None
            for password in ("wrong", None):
                bad = await out.get(via=proxy(at, password))
                assert (bad.outcome, bad.error_type, bad.status) == (
                    Outcome.ERROR,
                    PROXY_FAULT,
                    None,
                )
                assert (bad.detail or {}) == {"at_target": False, "login": True}
                said = "refused the login" if password else "requires a login"
                assert said in (bad.error or "")
                assert said in ((await probe(proxy(at, password))).error or "")
        assert len(out.web.requests()) == 1


@needs(SQUID)
async def test_a_port_that_squid_does_not_connect_to_is_its_word(going_out: Going) -> None:
    async with going_out({"/": page("Good")}) as out:
        with squid() as at:
            finding = await prober(out, Target("127.0.0.1", 80)).probe(proxy(at, PASSWORD))
            assert "it refuses to connect to 127.0.0.1:80 (403)" in (finding.error or "")


@needs(DANTE)
async def test_dante_carries_pages_and_refuses_strangers(going_out: Going) -> None:
    async with going_out({"/": page("Good")}) as out:
        host, _, port = out.web.server.names()["one.test:80"].rpartition(":")
        probe = prober(out, Target(host, int(port))).probe
        with dante() as at:
            assert (await out.get(via=proxy(at, None, "socks5"))).outcome is Outcome.OK
            assert (await probe(proxy(at, None, "socks5"))).error is None
        with dante("username") as at:
            bad = await out.get(via=proxy(at, "wrong", "socks5"))
            assert (bad.error_type, (bad.detail or {}).get("login")) == (PROXY_FAULT, True)
            assert "refused the login" in ((await probe(proxy(at, "wrong", "socks5"))).error or "")
