"""The address guard: what may be connected to, in whatever form it is written."""

from __future__ import annotations

import json
import socket
from ipaddress import ip_address
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from messor.fetch.guard import AddressGuard, GuardedResolver, RefusedAddressError, is_public
from messor.settings import AllowedNetworks
from messor.web.urls import parse
from tests.conftest import CORPORA

NOTHING_OPENED = AddressGuard(AllowedNetworks())

REFUSED_ADDRESSES = [
    "127.0.0.1",
    "127.1.2.3",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "192.88.99.1",
    "::",
    "::1",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "2001:db8::1",
    "100::1",
    "3fff::1",
    "5f00::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:10.0.0.1",
    "::127.0.0.1",
    "::a9fe:a9fe",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::a9fe:a9fe",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::",
    "2002:c0a8:101::",
    "2001:0:1:2:3:4:80ff:fffe",
    "2001:0:7f00:1::1",
    "2001::1",
    "fe80::5efe:127.0.0.1",
]

PUBLIC_ADDRESSES = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700:4700::1111",
    "2a00:1450:4001::8a",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]


@pytest.mark.parametrize("text", REFUSED_ADDRESSES)
def test_it_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))
    assert NOTHING_OPENED.refusal(ip_address(text), 80) is not None


@pytest.mark.parametrize("text", PUBLIC_ADDRESSES)
def test_it_is_public(text: str) -> None:
    assert NOTHING_OPENED.refusal(ip_address(text), 443) is None


@pytest.mark.parametrize(
    "text",
    [
        "169.254.169.254",
        "168.63.129.16",  # by its range a public one
        "100.100.100.200",
        "fe80::1",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
    ],
)
@pytest.mark.parametrize("opened", [[], ["0.0.0.0/0", "::/0"]], ids=["closed", "opened"])
def test_link_local_and_metadata_addresses_are_opened_by_nothing(
    text: str, opened: list[str]
) -> None:
    guard = AddressGuard(AllowedNetworks(addresses=opened))
    assert "are never allowed" in (guard.refusal(ip_address(text), 80) or "")
    for trusted in (False, True):
        refusal = guard.refusal_of_proxy(ip_address(text), trusted=trusted)
        assert "are never allowed" in (refusal or "")


@pytest.mark.parametrize(
    "href",
    [
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://0x7f.0x0.0x0.0x1/",
        "http://017700000001/",
        "http://2852039166/latest/meta-data/",
        "http://0xA9FEA9FE/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://127.0.0.1./",
        "http://%31%32%37.0.0.1/",
        "http://[::ffff:7f00:1]/",
        "http://[0:0:0:0:0:ffff:127.0.0.1]/",
        "http://user@127.0.0.1/",
        "http://example.org\t@127.0.0.1/",
        "http://0/",
    ],
)
def test_disguises_are_seen_through(href: str) -> None:
    url = parse(href)
    assert url is None or NOTHING_OPENED.refusal_of_url(url) is not None


@pytest.mark.parametrize("port", [22, 25, 53, 110, 3306, 5432, 6379, 8080, 9200, 11211, 1, 65535])
def test_ports_other_than_the_webs_are_refused(port: int) -> None:
    url = parse(f"http://example.org:{port}/")
    assert url is not None
    assert "port" in (NOTHING_OPENED.refusal_of_url(url) or "")
    assert NOTHING_OPENED.refusal(ip_address("8.8.8.8"), port) is not None


def test_what_the_operator_opens_is_open_and_nothing_else() -> None:
    guard = AddressGuard(AllowedNetworks(addresses=["10.1.0.0/16", "::1"], ports=[8080]))
    assert guard.refusal(ip_address("10.1.2.3"), 8080) is None
    assert guard.refusal(ip_address("::1"), 80) is None
    assert guard.refusal(ip_address("10.2.2.3"), 8080) is not None
    assert guard.refusal(ip_address("10.1.2.3"), 8081) is not None
    assert guard.refusal(ip_address("127.0.0.1"), 80) is not None


@pytest.mark.parametrize("place", [("127.0.0.1", 80), ("8.8.8.8", 22), ("fe80::1%eth0", 80, 0, 2)])
def test_no_socket_is_made_for_a_refused_place(place: Any) -> None:
    family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
    with pytest.raises(RefusedAddressError):
        NOTHING_OPENED.socket_factory((family, socket.SOCK_STREAM, 6, "", place))


def test_a_socket_for_a_public_place_does_not_block() -> None:
    info = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 443))
    with NOTHING_OPENED.socket_factory(info) as made:
        assert not made.getblocking()


class Answers(AbstractResolver):
    """A name server that says one thing after another."""

    def __init__(self, *turns: list[str]) -> None:
        self._turns = list(turns)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        addresses = self._turns.pop(0) if len(self._turns) > 1 else self._turns[0]
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Nothing is open."""


def resolver_of(*turns: list[str]) -> GuardedResolver:
    resolver = GuardedResolver(NOTHING_OPENED)
    resolver._dns = Answers(*turns)  # type: ignore[assignment]
    return resolver


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["8.8.8.8", "169.254.169.254"],
        ["2606:4700:4700::1111", "::1"],
        ["64:ff9b::a9fe:a9fe"],
    ],
)
async def test_one_inner_address_refuses_the_name(addresses: list[str]) -> None:
    with pytest.raises(RefusedAddressError, match=r"rebind\.example"):
        await resolver_of(addresses).resolve("rebind.example", 80)


async def test_a_name_that_changes_its_mind_is_refused_when_it_does() -> None:
    resolver = resolver_of(["8.8.8.8"], ["127.0.0.1"])
    assert [found["host"] for found in await resolver.resolve("rebind.example", 80)] == ["8.8.8.8"]
    with pytest.raises(RefusedAddressError):
        await resolver.resolve("rebind.example", 80)


async def test_static_names_ask_no_name_server() -> None:
    guard = AddressGuard(AllowedNetworks(names={"Shop.test:80": "127.0.0.2:18080"}))
    (found,) = await GuardedResolver(guard).resolve("shop.test", 80)
    assert (found["host"], found["port"]) == ("127.0.0.2", 18080)


@pytest.mark.skipif(not CORPORA.exists(), reason="the shared corpora are not here")
async def test_the_corpus_of_targets() -> None:
    wrong = []
    for case in json.loads((CORPORA / "ssrf_targets.json").read_text()):
        url = parse(case["url"])
        refusal = "not a web address" if url is None else NOTHING_OPENED.refusal_of_url(url)
        if url is not None and refusal is None and case["dns"]:
            try:
                await resolver_of(case["dns"]).resolve(url.host, url.port)
            except RefusedAddressError as error:
                refusal = str(error)
        is_name = url is not None and case["dns"] is None and not url.host.strip("[]")[-1].isdigit()
        if case["must_block"] != (refusal is not None) and not (is_name and case["must_block"]):
            wrong.append(case["url"])
    assert wrong == []
