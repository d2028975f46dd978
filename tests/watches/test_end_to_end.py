"""Two epochs of the simulated web: what changes in its shop reaches mail, webhook and feed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from messor.extraction import queue
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.fetch.guard import AddressGuard
from messor.fetch.proxies.seal import seal_for
from messor.frontier import tasks
from messor.ops.webhooks import registry
from messor.settings import Settings
from messor.store.database import Database
from messor.watches import feeds
from messor.watches.send import Sender
from messor.watches.watcher import work
from messor.watches.watches import Watch
from simweb import WorldProcess
from tests.conftest import settings_for
from tests.crawling import admit, crawl, eventually
from tests.receiver import receiving
from tests.smtp_server import SENDER, plain
from tests.smtp_server import receiving as receiving_mail
from tests.watches.conftest import watch_for
from tests.watches.test_send import ADA, delivering

SHOP = "shop.kettle-and-lamp.test"
DOMAIN = "kettle-and-lamp.test"
# What epoch 2 changes: one product is cheaper, one dearer, one gone, one new.
EXPECTED = {
    "new": "fountain-pen",
    "removed": "oak-reading-lamp",
    "falls": "walking-stick",
    "crosses": "walking-stick",
    "changed": "canvas-rucksack",
}
CONDITIONS: dict[str, dict[str, Any]] = {
    "new": {"when": "new"},
    "removed": {"when": "removed"},
    "falls": {"when": "falls", "field": "price", "percent": 10},
    "crosses": {"when": "crosses", "field": "price", "value": 16},
    "changed": {"when": "changed", "field": "price"},
}


async def harvest(settings: Settings, database: Database) -> None:
    await crawl(settings, database, 120)
    readers = ReaderPool(1)
    try:
        await queue.catch_up(database)
        await Extractor(database, settings.data_dir / "archive", readers).run()
    finally:
        await readers.close()


async def told_by_feed(database: Database, settings: Settings, watch: Watch) -> str:
    alerts = await feeds.newest_alerts(database, watch)
    return feeds.render("json", watch, alerts, Sender.of(settings, database)).decode()


async def test_two_epochs(database: Database, tmp_path: Path) -> None:
    async with receiving() as receiver:
        with WorldProcess("demo") as world, receiving_mail() as postbox:
            port = int(receiver.url.split(":")[2].partition("/")[0])
            settings = settings_for(
                world, tmp_path, public_url="https://messor.example", mail_host=postbox.host,
                mail_port=postbox.port, mail_tls="none", mail_from=SENDER,
            )  # fmt: skip
            opened = settings.allowed_networks
            settings.allowed_networks = opened.model_copy(update={"ports": [*opened.ports, port]})
            await admit(database, f"https://{SHOP}/")
            await harvest(settings, database)
            while await work(settings, database):
                pass
            async with database.transaction() as connection:
                hook, _ = await registry.add(
                    connection, seal_for(settings), AddressGuard(settings.allowed_networks),
                    url=receiver.url, types=["watch.added"], may_audit=True, actor="ann",
                )  # fmt: skip
            filters, made = {"domain": DOMAIN}, {}
            for name, condition in CONDITIONS.items():
                await watch_for(
                    database, "products", condition, name=name, filters=filters, channel="mail",
                    recipient=ADA,
                )  # fmt: skip
                made[name] = await watch_for(
                    database, "products", condition, name=name, filters=filters,
                    channel="webhook", webhook_id=hook.id,
                )  # fmt: skip
            world.set_epoch(2)
            async with database.transaction() as connection:
                await tasks.recrawl(connection)
            await harvest(settings, database)
            async with delivering(settings, database):
                while await work(settings, database):
                    pass

                async def arrived() -> bool:
                    return len(receiver.got) >= len(EXPECTED) <= len(postbox.mails)

                await eventually(arrived)
            told = {}
            for _, body in receiver.got:
                message = msgspec.json.decode(body)
                told[message["watch"]["name"]] = body.decode()
            mails = {str(one["Subject"]).partition(":")[0]: plain(one) for one in postbox.mails}
            for name, product in EXPECTED.items():
                assert product in told[name], name
                assert product in mails[name], name
                assert product in await told_by_feed(database, settings, made[name]), name
                assert "https://messor.example/pages/" in mails[name]
            assert len(receiver.got) == len(postbox.mails) == len(EXPECTED)
