"""The two profiles made of many alike hosts: `bench` (large pages) and `chaos` (small ones)."""

from __future__ import annotations

from messor.world.addresses import address
from messor.world.catalogue import CatalogueHost
from messor.world.cataloguepage import Plan
from messor.world.chance import draw
from messor.world.sites import Site, base_url


def bench_sites(
    seed: int, hosts: int, pages: int, page_bytes: int, *, tls: bool
) -> tuple[Site, ...]:
    names = [f"bench-{number:03}.test" for number in range(hosts)]
    return tuple(_site(seed, names, number, pages, page_bytes, tls=tls) for number in range(hosts))


def chaos_sites(seed: int, hosts: int, pages: int | None, *, tls: bool) -> tuple[Site, ...]:
    """Small hosts of 8 to 20 pages, unless told how many, each page 3 to 6 KB."""
    names = [f"chaos-{number:03}.test" for number in range(hosts)]
    sites = []
    for number in range(hosts):
        rng = draw(seed, "chaos", number)
        count, size = rng.randint(8, 20), rng.randint(3_000, 6_000)
        sites.append(_site(seed, names, number, pages or count, size, tls=tls))
    return tuple(sites)


def _site(
    seed: int, names: list[str], number: int, pages: int, page_bytes: int, *, tls: bool
) -> Site:
    host = names[number]
    neighbour = names[(number + 1) % len(names)]
    base = base_url(host, secure=tls)
    friend = f"{base_url(neighbour, secure=tls)}/"
    responder = CatalogueHost(Plan(seed, host, pages, page_bytes, base, friend))
    return Site(host, host, "shop", address(number), pages, responder, secure=tls)
