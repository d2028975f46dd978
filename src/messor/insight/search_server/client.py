"""The client of a search server: JSON over HTTP to one configured origin, and its errors in words.

Elasticsearch and OpenSearch have the same protocol here. What does not respond, is overloaded (429)
or starting (503) raises SearchServerDownError: the same request may succeed later. Anything else that
the server refuses raises SearchServerRefusedError with its reason.
"""

from __future__ import annotations

import ssl
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import aiohttp
import msgspec
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from yarl import URL

from messor.core.masking import mask_text
from messor.errors import MessorError, UnavailableError, UsageError
from messor.fetch.failures import words
from messor.fetch.guard import operator_socket
from messor.fetch.tls import trust
from messor.settings import Settings

BULK_SECONDS = 60.0
CONNECT_SECONDS = 3.0
MAX_RESPONSE_BYTES = 64_000_000
JSON, LINES = "application/json", "application/x-ndjson"
encode = msgspec.json.Encoder(decimal_format="number").encode
_OVERLOADED = (408, 429, 502, 503, 504)
_LOGIN = "check MESSOR_SEARCH_SERVER_KEY, or _USER and _PASSWORD"


class SearchServerDownError(UnavailableError):
    """The search server does not respond, or not now."""

    code = "search_server_down"


class SearchServerRefusedError(MessorError):
    """The search server refused a request, and will again."""

    code = "search_server_refused"
    exit_code = 6

    def __init__(self, message: str, status: int, kind: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind  # the server's name of the error


@dataclass(frozen=True, slots=True)
class SearchServerSettings:
    """Where the server is, how to log in, and the names it is to use."""

    url: str
    authorization: str | None
    alias: str
    products_alias: str
    timeout: float
    ca_file: Path | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self | None:
        """The server of the settings, if one is configured."""
        if settings.search_server_url is None:
            return None
        return cls(
            settings.search_server_url,
            _authorization(settings),
            settings.search_server_index,
            settings.search_server_products,
            settings.search_server_timeout,
            settings.ca_file,
        )


def _authorization(settings: Settings) -> str | None:
    if settings.search_server_key is not None:
        return f"ApiKey {settings.search_server_key.get_secret_value()}"
    if settings.search_server_user is None:
        return None
    password = settings.search_server_password
    secret = "" if password is None else password.get_secret_value()
    pair = f"{settings.search_server_user}:{secret}".encode()
    return f"Basic {b64encode(pair).decode()}"


class SearchServer:
    """One search server; close it when done."""

    def __init__(self, settings: SearchServerSettings) -> None:
        self.settings = settings
        self._base = URL(settings.url)
        if self._base.scheme not in ("http", "https") or not self._base.host:
            raise UsageError(
                f"MESSOR_SEARCH_SERVER_URL {mask_text(settings.url)!r} is not a URL such as "
                "http://search.internal:9200."
            )
        self.place = mask_text(str(self._base.origin()))
        self._session: ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def ask(
        self, method: str, path: str, body: Any = None, *, seconds: float | None = None
    ) -> Any:
        """Send a request with a JSON body; returns the decoded response."""
        given = None if body is None else encode(body)
        return await self._send(method, path, given, JSON, seconds or self.settings.timeout)

    async def find(self, method: str, path: str) -> Any:
        """The same without a body; None if the server has no such thing."""
        try:
            return await self.ask(method, path)
        except SearchServerRefusedError as error:
            if error.status == 404:
                return None
            raise

    async def bulk(self, lines: Sequence[bytes]) -> list[dict[str, Any]]:
        """Send actions as NDJSON; returns the result of each, in order."""
        body = b"\n".join(lines) + b"\n"
        said = await self._send("POST", "_bulk", body, LINES, BULK_SECONDS)
        return [next(iter(item.values())) for item in said["items"]]

    async def _send(
        self, method: str, path: str, body: bytes | None, media: str, seconds: float
    ) -> Any:
        headers = {"Accept": JSON}
        if body is not None:
            headers["Content-Type"] = media
        if self.settings.authorization is not None:
            headers["Authorization"] = self.settings.authorization
        url = URL(f"{str(self._base).rstrip('/')}/{path}", encoded=True)
        session = self._opened()
        try:
            async with session.request(
                method, url, data=body, headers=headers, allow_redirects=False,
                timeout=ClientTimeout(total=seconds, sock_connect=CONNECT_SECONDS),
            ) as response:  # fmt: skip
                return self._understood(response.status, await _read(response))
        except TimeoutError as error:
            raise self._down(f"did not respond within {seconds:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise self._down(f"cannot be reached: {words(error)}") from error

    def _opened(self) -> ClientSession:
        if self._session is None:
            context = ssl.create_default_context()
            if self.settings.ca_file is not None:
                trust(context, self.settings.ca_file)
            self._session = ClientSession(
                connector=TCPConnector(ssl=context, socket_factory=operator_socket),
                cookie_jar=DummyCookieJar(),
                trust_env=False,
            )
        return self._session

    def _understood(self, status: int, body: bytes) -> Any:
        try:
            said = msgspec.json.decode(body) if body.strip() else {}
        except (msgspec.DecodeError, RecursionError) as error:
            raise self._down(f"returned {status} and no JSON") from error
        if status < 300:
            return said
        kind, reason = _reason(said)
        if status in _OVERLOADED:
            raise self._down(f"returned {status}: {reason}")
        if status in (401, 403):
            raise SearchServerRefusedError(
                f"The search server {self.place} rejected the credentials ({status}): {_LOGIN}.",
                status,
                kind,
            )
        raise SearchServerRefusedError(
            f"The search server {self.place} rejected a request ({status}): {reason}", status, kind
        )

    def _down(self, what: str) -> SearchServerDownError:
        return SearchServerDownError(f"The search server {self.place} {what}.")


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_RESPONSE_BYTES:
            raise aiohttp.ClientPayloadError("the response is too large")
    return bytes(body)


def _reason(said: Any) -> tuple[str, str]:
    """The kind and the reason of an error, as the server words them."""
    error = said.get("error") if isinstance(said, dict) else None
    if isinstance(error, dict):
        root = next(iter(error.get("root_cause") or ()), error)
        return str(error.get("type", "")), mask_text(str(root.get("reason", error)))[:500]
    return "", mask_text(str(error or "no reason given"))[:500]
