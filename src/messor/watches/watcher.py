"""The watcher: evaluates changes, sweeps, takes second looks and sends, as long as it runs.

Any number may run, in any process: each step takes what it works on.
"""

from __future__ import annotations

import asyncio

from messor.core.heartbeat import Heartbeat
from messor.core.logs import room_logger
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database
from messor.watches import checks
from messor.watches.evaluate import evaluate
from messor.watches.second_look import look_again
from messor.watches.send import Sender
from messor.watches.sweep import sweep

logger = room_logger(__name__)

LOOK_SECONDS = 2.0
HANG_SECONDS = 900.0  # a round may send many mails
FORGET = """
DELETE FROM messor.watch_alerts WHERE id = ANY (ARRAY(
  SELECT id FROM messor.watch_alerts WHERE state IN ('sent', 'dropped')
     AND created_at < (SELECT messor.clock()) - interval '180 days' LIMIT 1000))
"""


async def work(settings: Settings, database: Database) -> bool:
    """One round; whether more is waiting."""
    evaluated = await evaluate(database)
    swept = await sweep(database)
    await look_again(database)
    sent = await Sender.of(settings, database).send()
    checked = await checks.advance(database)
    return bool(evaluated or swept or sent or checked)


class Watcher:
    """Works as long as it runs."""

    def __init__(
        self, settings: Settings, database: Database, *, look_seconds: float = LOOK_SECONDS
    ) -> None:
        self._settings = settings
        self._database = database
        self._look_seconds = look_seconds
        self._stop = asyncio.Event()
        self.heartbeat = Heartbeat(HANG_SECONDS)

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        await self._database.fetch(FORGET)
        while not self._stop.is_set():
            self.heartbeat.beat("watching")
            is_busy = False
            try:
                is_busy = await work(self._settings, self._database)
            except (*LOST_CONNECTION, *TRY_AGAIN) as error:
                logger.warning("Watches wait for the database: %s", type(error).__name__)
            if is_busy:
                continue
            try:
                await asyncio.wait_for(self._stop.wait(), self._look_seconds)
            except TimeoutError:
                continue
