"""Celery workers on a real RabbitMQ: messages lost, doubled and reordered, the broker gone and back."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import subprocess
import sys
import urllib.request
from contextlib import closing
from dataclasses import replace
from uuid import uuid4

import amqp
import pytest

from messor.jobs.broker.app import build_app
from messor.jobs.broker.options import Options
from messor.jobs.broker.outbox import Hint
from messor.jobs.broker.publisher import BrokerAwayError, Publisher, hints_waiting
from messor.store.database import Database
from tests.broker.conftest import PATIENCE, Team, ask, made, standing, until, until_so
from tests.broker.rabbitmq import RabbitMQ, free_port


def send(options: Options, hints: list[Hint]) -> None:
    with closing(Publisher(build_app(options), options)) as publisher:
        assert publisher.send(hints) == len(hints)


async def lose_hints(database: Database, *keys: str) -> list[Hint]:
    """Jobs whose hints never reach the broker, and what they would have been."""
    return [Hint(job.id, job.job_type) for job in await ask(database, *keys)]


async def connected(broker: RabbitMQ, consumers: int = 1) -> None:
    await until_so(lambda: standing(broker)[1] == consumers)


@pytest.mark.wide
async def test_hints_may_be_doubled_reordered_or_nonsense(
    database: Database, broker: RabbitMQ, celery_team: Team, options: Options
) -> None:
    hints = await lose_hints(database, *"abcdefghij")
    wrong = [Hint(uuid4(), "score"), Hint(hints[0].job_id, "other")]
    scattered = hints * 3 + wrong
    random.Random(7).shuffle(scattered)
    await asyncio.to_thread(send, options, scattered)
    with closing(broker.connect()) as connection:
        for body in (b"\x80\x04.", b"{", b"[[1, 2, 3], {}, {}]"):
            message = amqp.Message(body, content_type="application/json")
            connection.channel().basic_publish(message, routing_key="messor.score")
    await celery_team.hire()
    await until(database, done=10)
    await until_so(lambda: standing(broker)[0] == 0)
    assert await made(database) == list("abcdefghij")
    assert await celery_team.dismiss() == [0]


async def test_lost_hints_are_made_up_for(
    database: Database, broker: RabbitMQ, celery_team: Team
) -> None:
    await celery_team.hire()
    await connected(broker)
    async with database.transaction() as connection:
        await connection.execute("ALTER TABLE messor.jobs DISABLE TRIGGER jobs_hint")
    await ask(database, *"abc")
    await until(database, done=3)
    with closing(broker.connect()) as connection:
        connection.channel().queue_delete("messor.score")
    await ask(database, *"de")
    await until(database, done=5)
    assert await made(database) == list("abcde")


async def test_another_feeds_the_broker_when_one_dies(
    database: Database, broker: RabbitMQ, celery_team: Team
) -> None:
    first = await celery_team.lead()
    await celery_team.hire()
    await connected(broker)
    await ask(database, "a")
    await until(database, done=1)
    await celery_team.lead()
    first.kill()
    await ask(database, "b", "c")
    await until(database, done=3)


@pytest.mark.wide
async def test_connections_are_cut(database: Database, broker: RabbitMQ, celery_team: Team) -> None:
    await celery_team.hire()
    await connected(broker)
    await ask(database, "a")
    await until(database, done=1)
    await asyncio.to_thread(broker.control, "close_all_connections", "cut by a test")
    await ask(database, "b")
    await until(database, done=2)
    await connected(broker)
    await ask(database, "c")
    await until(database, done=3)
    assert await made(database) == ["a", "b", "c"]
    assert await celery_team.dismiss() == [0]


async def test_work_begins_without_the_broker(database: Database, celery_team: Team) -> None:
    assert celery_team.options is not None
    url = f"amqp://guest:guest@127.0.0.1:{free_port()}//"
    celery_team.options = replace(celery_team.options, url=url)
    await celery_team.hire()
    await ask(database, *"abc")
    await until(database, done=3)
    assert await celery_team.dismiss() == [0]


async def test_queues_of_another_shape_are_named_and_done_without(
    database: Database, broker: RabbitMQ, celery_team: Team, options: Options
) -> None:
    """Somebody changed the length or the type of queues that are there already."""
    with closing(Publisher(build_app(options), options)) as publisher:
        publisher.declare(["score"])
    celery_team.options = replace(options, queue_length=7)
    with pytest.raises(BrokerAwayError, match=r"rabbitmqctl delete_queue messor\.score"):
        hints_waiting(celery_team.options, ["score"])
    await celery_team.hire()
    await ask(database, *"abc")
    await until(database, done=3)
    with closing(broker.connect()) as connection:
        connection.channel().queue_delete("messor.score")
    await connected(broker)
    await ask(database, "d")
    await until(database, done=4)
    assert hints_waiting(celery_team.options, ["score"]) == {"score": 0}
    assert await celery_team.dismiss() == [0]


async def test_a_type_goes_to_the_workers_that_do_it(
    database: Database, broker: RabbitMQ, celery_team: Team
) -> None:
    await celery_team.hire(job_types=["score"])
    await connected(broker)
    await ask(database, "a")
    await ask(database, "b", job_type="other")
    await until(database, done=1, queued=1)
    assert await made(database) == ["a"]
    await until_so(lambda: standing(broker, "other") == (1, 0))
    await celery_team.hire(job_types=["other"])
    await until(database, done=2)


async def test_flower_shows_workers_and_hints(
    database: Database, broker: RabbitMQ, celery_team: Team
) -> None:
    port = free_port()
    command = [
        *(sys.executable, "-m", "celery", "flower"),
        *("--address=127.0.0.1", f"--port={port}"),
    ]
    environment = {
        **os.environ,
        "CELERY_BROKER_URL": broker.url,
        "FLOWER_UNAUTHENTICATED_API": "true",
    }
    flower = await asyncio.to_thread(
        subprocess.Popen, command, env=environment, stderr=subprocess.DEVNULL
    )
    try:
        await until_so(lambda: flower_says(port, "workers") is not None)
        await celery_team.hire()
        await connected(broker)
        tasks = await tasks_seen(database, port)
        assert {task["name"] for task in tasks.values()} == {"messor.hint"}
    finally:
        flower.kill()
        flower.wait()


async def tasks_seen(database: Database, port: int) -> dict[str, dict[str, str]]:
    """Jobs are asked for until Flower has seen one: it may begin to listen after it answers."""
    async with asyncio.timeout(PATIENCE):
        for number in itertools.count():
            await ask(database, f"a{number}")
            await until(database, done=number + 1)
            if tasks := await asyncio.to_thread(flower_says, port, "tasks"):
                return tasks
            await asyncio.sleep(0.2)
    raise AssertionError


def flower_says(port: int, about: str) -> dict[str, dict[str, str]] | None:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/{about}", timeout=30) as answer:
            said: dict[str, dict[str, str]] = json.load(answer)
            return said
    except OSError:
        return None
