"""What other hosts lose to a domain whose pages are made to crash the HTML parser.

Twenty hosts may be asked once a second. Two worker processes crawl them for a window, alone and
then beside forty subdomains of one domain that serve such pages; the web's own log is counted.
Two kinds of such pages: one that the nesting guard knows, and one that ends whoever reads it
outside the sandbox, as a page does that nobody has seen yet. Exits 1 when a bar is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.stage import embedded_postgres

from messor.governance import admission
from messor.registry import domains
from messor.registry.domains import Submission
from messor.runtime.supervisor import Supervisor
from messor.settings import Settings
from messor.store import migrate
from messor.store.database import Database
from simweb import Server, SimResponse, Site, World, read_log
from simweb.addresses import address
from simweb.answers import Request, plain
from simweb.documents import HTML
from simweb.sites import domain_of

BYSTANDERS, PAGES, SUBDOMAINS = 20, 200, 40
WARM_SECONDS = 4.0  # processes have started; what is served to them comes within the window
MOST_LOST, MOST_DEATHS = 5.0, 2  # per cent of the requests; worker processes
NESTED = (
    "<div><a><picture>" + "<x-1></x-2>" * 504 + "<table><td></tr> <div></a>" + " word" * 400
).encode()
DEADLY = b"<title>deadly</title><p>" + b"word " * 400
_MISSING = plain(404, "nothing\n")
_ROBOTS = plain(200, "User-agent: *\nAllow: /\n")

# A worker whose reader dies of a page outside the sandbox, whatever the guard says of it.
FRAIL = """
import os, signal, sys
from messor.crawl import read
sound = read.read_page
def frail(html, *more, **options):
    if "deadly" in html:
        os.kill(os.getpid(), signal.SIGSEGV)
    return sound(html, *more, **options)
read.read_page = frail
from messor.cli.main import main
sys.argv = ["messor", "worker", "--supervised", "--only", "visit"]
main()
"""
SOUND = [sys.executable, "-m", "messor", "worker", "--supervised", "--only", "visit"]
KINDS = {"nested": (NESTED, SOUND), "unknown": (DEADLY, [sys.executable, "-c", FRAIL])}


class _House:
    """One host: its paths and what they answer."""

    def __init__(self, rooms: dict[str, bytes]) -> None:
        self._rooms = rooms

    def warm(self, epoch: int) -> None:
        """Nothing to prepare."""

    def respond(self, request: Request) -> SimResponse:
        if request.path == "/robots.txt":
            return _ROBOTS
        body = self._rooms.get(request.path)
        return _MISSING if body is None else SimResponse(200, (("Content-Type", HTML),), body)


class _Street(World):
    def __init__(self, houses: dict[str, dict[str, bytes]]) -> None:
        self._made = tuple(
            Site(host, domain_of(host), "made", address(number), len(rooms), _House(rooms))
            for number, (host, rooms) in enumerate(houses.items())
        )
        super().__init__("chaos", tls=False)

    def _build(self, *_: object) -> tuple[Site, ...]:
        return self._made


def linking(links: list[str]) -> bytes:
    anchors = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    return f"<!doctype html><title>links</title>{anchors}".encode()


def street(poison: bytes | None) -> dict[str, dict[str, bytes]]:
    """The bystanders and, with a poison, the domain that serves it."""
    inner = [f"/{number}" for number in range(PAGES)]
    rooms = {link: linking([]) + link.encode() * 50 for link in inner}
    houses = {f"good{n}.test": {"/": linking(inner), **rooms} for n in range(BYSTANDERS)}
    if poison is not None:
        hosts = [f"h{number}.evil.test" for number in range(SUBDOMAINS)]
        paths = [f"/{number}" for number in range(5)]
        houses |= {host: dict.fromkeys(paths, poison) for host in hosts}
        houses["evil.test"] = {"/": linking([f"http://{h}{p}" for h in hosts for p in paths])}
    return houses


async def crawl(dsn: str, poison: bytes | None, command: list[str], seconds: float) -> list[int]:
    """Requests to bystanders in the window, and worker processes that ended."""
    houses = street(poison)
    with TemporaryDirectory(prefix="messor-bench-") as folder:
        log = Path(folder) / "web.tsv"
        server = Server(_Street(houses), log_file=log)
        await server.start()
        ended: list[str] = []
        try:
            environment(dsn, Path(folder), server)
            async with Database(dsn) as database:
                for host in houses:
                    if host.count(".") == 1:
                        await admit(database, f"http://{host}/")
            supervisor = Supervisor(command, 2, say=ended.append, ceiling_mb=1000)
            running = asyncio.create_task(supervisor.run())
            await asyncio.sleep(WARM_SECONDS)
            before = asked(server, log)
            await asyncio.sleep(seconds)
            found = asked(server, log) - before
            supervisor.stop()
            await running
        finally:
            await server.stop()
    return [found, len(ended)]


def environment(dsn: str, folder: Path, server: Server) -> None:
    """Settings of the worker processes: this web, and nowhere else."""
    networks = {
        "addresses": ["127.0.0.0/8"], "ports": [server.port], "names": server.names(),
    }  # fmt: skip
    settings = Settings.model_validate({"allowed_networks": networks})
    os.environ["MESSOR_DATABASE_URL"] = dsn
    os.environ["MESSOR_DATA_DIR"] = str(folder / "data")
    os.environ["MESSOR_ALLOWED_NETWORKS"] = settings.allowed_networks.model_dump_json()
    os.environ["MESSOR_BROWSER"] = "off"


async def admit(database: Database, url: str) -> None:
    async with database.transaction() as connection:
        domain, _ = await domains.submit(connection, Submission.understand(url), actor="bench")
        await domains.configure(connection, domain, actor="bench", delay=1.0)
        await admission.approve(connection, domain, actor="bench")


def asked(server: Server, log: Path) -> int:
    server.log.flush()
    return sum(one.host.startswith("good") for one in read_log(log))


def compare(kind: str, seconds: float) -> bool:
    """One kind of page: alone, then beside it."""
    poison, command = KINDS[kind]
    counts = []
    for served in (None, poison):
        with embedded_postgres() as (dsn, _):
            migrate.upgrade(dsn)
            counts.append(asyncio.run(crawl(dsn, served, command, seconds)))
    (alone, _), (beside, deaths) = counts
    lost = 100 * (1 - beside / alone)
    kept = lost < MOST_LOST and deaths <= MOST_DEATHS
    print(
        f"{kind:8} alone {alone}, beside {beside} requests in {seconds:g} s: {lost:.1f} % lost "
        f"(< {MOST_LOST:g}), {deaths} workers ended (<= {MOST_DEATHS}): {'kept' if kept else 'BROKEN'}"
    )
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="Length of the window.")
    given = parser.parse_args()
    if not all([compare(kind, given.seconds) for kind in KINDS]):  # noqa: C419 - each is told
        sys.exit(1)


if __name__ == "__main__":
    main()
