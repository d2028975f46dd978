"""Job faults: the category of a handler's exception, and whether to retry."""

from __future__ import annotations

import traceback

import asyncpg
import msgspec

from messor.core.masking import mask_text
from messor.errors import MessorError, UnavailableError, UsageError
from messor.jobs.jobs import Job
from messor.jobs.outcomes import Backoff
from messor.ledger.errors import PERMANENT, Category, LoggedError

# The first match decides.
CATEGORIES: tuple[tuple[type[Exception], Category], ...] = (
    (msgspec.ValidationError, "validation"),
    (msgspec.DecodeError, "parse"),
    (asyncpg.DataError, "validation"),
    (asyncpg.PostgresError, "storage"),
    (asyncpg.InterfaceError, "storage"),
    (UnavailableError, "storage"),
    (UsageError, "validation"),
    (OSError, "network"),  # includes TimeoutError
)


class JobError(MessorError):
    """Raised by a handler that knows what went wrong."""

    code = "job"

    def __init__(
        self,
        message: str,
        *,
        category: Category,
        retryable: bool | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        super().__init__(message)
        self.category = category
        self.backoff = backoff  # instead of the usual one
        self.retryable = category not in PERMANENT if retryable is None else retryable


def category_of(error: Exception) -> Category:
    if isinstance(error, JobError):
        return error.category
    return next((name for kind, name in CATEGORIES if isinstance(error, kind)), "internal")


def is_retryable(error: Exception) -> bool:
    if isinstance(error, MessorError):
        return error.retryable
    return category_of(error) not in PERMANENT


def backoff_of(error: Exception, usual: Backoff) -> Backoff:
    return (error.backoff if isinstance(error, JobError) else None) or usual


def fault_of(job: Job, error: Exception) -> LoggedError:
    """The error as stored in the error log."""
    return LoggedError(
        category_of(error),
        type(error).__name__,
        _storable(mask_text(str(error))),
        _storable("".join(traceback.format_exception(error))),
        job_id=job.id,
        detail={"job_type": job.job_type, "attempt": job.attempts},
    )


def _storable(text: str) -> str:
    """Text that PostgreSQL accepts: no NUL and no surrogates."""
    return text.replace("\x00", "").encode("utf-8", "backslashreplace").decode()
