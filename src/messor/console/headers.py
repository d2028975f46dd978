"""Security headers for every response: content policy, framing and caching."""

from __future__ import annotations

import secrets

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# No inline scripts or styles, so no nonce is needed. Tabler's stylesheet embeds small images
# as data URLs.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class SafeHeaders:
    """Adds the headers to every response and assigns each request an ID for the log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        name = secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = name

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = name
                for header, value in ALWAYS.items():
                    headers.setdefault(header, value)
                if scope["scheme"] == "https":
                    headers.setdefault("Strict-Transport-Security", "max-age=31536000")
                headers.setdefault("Cache-Control", _caching(scope))
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _caching(scope: Scope) -> str:
    """Versioned static files never change; pages are never cached."""
    if "/static/" in scope["path"]:
        versioned = scope["query_string"].startswith(b"v=")
        return "public, max-age=31536000, immutable" if versioned else "no-cache"
    return "no-store"
