"""Error logs: errors in full, by category, so that patterns can be found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args
from uuid import UUID

import msgspec

from messor.core.masking import mask_except_pages, mask_text
from messor.store.database import Connection

LOG = """
INSERT INTO messor.error_logs (crawl_task_id, job_id, category, error_type, error_message,
                               stack_trace, detail)
SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[],
                     $7::jsonb[])
"""

Category = Literal["network", "http", "blocked", "parse", "validation", "storage", "internal"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
# Invalid input stays invalid; everything else may pass, and attempts limit what does not.
PERMANENT: frozenset[Category] = frozenset(("parse", "validation"))
# Factors of the wait before a retry: a host that blocks us needs longer than a network to recover.
PATIENCE: Mapping[Category, float] = {"http": 2.0, "blocked": 10.0}


@dataclass(frozen=True, slots=True)
class LoggedError:
    """One error with its context."""

    category: Category
    error_type: str
    message: str
    stack: str | None
    page_id: int | None = None
    job_id: UUID | None = None
    detail: dict[str, Any] | None = None

    @classmethod
    def of_task(
        cls, page_id: int, category: Category, error: Exception, stack: str, detail: dict[str, Any]
    ) -> LoggedError:
        name = type(error).__name__
        message = str(error).replace("\x00", "")
        return cls(category, name, message, stack.replace("\x00", ""), page_id, None, detail)


async def log(connection: Connection, faults: Sequence[LoggedError]) -> None:
    await connection.execute(
        LOG,
        [fault.page_id for fault in faults],
        [fault.job_id for fault in faults],
        [fault.category for fault in faults],
        [fault.error_type for fault in faults],
        [mask_text(fault.message) for fault in faults],
        [None if fault.stack is None else mask_text(fault.stack) for fault in faults],
        [_storable_json(_masked_detail(fault)) for fault in faults],
    )


def _masked_detail(fault: LoggedError) -> dict[str, Any]:
    """Detail without secrets; a page's error keeps the page's own URL."""
    pages = () if fault.page_id is None else ("url",)
    return mask_except_pages(fault.detail or {}, pages)


def _storable_json(detail: dict[str, Any]) -> str:
    """JSON that PostgreSQL accepts: without NUL, not even escaped."""
    return msgspec.json.encode(detail).decode().replace("\\u0000", "")
