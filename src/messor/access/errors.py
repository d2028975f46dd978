"""Why access was refused; each kind has its own answer at the doors.

AccessError
├── UnauthenticatedError       nobody is known by what was shown      (401)
│   ├── WrongCredentialsError  name and password do not fit
│   ├── SessionEndedError      logged out, revoked or run out
│   ├── BadKeyError            no such API key, or it no longer holds
│   ├── BadLinkError           used, run out, or never made
│   └── CodeNeededError        the code of the second factor is asked for
├── ForbiddenError             known, but not allowed to do this      (403)
│   └── ForgedRequestError     without the token of the page it should come from
└── ThrottledError             too often; `retry_after` says when     (429)
WeakPasswordError              a kind of UsageError                   (422)
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
    """The first factor was right; `token` is what the code is to be sent with."""

    code = "code_needed"

    def __init__(self, token: Secret) -> None:
        self.token = token
        super().__init__("Type the code that your authenticator app shows.")


class ForbiddenError(AccessError):
    code = "forbidden"


class ForgedRequestError(ForbiddenError):
    code = "forged_request"


class ThrottledError(AccessError):
    """Too often; `retry_after` is in whole seconds, as the header of that name wants it."""

    code = "throttled"
    retryable = True

    def __init__(self, what: str, wait_seconds: float) -> None:
        self.retry_after = max(1, math.ceil(wait_seconds))
        unit = "second" if self.retry_after == 1 else "seconds"
        super().__init__(f"{what} Try again in {self.retry_after} {unit}.")


class WeakPasswordError(UsageError):
    code = "weak_password"
