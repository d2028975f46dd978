"""The outbox and its relay: what is written, what is sent, and what a full or lost broker changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import replace
from typing import Literal

import pytest

from messor.core.ids import new_id
from messor.jobs import jobs, leases
from messor.jobs.broker import outbox
from messor.jobs.broker.app import QUEUE_PREFIX, build_app
from messor.jobs.broker.options import Options
from messor.jobs.broker.outbox import Hint
from messor.jobs.broker.publisher import BrokerAwayError, BrokerFullError, Publisher
from messor.jobs.broker.relay import Relay
from messor.jobs.jobs import NewJob
from messor.store.database import Database
from tests.broker.conftest import PATIENCE, TYPES, ask, delete_queues, standing, until_so
from tests.broker.rabbitmq import RabbitMQ, free_port

MakeRelay = Callable[..., Relay]


@pytest.fixture
async def make_relay(options: Options) -> AsyncIterator[MakeRelay]:
    async with AsyncExitStack() as opened:

        def make(database: Database, holder: str = "relay", **changes: object) -> Relay:
            chosen = replace(options, **changes)  # type: ignore[arg-type] # given by name
            publisher = Publisher(build_app(chosen), chosen)
            opened.callback(publisher.close)
            return Relay(database, publisher, holder, TYPES, chosen, repair=nothing)

        yield make


async def nothing() -> None:
    """A given server is somebody else's to repair."""


async def written(database: Database) -> int:
    count: int = await database.fetchval("SELECT count(*) FROM messor.job_outbox")
    return count


async def test_without_a_broker_no_hint_is_written(database: Database) -> None:
    await ask(database, "a")
    assert await written(database) == 0


async def test_a_hint_is_part_of_the_transaction_that_asks(database: Database) -> None:
    await outbox.open_outbox(database)
    await outbox.open_outbox(database)
    assert await outbox.hold(database, "relay", 600)
    await ask(database, "a", "b")
    await ask(database, "b", "c")
    assert await written(database) == 3
    with suppress(asyncio.CancelledError):
        async with database.transaction() as connection:
            await jobs.enqueue(connection, [NewJob("score", "d", "domain")])
            raise asyncio.CancelledError
    assert await written(database) == 3


async def test_an_outbox_nobody_empties_does_not_grow(database: Database) -> None:
    await outbox.open_outbox(database)
    await ask(database, "a")
    assert await outbox.hold(database, "relay", -3000)
    await ask(database, "b")
    assert await outbox.hold(database, "relay", -3601)
    await ask(database, "c")
    assert [hint.job_type for hint in (await outbox.waiting(database, 9)).values()] == ["score"]


async def test_one_relay_at_a_time(database: Database) -> None:
    assert await outbox.hold(database, "one", 15)
    assert not await outbox.hold(database, "two", 15)
    assert await outbox.hold(database, "one", 15)
    await outbox.let_go(database, "two")
    assert not await outbox.hold(database, "two", 15)
    await outbox.let_go(database, "one")
    assert await outbox.hold(database, "two", 15)


@pytest.mark.parametrize("queue_type", ["classic", "quorum"])
async def test_hints_go_to_the_queue_of_their_type(
    database: Database,
    broker: RabbitMQ,
    make_relay: MakeRelay,
    queue_type: Literal["classic", "quorum"],
) -> None:
    relay = make_relay(database, queue_type=queue_type)
    await outbox.open_outbox(database)
    await relay.work()
    await ask(database, "a", "b")
    await ask(database, "c", job_type="other")
    await relay.work()
    await until_so(lambda: (standing(broker)[0], standing(broker, "other")[0]) == (2, 1))
    assert await written(database) == 0


async def test_hints_at_jobs_that_are_taken_are_not_sent(
    database: Database, broker: RabbitMQ, make_relay: MakeRelay
) -> None:
    relay = make_relay(database)
    await outbox.open_outbox(database)
    await relay.work()
    await ask(database, "a", "b")
    await leases.claim(database, "worker", ["score"], 1, 60)
    await relay.work()
    assert standing(broker)[0] == 1
    assert await written(database) == 0


