"""The fetcher by way of a proxy: the same outcomes, and the proxy's failures told from the site's."""

from __future__ import annotations

import pytest

from messor.fetch.outcome import Outcome
from messor.fetch.proxies.proxy import PROXY_FAULT
from simweb.answers import SimResponse, plain
from tests.fetch.conftest import Going, permit
from tests.little_web import page
from tests.proxy_servers import PASSWORD, USER, ProxyServer

LOGIN = (USER, PASSWORD)


@pytest.mark.parametrize("protocol", ["http", "socks5"])
@pytest.mark.parametrize(
    "answer, outcome", [(page("Good"), Outcome.OK), (plain(403, "no"), Outcome.BLOCKED)]
)
async def test_an_answer_through_a_proxy_is_the_sites(
    going_out: Going, protocol: str, answer: SimResponse, outcome: Outcome
) -> None:
    async with going_out({"/": answer}) as out, ProxyServer(protocol, login=LOGIN) as server:
        fetched = await out.get(via=server.proxy(7))
        assert (fetched.outcome, fetched.status, fetched.proxy_id) == (outcome, answer.status, 7)
        assert server.asked == [out.web.server.names()["one.test:80"]]


async def test_a_proxys_failure_is_not_the_sites(going_out: Going) -> None:
    async with going_out({"/": page("Good")}) as out, ProxyServer(login=LOGIN) as server:
        allowed = permit()
        proxy = server.proxy(password="wrong horse")
        fetched = await out.fetcher.fetch("http://one.test/", allowed, via=proxy)
        assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, PROXY_FAULT)
        assert fetched.outcome.is_retryable
        assert (fetched.sent_at, allowed.used_at) == (0, 0)
        assert "wrong horse" not in (fetched.error or "")
        assert out.web.requests() == []


async def test_a_silent_proxy_is_no_time_out_of_the_site(going_out: Going) -> None:
    async with going_out({"/": page("Good")}, connect_timeout=0.5) as out, ProxyServer() as server:
        server.mute = True
        fetched = await out.get(via=server.proxy())
        assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, PROXY_FAULT)


async def test_an_internal_target_is_refused_before_the_proxy(going_out: Going) -> None:
    async with going_out({"/": page("Good")}) as out, ProxyServer() as server:
        out.fetcher.guard._networks.clear()
        fetched = await out.get(via=server.proxy())
        assert fetched.outcome is Outcome.REFUSED_ADDRESS
        assert server.connections == 0


async def test_direct_and_proxied_connections_are_not_shared(going_out: Going) -> None:
    async with going_out({"/": page("Good")}) as out, ProxyServer() as server:
        await out.get()
        await out.get(via=server.proxy())
        await out.get()
        await out.get(via=server.proxy())
        assert (server.connections, len(out.web.requests())) == (1, 4)
