"""Alerts reach mail, webhook and feed, each once: at once, as a digest, and outside quiet hours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from messor.fetch.guard import AddressGuard
from messor.fetch.proxies.seal import seal_for
from messor.jobs.handlers import Handlers
from messor.jobs.runner import Runner
from messor.mail import deliver as mail_delivery
from messor.ops.webhooks import deliver, registry
from messor.settings import Settings
from messor.store.database import Database
from messor.watches import feeds, watches
from messor.watches.due_times import due_at
from messor.watches.send import Sender
from messor.watches.watcher import work
from messor.watches.watches import NewWatch, Watch
from tests.api.conftest import api_over, client_of
from tests.crawling import PATIENCE, eventually
from tests.harvested import Harvest, open_harvest, product_html
from tests.receiver import FAST, Receiver, receiving
from tests.smtp_server import SENDER, Postbox, plain
from tests.smtp_server import receiving as receiving_mail
from tests.watches.conftest import alerts, evaluate_all, watch_for

ADA = "ada@example.org"
FALLS = {"when": "falls", "field": "price", "percent": 10}


@pytest.fixture
def postbox() -> Iterator[Postbox]:
    with receiving_mail() as box:
        yield box


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


@pytest.fixture
def settings(tmp_path: Path, receiver: Receiver, postbox: Postbox) -> Settings:
    port = int(receiver.url.split(":")[2].partition("/")[0])
    return Settings.model_validate(
        {
            "data_dir": tmp_path,
            "allowed_networks": {"addresses": ["127.0.0.0/8"], "ports": [port]},
            "public_url": "https://messor.example",
            "mail_host": postbox.host,
            "mail_port": postbox.port,
            "mail_tls": "none",
            "mail_from": SENDER,
        }
    )


@asynccontextmanager
async def delivering(settings: Settings, database: Database) -> AsyncIterator[None]:
    handlers = Handlers()
    deliver.register(handlers, settings, database)
    mail_delivery.register(handlers, settings, database)
    runner = Runner(database, handlers, "test", FAST)
    task = asyncio.create_task(runner.run())
    try:
        yield
    finally:
        runner.stop()
        await asyncio.wait_for(task, PATIENCE)


async def fallen(database: Database, shop: Harvest) -> None:
    await shop.see("/kettle", product_html(price="39.90"))


async def shop_of(database: Database) -> Harvest:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html(price="49.90"), timedelta(hours=1))
    await evaluate_all(database)
    return shop


async def test_a_fall_reaches_mail_webhook_slack_and_feed(
    database: Database, settings: Settings, receiver: Receiver, postbox: Postbox
) -> None:
    shop = await shop_of(database)
    async with database.transaction() as connection:
        guard = AddressGuard(settings.allowed_networks)
        hook, _ = await registry.add(
            connection, seal_for(settings), guard, url=receiver.url, types=["watch.added"],
            may_audit=True, actor="ann",
        )  # fmt: skip
    await watch_for(database, "products", FALLS, name="By mail", channel="mail", recipient=ADA)
    for channel in ("webhook", "slack"):
        await watch_for(database, "products", FALLS, channel=channel, webhook_id=hook.id)
    async with database.transaction() as connection:
        wanted = NewWatch("By feed", "products", FALLS)
        fed, token = await watches.add(connection, wanted, actor="ann")
        await watches.switch(connection, fed.id, on=True, actor="ann")
    await fallen(database, shop)
    async with delivering(settings, database):
        while await work(settings, database):
            pass

        async def arrived() -> bool:
            return len(receiver.got) == 2 and len(postbox.mails) == 1

        await eventually(arrived)
        assert not await work(settings, database)  # nothing is told twice
    (mail,) = postbox.mails
    assert "a fall of 20 %" in str(mail["Subject"])
    assert '“"price": "39.90"”' in plain(mail)
    assert "https://messor.example/pages/" in plain(mail)
    bodies = [msgspec.json.decode(body) for _, body in receiver.got]
    signed = next(one for one in bodies if "alerts" in one)
    assert signed["alerts"][0]["after"] == {"price": 39.9}
    assert signed["alerts"][0]["evidence"]["fields"]["price"]["quote"] == '"price": "39.90"'
    assert all("webhook-signature" in headers for headers, _ in receiver.got)
    assert any("a fall of 20 %" in one.get("text", "") for one in bodies)
    app = api_over(settings, database)
    async with client_of(app) as reader:
        for form in ("rss", "atom", "json"):
            answer = await reader.get(f"/api/v1/watches/feeds/{token.reveal()}/{form}")
            assert answer.headers["content-type"].startswith(feeds.MEDIA_TYPES[form])
            assert "a fall of 20 %" in answer.text
            if form != "json":
                ET.fromstring(answer.text)
        assert (await reader.get("/api/v1/watches/feeds/wrong/rss")).status_code == 404


async def test_a_process_that_dies_while_sending_loses_and_doubles_nothing(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = await shop_of(database)
    await watch_for(database, "products", FALLS, channel="mail", recipient=ADA)
    await fallen(database, shop)
    await evaluate_all(database)
    real = Sender.text

    def dying(*_: object) -> str:
        raise ConnectionResetError

    monkeypatch.setattr(Sender, "text", dying)
    with pytest.raises(ConnectionResetError):
        await Sender.of(settings, database).send()
    assert [one.state for one in await alerts(database)] == ["due"]
    assert await database.fetchval("SELECT count(*) FROM messor.mails") == 0
    monkeypatch.setattr(Sender, "text", real)
    for _ in range(2):
        await Sender.of(settings, database).send()
    assert await database.fetchval("SELECT count(*) FROM messor.mails") == 1


async def test_a_digest_is_one_mail(database: Database, settings: Settings) -> None:
    shop = await shop_of(database)
    watch = await watch_for(
        database, "products", {"when": "new"}, channel="mail", recipient=ADA, digest="daily"
    )
    for name in ("a", "b", "c"):
        await shop.see(f"/{name}", product_html(f"Cup {name}", sku=name))
    await evaluate_all(database)
    assert await Sender.of(settings, database).send() == 0
    await database.fetch("UPDATE messor.watch_alerts SET due_at = messor.clock()")
    assert await Sender.of(settings, database).send() == 3
    (row,) = await database.fetch("SELECT subject, body FROM messor.mails")
    assert row["subject"] == f"{watch.name}: 3 changes"
    assert all(f"New: Cup {name}" in row["body"] for name in ("a", "b", "c"))


NOW = datetime(2026, 11, 18, 22, 30, tzinfo=UTC)  # a Wednesday; 23:30 in Berlin


@pytest.mark.parametrize(
    "terms, expected",
    [
        ({}, NOW),
        ({"digest": "daily", "hour": 8}, datetime(2026, 11, 19, 7, tzinfo=UTC)),
        ({"digest": "weekly", "hour": 8}, datetime(2026, 11, 23, 7, tzinfo=UTC)),
        ({"quiet_from": 22, "quiet_to": 7}, datetime(2026, 11, 19, 6, tzinfo=UTC)),
        ({"quiet_from": 1, "quiet_to": 7}, NOW),
        ({"quiet_from": 7, "quiet_to": 7}, NOW),
    ],
)
async def test_when_an_alert_is_due(
    database: Database, terms: dict[str, object], expected: datetime
) -> None:
    watch: Watch = await watch_for(database, "products", {"when": "new"}, zone="Europe/Berlin")
    assert due_at(replace(watch, **terms), NOW) == expected  # type: ignore[arg-type]


async def test_alerts_go_with_their_page(database: Database, settings: Settings) -> None:
    shop = await shop_of(database)
    await watch_for(database, "products", FALLS)
    await fallen(database, shop)
    await evaluate_all(database)
    await database.fetch("SELECT messor.forget_pages(array_agg(id), true) FROM messor.pages")
    assert await alerts(database) == []
