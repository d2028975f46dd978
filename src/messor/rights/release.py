"""Release: the one function that collected data passes before it leaves, with a declared purpose.

Exports, feeds, webhooks, watches, search engines and analytics call it once per batch, so a decision
costs one statement for many rows. Everything is allowed: what sites say about use is not evaluated
yet. Reading a list or a page in an interface is not leaving.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

from messor.store.database import Connection, Database

Item = TypeVar("Item")


class Purpose(StrEnum):
    """What the receiver does with it."""

    EXPORT = "export"  # files for people and their programs
    FEED = "feed"  # streams that programs follow
    WEBHOOK = "webhook"
    ALERT = "alert"  # watches: mail, webhook or feed of what somebody waits for
    SEARCH = "search"  # an index outside PostgreSQL
    ANALYTICS = "analytics"  # tables outside PostgreSQL
    AGENT = "agent"  # answers to programs that read pages, mostly for a model


async def release(
    source: Connection | Database,  # noqa: ARG001 - where a decision reads what sites said
    purpose: Purpose,  # noqa: ARG001 - what it depends on
    items: Sequence[Item],
    page_of: Callable[[Item], int | None],  # noqa: ARG001 - whose statements apply
) -> list[Item]:
    """The items that may leave for this purpose, in their order.

    `page_of` returns the page that an item was read from; None if it has no single one.
    """
    return list(items)
