"""Messor's errors: one root, each with a stable code and a sentence that says what to do.

    MessorError
    ├── UsageError          bad input from a person               exit 2
    ├── PartlyTakenError    some lines of a batch were not taken  exit 3
    ├── NotFoundError       what was asked for is not there       exit 4
    ├── ConflictError       a rule of the registry forbids it     exit 5
    │   ├── NeedsApprovalError  somebody has to approve it first
    │   └── TrafficHaltedError  all traffic to sites is halted
    ├── UnavailableError    a server or folder cannot be used     exit 6
    ├── NothingHarvestedError  a crawl or an import brought no page at all  exit 7
    ├── InterruptedRunError a person or a signal ended it before it was done  exit 130
    ├── ImpoliteError       an audit found what should not have happened  exit 8
    └── LeaseLostError      another worker holds the work now     (internal)

`retryable` tells whether the same call may succeed later without a change by a person.
"""

from __future__ import annotations


class MessorError(Exception):
    """The root: `code` for machines, the message for people."""

    code = "error"
    exit_code = 1
    retryable = False


class UsageError(MessorError):
    code = "usage"
    exit_code = 2


class PartlyTakenError(MessorError):
    code = "partly_taken"
    exit_code = 3


class NotFoundError(MessorError):
    code = "not_found"
    exit_code = 4


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


class NothingHarvestedError(MessorError):
    code = "nothing_harvested"
    exit_code = 7
    retryable = True


class InterruptedRunError(MessorError):
    code = "interrupted"
    exit_code = 130
    retryable = True


class ImpoliteError(MessorError):
    code = "impolite"
    exit_code = 8


class LeaseLostError(MessorError):
    code = "lease_lost"
    retryable = True
