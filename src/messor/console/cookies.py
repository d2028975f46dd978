"""The console's cookies: a session, a visitor before login, a theme, and a message for one page.

Over https a name carries the prefix `__Host-`: no other host can set or read such a cookie.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass

import msgspec
from starlette.requests import Request
from starlette.responses import Response

SESSION = "messor_session"
VISITOR = "messor_visitor"
THEME = "messor_theme"
SAID = "messor_said"
SIGN_ON = "messor_sign_on"  # on the way to an identity provider and back

THEMES = ("auto", "light", "dark")
LONGEST_SAID = 1_500  # characters; browsers keep 4,096 bytes of a cookie
_PURPOSE = b"messor.console.said:"


@dataclass(frozen=True, slots=True)
class FlashMessage:
    """A message for the next page: how it went, in a sentence."""

    text: str
    tone: str = "success"  # success, warning, danger


def is_secure(request: Request) -> bool:
    return request.url.scheme == "https"


def read(request: Request, name: str) -> str | None:
    return request.cookies.get(_name(request, name))


def write(
    request: Request, response: Response, name: str, value: str, *, seconds: int | None = None
) -> None:
    response.set_cookie(
        _name(request, name),
        value,
        max_age=seconds,
        path="/",
        secure=is_secure(request),
        httponly=True,
        samesite="lax",
    )


def clear(request: Request, response: Response, name: str) -> None:
    response.delete_cookie(
        _name(request, name),
        path="/",
        secure=is_secure(request),
        httponly=True,
        samesite="lax",
    )


def theme_of(request: Request) -> str:
    theme = read(request, THEME)
    return theme if theme in THEMES else "auto"


def seal(said: FlashMessage, cookie: str) -> str:
    """A message that only the holder of this cookie is shown."""
    payload = msgspec.json.encode([said.tone, said.text[:LONGEST_SAID]])
    return base64.urlsafe_b64encode(_sign(cookie, payload) + payload).decode()


def unseal(sealed: str | None, cookie: str | None) -> FlashMessage | None:
    """The message, unless somebody else wrote it."""
    if not sealed or not cookie:
        return None
    try:
        raw = base64.urlsafe_b64decode(sealed.encode("ascii"))
    except (binascii.Error, UnicodeEncodeError, ValueError):
        return None
    if not hmac.compare_digest(raw[:32], _sign(cookie, raw[32:])):
        return None
    tone, text = msgspec.json.decode(raw[32:], type=tuple[str, str])
    return FlashMessage(text, tone)


def _sign(cookie: str, payload: bytes) -> bytes:
    return hmac.digest(cookie.encode("utf-8", "surrogatepass"), _PURPOSE + payload, hashlib.sha256)


def _name(request: Request, name: str) -> str:
    return f"__Host-{name}" if is_secure(request) else name
