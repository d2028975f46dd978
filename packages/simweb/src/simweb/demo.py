"""The `demo` profile: a small town's web (see `demo.toml`) and hosts that misbehave."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files

from simweb.addresses import address
from simweb.mischief import mischief_sites
from simweb.pages import Charter
from simweb.sites import Site, base_url, domain_of
from simweb.tradehost import TradeHost


def demo_sites(seed: int, now: Callable[[], float], *, tls: bool) -> tuple[Site, ...]:
    charters = _charters(tls=tls)
    sites: list[Site] = []
    addresses: dict[str, str] = {}
    for charter in charters:
        shared = addresses.get(charter.shares_address_of or "")
        addresses[charter.host] = shared or address(len(addresses))
        sites.append(_site(seed, charter, addresses[charter.host]))
    return (*sites, *mischief_sites(seed, now, first_address=len(sites)))


def _charters(*, tls: bool) -> list[Charter]:
    rows = tomllib.loads((files("simweb") / "demo.toml").read_text("utf-8"))["site"]
    charters = [
        Charter(domain=domain_of(row["host"]), **{**row, "friends": tuple(row["friends"])})
        for row in rows
    ]
    secure = {charter.host: charter.secure and tls for charter in charters}
    return [
        replace(
            charter,
            secure=secure[charter.host],
            friends=tuple(base_url(f, secure=secure.get(f, False)) for f in charter.friends),
        )
        for charter in charters
    ]


def _site(seed: int, charter: Charter, where: str) -> Site:
    host = TradeHost(seed, charter)
    return Site(
        charter.host,
        charter.domain,
        charter.kind,
        where,
        len(host.pages),
        host,
        secure=charter.secure,
    )
