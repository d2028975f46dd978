"""CSRF tokens: proof that a form was sent from one of our own pages.

The cookie is a session's token or, before a login, a random one set by the console. Nothing is
stored: the token is a nonce and its HMAC under a key derived from the cookie. Each page has another
nonce, so compression leaks nothing about it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

from messor.access.errors import ForgedRequestError

_PURPOSE = b"messor.access.csrf"
_NONCE = 16
_LENGTH = 64  # of 48 bytes in base64


def csrf_token(cookie: str) -> str:
    """A token for one page or form."""
    nonce = secrets.token_bytes(_NONCE)
    return base64.urlsafe_b64encode(nonce + _sign(cookie, nonce)).decode()


def check_csrf(cookie: str | None, given: str | None) -> None:
    """Reject a request without a token made for this cookie."""
    if not cookie or not given or not _fits(cookie, given):
        raise ForgedRequestError(
            "This form was not sent from a page of this session. Reload the page and send it again."
        )


def _fits(cookie: str, given: str) -> bool:
    if len(given) != _LENGTH:
        return False
    try:
        raw = base64.b64decode(given.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return False
    return hmac.compare_digest(raw[_NONCE:], _sign(cookie, raw[:_NONCE]))


def _sign(cookie: str, nonce: bytes) -> bytes:
    key = hmac.digest(cookie.encode("utf-8", "surrogatepass"), _PURPOSE, hashlib.sha256)
    return hmac.digest(key, nonce, hashlib.sha256)
