"""The console's cookies: session, pre-login visitor, theme and flash message.

Over https the names carry the prefix `__Host-`, so no other host can set or read them.
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
FLASH = "messor_said"
SIGN_ON = "messor_sign_on"  # state of a login at the identity provider

THEMES = ("auto", "light", "dark")
MAX_MESSAGE = 1_500  # characters; browsers keep 4,096 bytes of a cookie
_PURPOSE = b"messor.console.said:"


@dataclass(frozen=True, slots=True)
class FlashMessage:
    """A one-time message shown on the next page."""

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


def seal(message: FlashMessage, cookie: str) -> str:
    """Sign a message so that it is shown only to the holder of this cookie."""
    payload = msgspec.json.encode([message.tone, message.text[:MAX_MESSAGE]])
    return base64.urlsafe_b64encode(_sign(cookie, payload) + payload).decode()


def unseal(sealed: str | None, cookie: str | None) -> FlashMessage | None:
    """The message, or None when its signature is invalid."""
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
