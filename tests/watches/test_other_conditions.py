"""Two epochs of a simulated web for what the shop of test_end_to_end does not show, to every receiver.

Stock that runs out, a deadline that comes near, a page that blocks, one that fails for days, and a rank
lost at a simulated search engine.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from messor.fetch.guard import AddressGuard
from messor.fetch.proxies.seal import seal_for
from messor.frontier import tasks
from messor.ops.webhooks import registry
from messor.scout import track
from messor.scout.search import Searcher
from messor.settings import Settings
from messor.store.database import Database
from messor.watches import feeds
from messor.watches.conditions import Noun
from messor.watches.send import Sender
from messor.watches.watcher import work
from messor.watches.watches import Watch
from simweb import SimResponse
from simweb.answers import Request, plain
from simweb.documents import HTML
from simweb.engines import SearchIndex
from tests.crawling import admit, eventually, later
from tests.harvested import WORDS, product_html
from tests.little_web import LittleWeb, Room
from tests.receiver import Receiver, receiving
from tests.scout import conftest as scout
from tests.scout.conftest import Apply, Bench, add_keyword
from tests.smtp_server import SENDER, Postbox
from tests.smtp_server import plain as text_of
from tests.smtp_server import receiving as receiving_mail
from tests.watches.conftest import watch_for
from tests.watches.test_end_to_end import harvest
from tests.watches.test_send import ADA, delivering

# As a plugin that module could not be loaded: in a whole run it is loaded already.
apply, bench, index = scout.apply, scout.bench, scout.index

SHOP, WALL, OLD = "shop.test", "wall.test", "old.test"
MEANWHILE = timedelta(days=3)
SOON = (datetime.now(UTC) + MEANWHILE + timedelta(days=5)).date()


def document(content: str) -> SimResponse:
    return SimResponse(200, (("Content-Type", HTML),), content.encode())


def vacancy(request: Request) -> SimResponse:
    """Its deadline comes near in the second epoch."""
    data = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": "Kettle maker",
        "validThrough": f"{SOON if request.epoch else SOON + timedelta(days=200)}",
        "hiringOrganization": {"@type": "Organization", "name": "The Kettle Shop"},
    }
    return document(
        f"<!doctype html><html lang=en><title>Kettle maker</title><h1>Kettle maker</h1><p>{WORDS * 6}</p>"
        f"<script type='application/ld+json'>{json.dumps(data)}</script></html>"
    )


def in_epochs(first: SimResponse, second: SimResponse) -> Callable[[Request], SimResponse]:
    return lambda request: second if request.epoch else first


def home(*links: str) -> SimResponse:
    anchors = "".join(f"<a href='{link}'>{link}</a> " for link in links)
    return document(
        f"<!doctype html><html lang=en><title>Home</title>{anchors}<p>{WORDS * 6}</p></html>"
    )


ROOMS: dict[str, dict[str, Room]] = {
    SHOP: {
        "/": home("/kettle", "/vacancy"),
        "/kettle": in_epochs(document(product_html()), document(product_html(stock="OutOfStock"))),
        "/vacancy": vacancy,
    },
    WALL: {"/": in_epochs(home("/"), plain(403, "No."))},
    OLD: {"/": in_epochs(home("/"), plain(500, "Broken."))},
}
WATCHES: dict[str, tuple[Noun, dict[str, Any], dict[str, Any]]] = {
    "out_of_stock": ("products", {"when": "out_of_stock"}, {"domain": SHOP}),
    "deadline": ("records", {"when": "deadline", "days": 7}, {"domain": SHOP}),
    "blocked": ("pages", {"when": "blocked"}, {"domain": WALL}),
    "stale": ("pages", {"when": "stale", "days": 2}, {"domain": OLD}),
}
SAID = {
    "out_of_stock": "Out of stock: Copper kettle",
    "deadline": f"Deadline on {SOON}: Kettle maker",
    "blocked": f"Blocked: http://{WALL}/",
    "stale": f"No good content since {datetime.now(UTC):%Y-%m-%d}: http://{OLD}/",
}


@dataclass
class House:
    """What receives alerts, and the settings that reach it."""

    receiver: Receiver
    postbox: Postbox

    def settings(self, base: Settings) -> Settings:
        port = int(self.receiver.url.split(":")[2].partition("/")[0])
        opened = base.allowed_networks
        return base.model_copy(
            update={
                "public_url": "https://messor.example", "mail_host": self.postbox.host,
                "mail_port": self.postbox.port, "mail_tls": "none", "mail_from": SENDER,
                "allowed_networks": opened.model_copy(update={"ports": [*opened.ports, port]}),
            }
        )  # fmt: skip

    async def watch(
        self, database: Database, settings: Settings, wanted: dict[str, Any]
    ) -> dict[str, Watch]:
        """Each by mail and by webhook; every watch has a feed."""
        async with database.transaction() as connection:
            hook, _ = await registry.add(
                connection, seal_for(settings), AddressGuard(settings.allowed_networks),
                url=self.receiver.url, types=["watch.added"], may_audit=True, actor="ann",
            )  # fmt: skip
        made = {}
        for name, (noun, condition, filters) in wanted.items():
            await watch_for(
                database, noun, condition, name=name, filters=filters, channel="mail", recipient=ADA
            )
            made[name] = await watch_for(
                database, noun, condition, name=name, filters=filters, channel="webhook",
                webhook_id=hook.id,
            )  # fmt: skip
        return made

    async def has_told(
        self, database: Database, settings: Settings, made: dict[str, Watch], said: dict[str, str]
    ) -> None:
        """Each sentence came once by each way, and never again."""
        async with delivering(settings, database):
            while await work(settings, database):
                pass

            async def arrived() -> bool:
                return len(self.receiver.got) >= len(said) <= len(self.postbox.mails)

            await eventually(arrived, 8)
            await database.fetch("UPDATE messor.watches SET swept_at = NULL")  # the next hour
            while await work(settings, database):
                pass
        hooks = [msgspec.json.decode(body) for _, body in self.receiver.got]
        told = {one["watch"]["name"]: one["alerts"][0]["message"] for one in hooks}
        assert (told, len(hooks)) == (said, len(said))
        mails = {str(one["Subject"]).partition(":")[0]: text_of(one) for one in self.postbox.mails}
        assert len(self.postbox.mails) == len(mails) == len(said)
        sender = Sender.of(settings, database)
        for name, sentence in said.items():
            assert sentence in mails[name]
            alerts = await feeds.newest_alerts(database, made[name])
            fed = msgspec.json.decode(feeds.render("json", made[name], alerts, sender))
            assert [item["title"] for item in fed["items"]] == [sentence]


@pytest.fixture
async def house() -> AsyncIterator[House]:
    with receiving_mail() as postbox:
        async with receiving() as receiver:
            yield House(receiver, postbox)


async def test_two_epochs(database: Database, dsn: str, tmp_path: Path, house: House) -> None:
    async with LittleWeb(tmp_path, ROOMS) as web:
        settings = house.settings(web.settings())
        for host in ROOMS:
            await admit(database, f"http://{host}/")
        await harvest(settings, database)
        made = await house.watch(database, settings, WATCHES)
        while await work(settings, database):
            pass
        assert house.postbox.mails == []  # nothing holds yet
        web.server.epoch = 1
        async with Database(later(dsn, MEANWHILE), pool_size=8) as afterwards:
            async with afterwards.transaction() as connection:
                await tasks.recrawl(connection)
            await harvest(settings, afterwards)
            await house.has_told(afterwards, settings, made, SAID)


def losing(index: SearchIndex, query: str) -> tuple[str, int, str]:
    """A domain that is lower in some later epoch, that epoch, and what is to be said of it."""
    first = index.search(query, 0)
    before = [one.domain for one in first.organic]
    for epoch in range(1, 30):
        page = index.search(query, epoch)
        after = [one.domain for one in page.organic]
        for domain in sorted(set(before) - {one.domain for one in (*first.local, *page.local)}):
            was = before.index(domain) + 1
            now = after.index(domain) + 1 if domain in after else None
            if now is None or now > was:
                place = "is no longer on the page" if now is None else f"is now at {now}"
                return domain, epoch, f"{domain} {place} for “{query}”; it was at {was}"
    raise AssertionError("no rank fell")


async def test_a_lost_rank(
    database: Database,
    tmp_path: Path,
    house: House,
    bench: Bench,
    apply: Apply,
) -> None:
    applied = await apply("community_resources")
    await add_keyword(database, applied, "help", "uk-desktop")
    wanted = (await track.due(database, applied.id))[0].wanted
    domain, epoch, said = losing(bench.index, wanted.query)
    stand_in, hired = await bench.hire("serper")
    settings = house.settings(
        Settings.model_validate(
            {"data_dir": tmp_path, "allowed_networks": {"addresses": ["127.0.0.0/8"]}}
        )
    )
    await track.snapshot(database, Searcher(database, [hired]), wanted)
    ranks = {"rank": ("ranks", {"when": "rank_lost"}, {"domain": domain})}
    made = await house.watch(database, settings, ranks)
    stand_in.epoch = epoch
    again = replace(wanted, window_key="the next window")
    await track.snapshot(database, Searcher(database, [hired]), again)
    await house.has_told(database, settings, made, {"rank": said})
