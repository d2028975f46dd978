"""Builds a market's sites from its name and a seed, with their truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simweb.addresses import address
from simweb.chance import draw
from simweb.errors import MarketError
from simweb.market.cast import Casting, Player
from simweb.market.compose import Composer
from simweb.market.script import Script, script
from simweb.pages import Charter
from simweb.sites import Site
from simweb.tradehost import PageHost

MARKETS = ("business_profiles", "community_resources", "funding", "products", "wellness")
_LAYOUTS = ("market-plain.html", "market-columns.html")


@dataclass(frozen=True, slots=True)
class Market:
    """A market's players and their sites, in the same order."""

    name: str
    players: tuple[Player, ...]
    sites: tuple[Site, ...]

    def by_host(self) -> Mapping[str, Player]:
        return {player.host: player for player in self.players}


def open_market(name: str, seed: int) -> Market:
    """The market of that name, drawn from a seed."""
    if name not in MARKETS:
        raise MarketError(f"Unknown market {name!r}; known are {', '.join(MARKETS)}.")
    found = script(name)
    players = Casting(found, seed).players()
    wanted = [player for player in players if player.role.relevant]
    sites = [_site(seed, found, player, wanted, number) for number, player in enumerate(players)]
    return Market(name, tuple(players), tuple(sites))


def _site(seed: int, found: Script, player: Player, wanted: Sequence[Player], number: int) -> Site:
    composer = Composer(seed, player, found.currency, wanted)
    menu, items = composer.menu(), composer.items()
    host = PageHost(seed, _charter(seed, found, player, wanted), menu, items)
    where = address(number)
    return Site(player.host, player.domain, player.role.kind, where, len(host.pages), host)


def _charter(seed: int, found: Script, player: Player, wanted: Sequence[Player]) -> Charter:
    rng = draw(seed, player.host, "charter")
    friends = [other for other in wanted if other.host != player.host]
    known = 0 if player.role.bare else rng.randint(0, 3)
    return Charter(
        player.host,
        player.domain,
        player.role.kind,
        player.name,
        len(player.items),
        player.role.language,
        currency=found.currency,
        sitemap=rng.choice(("plain", "plain", "gzip", "none")),
        layout="market-bare.html" if player.role.bare else rng.choice(_LAYOUTS),
        friends=tuple(f"http://{other.host}" for other in rng.sample(friends, known)),
    )
