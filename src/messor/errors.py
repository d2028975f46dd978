"""Messor's errors: one root; each has a stable code and a message that says what to do.

    MessorError
    ├── UsageError             invalid input                         exit 2
    ├── PartiallyRefusedError  part of a batch was refused           exit 3
    ├── NotFoundError          the requested object does not exist   exit 4
    │   └── CursorExpiredError     what follows a cursor is no longer kept
    ├── ConflictError          the current state forbids the action  exit 5
    │   ├── NeedsApprovalError     the domain must be approved first
    │   └── TrafficHaltedError     all traffic to sites is halted
    ├── UnavailableError       a server or folder cannot be used     exit 6
    ├── NoPagesError           a crawl or import returned no page    exit 7
    ├── AuditFailedError       an audit found a violation            exit 8
    ├── InterruptedRunError    stopped by a person or a signal       exit 130
    └── LeaseLostError         another worker now holds the work     (internal)

`retryable` says whether the same call may succeed later without anyone changing anything.
"""

from __future__ import annotations


class MessorError(Exception):
    """Base class: `code` is for programs, the message for people."""

    code = "error"
    exit_code = 1
    retryable = False


class UsageError(MessorError):
    code = "usage"
    exit_code = 2


class PartiallyRefusedError(MessorError):
    code = "partly_taken"
    exit_code = 3


class NotFoundError(MessorError):
    code = "not_found"
    exit_code = 4


class CursorExpiredError(NotFoundError):
    code = "cursor_expired"


class ConflictError(MessorError):
    code = "conflict"
    exit_code = 5


class NeedsApprovalError(ConflictError):
    code = "needs_approval"
    retryable = True


class TrafficHaltedError(ConflictError):
    code = "traffic_halted"
    retryable = True


class UnavailableError(MessorError):
    code = "unavailable"
    exit_code = 6
    retryable = True


class NoPagesError(MessorError):
    code = "nothing_harvested"
    exit_code = 7
    retryable = True


class InterruptedRunError(MessorError):
    code = "interrupted"
    exit_code = 130
    retryable = True


class AuditFailedError(MessorError):
    code = "impolite"
    exit_code = 8


class LeaseLostError(MessorError):
    code = "lease_lost"
    retryable = True
