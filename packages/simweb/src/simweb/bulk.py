"""The two profiles of many similar hosts: `bench` (large pages) and `chaos` (small ones)."""

from __future__ import annotations

from simweb.addresses import address
from simweb.catalogue import CatalogueHost
from simweb.cataloguepage import Plan
from simweb.chance import draw
from simweb.conditions import Conditions
from simweb.mischief.flaw import FlawedHost
from simweb.mischief.wire import stalling
from simweb.sites import Site, base_url

_STALLING_PAGES = 200


def bench_sites(
    seed: int, hosts: int, pages: int, page_bytes: int, conditions: Conditions, *, tls: bool
) -> tuple[Site, ...]:
    names = [f"bench-{number:03}.test" for number in range(hosts)]
    sound = (
        _site(seed, names, number, pages, page_bytes, conditions=conditions, tls=tls)
        for number in range(hosts)
    )
    return (*sound, *_stalling_sites(hosts, conditions.stalling, tls=tls))


def chaos_sites(
    seed: int, hosts: int, pages: int | None, conditions: Conditions, *, tls: bool
) -> tuple[Site, ...]:
    """Small hosts of 8 to 20 pages unless a number is given, each page 3 to 6 KB."""
    names = [f"chaos-{number:03}.test" for number in range(hosts)]
    sites = []
    for number in range(hosts):
        rng = draw(seed, "chaos", number)
        count, size = rng.randint(8, 20), rng.randint(3_000, 6_000)
        sites.append(
            _site(seed, names, number, pages or count, size, conditions=conditions, tls=tls)
        )
    return (*sites, *_stalling_sites(hosts, conditions.stalling, tls=tls))


def _site(
    seed: int,
    names: list[str],
    number: int,
    pages: int,
    page_bytes: int,
    *,
    conditions: Conditions,
    tls: bool,
) -> Site:
    host = names[number]
    neighbour = names[(number + 1) % len(names)]
    base = base_url(host, secure=tls)
    friend = f"{base_url(neighbour, secure=tls)}/"
    catalogue = CatalogueHost(Plan(seed, host, pages, page_bytes, base, friend))
    responder = conditions.impose(seed, host, catalogue)
    place = address(number % conditions.addresses if conditions.addresses else number)
    return Site(host, host, "shop", place, pages, responder, secure=tls)


def _stalling_sites(first_address: int, count: int, *, tls: bool) -> list[Site]:
    """Hosts whose pages never arrive.

    Half of them stay silent, the others send a byte now and then.
    """
    flaws = [
        stalling(f"stalling-{number:03}.test", _STALLING_PAGES, drips=number % 2 == 1)
        for number in range(count)
    ]
    return [
        Site(
            flaw.host,
            flaw.host,
            flaw.kind,
            address(first_address + number),
            flaw.pages,
            FlawedHost(flaw),
            secure=tls,
            misbehaves=True,
        )
        for number, flaw in enumerate(flaws)
    ]
