"""Proof that a form was sent from a page of ours: a token only who holds the cookie can get.

The cookie is a session's token or, before a login, a random one the door sets. Nothing is stored:
the token is a nonce and its HMAC under a key that is derived from the cookie. Each page has
another nonce, so compression tells nothing of it.
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
    """Refuse what does not carry a token made for this cookie."""
    if not cookie or not given or not _fits(cookie, given):
        raise ForgedRequestError(
            "This form does not come from a page of this session. Load the page again and resend it."
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
