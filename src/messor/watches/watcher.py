"""The watcher: evaluates changes, sweeps, takes second looks and sends, as long as it runs.

Any number may run, in any process: each step takes what it works on.
"""

from __future__ import annotations

from functools import partial

from messor.settings import Settings
from messor.store.database import Database
from messor.store.rounds import Rounds
from messor.watches import checks
from messor.watches.evaluate import evaluate
from messor.watches.second_look import look_again
from messor.watches.send import Sender
from messor.watches.sweep import sweep

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


def watcher(settings: Settings, database: Database) -> Rounds:
    """The component that works as long as it runs."""
    return Rounds(
        "watching",
        partial(work, settings, database),
        first=partial(database.fetch, FORGET),
        hang_seconds=HANG_SECONDS,
    )
