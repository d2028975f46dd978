"""The truth about a market: its domains, and what engines serve.

Checks compare Messor's findings with it. It is computed from the world alone; the control API
returns `as_json`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from simweb.engines.index import Entry, SearchIndex
from simweb.errors import MarketError
from simweb.market.cast import Player
from simweb.world import World


@dataclass(frozen=True, slots=True)
class TrueDomain:
    """What a domain is."""

    domain: str
    host: str
    start_url: str
    organisation: str
    relevant: bool
    domain_class: str
    kind: str
    language: str
    town: str
    region: str
    country: str
    pages: int


@dataclass(frozen=True, slots=True)
class Served:
    """One entry of a result page; ranks count from 1 within each block."""

    block: str  # organic, local_pack or ad
    rank: int
    url: str
    domain: str
    title: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Serp:
    """The first result page that an engine serves for a keyword."""

    keyword: str
    location: str
    epoch: int
    results: tuple[Served, ...]

    def domains(self) -> set[str]:
        """Domains with an organic or local result."""
        return {one.domain for one in self.results if one.block != "ad"}

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Truth:
    """The truth of a world that is a market."""

    def __init__(self, world: World, index: SearchIndex | None = None) -> None:
        if world.market is None:
            raise MarketError("Only a world of profile market has a known truth.")
        self.market = world.market.name
        self.seed = world.seed
        self._index = index or SearchIndex(world)
        pages = {site.host: site.pages for site in world.sites}
        self.domains = {
            player.domain: _domain(player, pages[player.host]) for player in world.market.players
        }

    @property
    def relevant(self) -> frozenset[str]:
        return frozenset(name for name, one in self.domains.items() if one.relevant)

    def serp(self, keyword: str, location: str = "", epoch: int = 0) -> Serp:
        """What location-aware engines serve; an empty place is for engines that are not."""
        page = self._index.search(keyword, epoch, place=location)
        results = [
            *_served("organic", page.organic, page.words),
            *_served("local_pack", page.local, None),
            *_served("ad", page.ads, page.words),
        ]
        return Serp(keyword, location, epoch, tuple(results))

    def reachable(
        self, keywords: Iterable[str], locations: Iterable[str] = ("",), epoch: int = 0
    ) -> frozenset[str]:
        """Domains with an organic or local result on some first page."""
        places = tuple(locations)
        found = (
            self.serp(keyword, place, epoch).domains() for keyword in keywords for place in places
        )
        return frozenset().union(*found)

    def as_json(self) -> dict[str, Any]:
        """The domains; result pages are requested one by one."""
        return {
            "market": self.market,
            "seed": self.seed,
            "domains": [asdict(one) for one in self.domains.values()],
        }


def _domain(player: Player, pages: int) -> TrueDomain:
    return TrueDomain(
        player.domain,
        player.host,
        f"http://{player.host}/",
        player.name,
        player.role.relevant,
        player.role.group,
        player.role.kind,
        player.role.language,
        player.spot.town,
        player.spot.region,
        player.spot.country,
        pages,
    )


def _served(block: str, entries: Iterable[Entry], words: set[str] | None) -> list[Served]:
    """Local results link to the home page, without a description."""
    return [
        Served(
            block,
            rank,
            entry.home if words is None else entry.url,
            entry.domain,
            entry.title,
            "" if words is None else entry.snippet(words),
        )
        for rank, entry in enumerate(entries, 1)
    ]
