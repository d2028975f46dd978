"""Errors of authentication and authorisation; each has its own response in API and console.

AccessError
├── UnauthenticatedError       the caller is not authenticated         (401)
│   ├── WrongCredentialsError  wrong e-mail address or password
│   ├── SessionEndedError      logged out, revoked or expired
│   ├── BadKeyError            unknown, revoked or expired API key
│   ├── BadLinkError           used, expired or unknown one-time link
│   └── CodeNeededError        the second factor is required
├── ForbiddenError             authenticated, but without permission   (403)
│   └── ForgedRequestError     missing or wrong CSRF token
└── ThrottledError             too many requests; see `retry_after`    (429)
WeakPasswordError              a kind of UsageError                    (422)
"""

from __future__ import annotations

import math

from messor.access.secret import Secret
from messor.errors import MessorError, UsageError


class AccessError(MessorError):
    code = "access"
    exit_code = 5


class UnauthenticatedError(AccessError):
    code = "unauthenticated"


class WrongCredentialsError(UnauthenticatedError):
    code = "wrong_credentials"


class SessionEndedError(UnauthenticatedError):
    code = "session_ended"


class BadKeyError(UnauthenticatedError):
    code = "bad_key"


class BadLinkError(UnauthenticatedError):
    code = "bad_link"


class CodeNeededError(UnauthenticatedError):
    """The first factor was right; `token` must be sent together with the code."""

    code = "code_needed"

    def __init__(self, token: Secret) -> None:
        self.token = token
        super().__init__("Enter the code shown by your authenticator app.")


class ForbiddenError(AccessError):
    code = "forbidden"


class ForgedRequestError(ForbiddenError):
    code = "forged_request"


class ThrottledError(AccessError):
    """Too many requests; `retry_after` is in whole seconds, as the Retry-After header requires."""

    code = "throttled"
    retryable = True

    def __init__(self, what: str, wait_seconds: float) -> None:
        self.retry_after = max(1, math.ceil(wait_seconds))
        unit = "second" if self.retry_after == 1 else "seconds"
        super().__init__(f"{what} Try again in {self.retry_after} {unit}.")


class WeakPasswordError(UsageError):
    code = "weak_password"