async def test_a_full_queue_leaves_its_hints_in_the_outbox(
    database: Database, broker: RabbitMQ, make_relay: MakeRelay
) -> None:
    relay = make_relay(database, queue_length=3)
    await outbox.open_outbox(database)
    await relay.work()
    await ask(database, *(f"{number}" for number in range(300)))
    await ask(database, "z", job_type="other")
    for _ in range(3):
        await relay.work()
    assert standing(broker)[0] >= 3
    assert standing(broker)[0] + await written(database) == 300
    assert standing(broker, "other")[0] == 1


async def test_only_the_settings_say_where_the_broker_is(
    broker: RabbitMQ, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BROKER_URL", "BROKER_READ_URL", "BROKER_WRITE_URL", "RESULT_BACKEND"):
        monkeypatch.setenv(f"CELERY_{name}", f"redis://127.0.0.1:{free_port()}")
    app = build_app(options)
    assert app.connection_for_read().port == broker.port
    assert type(app.backend).__name__ == "DisabledBackend"
    with closing(Publisher(app, options)) as publisher:
        assert publisher.send([Hint(new_id(), "score")]) == 1
    assert standing(broker)[0] == 1


async def test_a_full_queue_is_said(broker: RabbitMQ, options: Options) -> None:
    few = replace(options, queue_length=1)
    hints = [Hint(new_id(), "score") for _ in range(9)]
    with closing(Publisher(build_app(few), few)) as publisher:
        assert 1 <= publisher.send(hints) < 9
        with pytest.raises(BrokerFullError, match="queue of 'score' is full"):
            publisher.send(hints)
        with closing(broker.connect()) as connection:
            connection.channel().queue_purge(QUEUE_PREFIX + "score")
        assert publisher.send(hints) >= 1


async def test_a_broker_without_memory_is_not_waited_for(
    database: Database, broker: RabbitMQ, make_relay: MakeRelay
) -> None:
    relay = make_relay(database, timeout_seconds=2.0)
    await outbox.open_outbox(database)
    await relay.work()
    await asyncio.to_thread(broker.control, "set_vm_memory_high_watermark", "0.00001")
    try:
        await ask(database, "a")
        with pytest.raises(BrokerAwayError):
            await relay.work()
        assert await written(database) == 1
    finally:
        await asyncio.to_thread(broker.control, "set_vm_memory_high_watermark", "0.4")
    await relay.work()
    assert await written(database) == 0
    assert standing(broker)[0] >= 1


async def test_a_broker_that_is_not_there_is_named(
    database: Database, make_relay: MakeRelay
) -> None:
    relay = make_relay(database, url=f"amqp://guest:guest@127.0.0.1:{free_port()}//")
    await outbox.open_outbox(database)
    await outbox.hold(database, "relay", 600)
    await ask(database, "a")
    with pytest.raises(BrokerAwayError, match="rejects hints"):
        await relay.work()
    assert await written(database) == 1


async def test_a_deleted_queue_swallows_nothing(
    database: Database, broker: RabbitMQ, make_relay: MakeRelay
) -> None:
    relay = make_relay(database, overdue_seconds=3600.0)
    await outbox.open_outbox(database)
    await relay.work()
    await ask(database, "a")
    await relay.work()
    delete_queues(broker)
    await ask(database, "b")
    with pytest.raises(BrokerAwayError):
        await relay.work()
    await relay.work()
    assert standing(broker)[0] == 1
    assert await written(database) == 0


async def test_lost_hints_are_sent_again_and_waiting_ones_are_not_doubled(
    database: Database, broker: RabbitMQ, make_relay: MakeRelay
) -> None:
    relay = make_relay(database, sweep_seconds=0.0, overdue_seconds=0.0)
    await ask(database, *"abc")
    await relay.work()
    assert relay.counts == {"swept": 3}
    await relay.work()
    assert standing(broker)[0] == 3
    delete_queues(broker)
    await relay.work()
    assert relay.counts == {"swept": 6}
    assert standing(broker)[0] == 3


async def test_a_stopped_relay_hands_the_outbox_on(
    database: Database, make_relay: MakeRelay
) -> None:
    relay = make_relay(database)
    running = asyncio.create_task(relay.run())
    await ask(database, "a")
    async with asyncio.timeout(PATIENCE):
        while not relay.counts:  # noqa: ASYNC110 - counts have no event
            await asyncio.sleep(0.02)
        relay.stop()
        await running
    assert await outbox.hold(database, "another", 15)
