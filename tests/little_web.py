"""A web made to order: a few hosts, each a table of paths and answers, served on real sockets.

The answers may be changed while it runs. The simulated web of `simweb` carries it; this
only says what its hosts answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from messor.settings import Settings
from simweb import LoggedRequest, Server, SimResponse, Site, World, read_log
from simweb.addresses import address
from simweb.answers import Request, plain
from simweb.documents import HTML
from simweb.mischief.flaw import html
from simweb.sites import domain_of

Room = SimResponse | Callable[[Request], SimResponse]
MISSING = plain(404, "There is no such page.\n")
# Seconds that a busy machine may take to note a request that was sent.
LAG = 0.1
OPEN_ROBOTS = plain(200, "User-agent: *\nAllow: /\n")


def page(title: str, *links: str, extra: tuple[tuple[str, str], ...] = ()) -> SimResponse:
    """A small sound page that links to others."""
    body = html(title, (f"This is {title}.",), tuple((link, link) for link in links))
    return SimResponse(200, (("Content-Type", HTML), *extra), body.encode())


def robots(text: str) -> SimResponse:
    return plain(200, text)


class House:
    """One host: paths and what they answer; `/robots.txt` allows all unless given."""

    def __init__(self, rooms: Mapping[str, Room]) -> None:
        self.rooms: dict[str, Room] = {"/robots.txt": OPEN_ROBOTS, **rooms}

    def warm(self, epoch: int) -> None:
        """Nothing to prepare."""

    def respond(self, request: Request) -> SimResponse:
        room = self.rooms.get(request.path) or self.rooms.get(request.route, MISSING)
        return room if isinstance(room, SimResponse) else room(request)


class _Street(World):
    def __init__(self, houses: Mapping[str, House], *, tls: bool, shared: bool) -> None:
        self._made = tuple(
            Site(
                host,
                domain_of(host),
                "made",
                address(0 if shared else number),
                len(house.rooms),
                house,
                secure=tls,
            )
            for number, (host, house) in enumerate(houses.items())
        )
        super().__init__("chaos", tls=tls)

    def _build(self, *_: object) -> tuple[Site, ...]:
        return self._made


class LittleWeb:
    """Serves houses while the context is open, and remembers who asked for what."""

    def __init__(
        self,
        folder: Path,
        hosts: Mapping[str, Mapping[str, Room]],
        *,
        tls: bool = False,
        shared_address: bool = False,
    ) -> None:
        self._folder = folder
        self.houses = {host: House(rooms) for host, rooms in hosts.items()}
        self._log = folder / "little-web.tsv"
        world = _Street(self.houses, tls=tls, shared=shared_address)
        self.server = Server(world, log_file=self._log)

    async def __aenter__(self) -> Self:
        await self.server.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.server.stop()

    def settings(self, **values: Any) -> Settings:
        """Settings that let a worker into this web, and nowhere else."""
        ports = [port for port in (self.server.port, self.server.tls_port) if port]
        given: dict[str, Any] = {
            "data_dir": self._folder / "data",
            "contact": "https://example.invalid/tests",
            "allowed_networks": {
                "addresses": ["127.0.0.0/8"],
                "ports": ports,
                "names": self.server.names(),
            },
            "ca_file": self.server.ca_file,
            "worker_lease": 30.0,
            "flush_seconds": 0.05,
            "total_timeout": 20.0,
            "browser": "off",  # its pages are too small for a gate, and meant so
            **values,
        }
        return Settings.model_validate(given)

    def requests(self, host: str | None = None) -> list[LoggedRequest]:
        """What was asked so far, in order of arrival."""
        self.server.log.flush()
        return [asked for asked in read_log(self._log) if host in (None, asked.host)]

    def paths(self, host: str, *, guesses: bool = False) -> list[str]:
        """What was asked of a host; looking for a sitemap where there is none is left out."""
        rooms = self.houses[host].rooms
        paths = [asked.path for asked in self.requests(host)]
        return [path for path in paths if guesses or path != "/sitemap.xml" or path in rooms]
