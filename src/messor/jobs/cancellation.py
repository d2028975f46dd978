"""Cancels tasks and waits until they have ended, but not for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

CANCEL_SECONDS = 5.0  # a task that ignores its cancellation is left behind


async def cancel(tasks: Sequence[asyncio.Future[Any]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=CANCEL_SECONDS)
