"""The client of one operator endpoint: a service named in the configuration, and nothing else.

An operator endpoint may have a private address, so the address guard only blocks link-local and
metadata addresses; the client is bound to the configured origin, follows no redirects and uses no
proxy. Requests and the meaning of responses are left to the contracts.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import aiohttp
from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from multidict import CIMultiDict
from yarl import URL

from messor.fetch.content_decoding import BadEncodingError, BodyTooLargeError, decode_content
from messor.fetch.failures import words
from messor.fetch.guard import operator_socket
from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.faults import ProviderFaultError
from messor.fetch.services.options import ServiceSettings
from messor.fetch.tls import trust

CONNECT_SECONDS = 10.0


class ServiceEndpoint:
    """Posts JSON to one origin."""

    def __init__(self, title: str, settings: ServiceSettings) -> None:
        self._title = title
        self._settings = settings
        self._base = URL(settings.base_url)
        key = settings.api_key
        self._key = key.get_secret_value() if key is not None else ""
        context = ssl.create_default_context()
        if settings.ca_file is not None:
            trust(context, settings.ca_file)
        # A page takes seconds, so a connection per request costs nothing; a kept one may be closed
        # during a POST, which cannot be resent.
        connector = TCPConnector(ssl=context, force_close=True, socket_factory=operator_socket)
        self._session = ClientSession(
            connector=connector,
            cookie_jar=DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            timeout=ClientTimeout(
                total=settings.timeout + settings.grace, sock_connect=CONNECT_SECONDS
            ),
            headers={"Accept": "application/json", "Accept-Encoding": "gzip, deflate"},
        )

    async def close(self) -> None:
        await self._session.close()

    def url_of(self, path: str) -> URL:
        """The URL of a path of the service; another origin is refused."""
        joined = self._base.with_path(self._base.path.rstrip("/") + "/")
        url = joined.join(URL(path.lstrip("/") if "://" not in path else path))
        if url.origin() != self._base.origin():
            raise ProviderFaultError(
                f"{self._title} is used at {self._base.origin()} only, not at {url.origin()}."
            )
        return url

    def scrub(self, text: str) -> str:
        """Remove our key from text: services tend to repeat what they refuse."""
        return text.replace(self._key, "[key]") if self._key else text

    async def post(self, path: str, body: dict[str, Any]) -> ServiceResponse:
        """Send a request and read the whole response; raises ProviderFaultError when there is none."""
        url = self.url_of(path)
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            async with self._session.post(
                url, json=body, headers=headers, allow_redirects=False
            ) as response:
                return await self._read(response)
        except aiohttp.ClientConnectorError as error:
            raise self._fault(f"cannot be reached: {words(error)}.") from error
        except aiohttp.ConnectionTimeoutError as error:
            raise self._fault("cannot be reached: no connection in time.") from error
        except TimeoutError as error:
            raise self._fault(
                "gave no complete response in time.", charged=True, doubtful=True
            ) from error
        except BodyTooLargeError as error:
            raise self._fault(
                f"sent more than {self._settings.max_answer_bytes} bytes.",
                charged=True,
                of_the_page=True,
            ) from error
        except BadEncodingError as error:
            raise self._fault(
                f"sent a body that cannot be decompressed: {error}.", charged=True
            ) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self._fault(f"broke off: {words(error)}.", charged=True, doubtful=True) from error

    async def _read(self, response: ClientResponse) -> ServiceResponse:
        cap = self._settings.max_answer_bytes
        if (response.content_length or 0) > cap:
            response.close()
            raise BodyTooLargeError
        parts: list[bytes] = []
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > cap:
                response.close()
                raise BodyTooLargeError
            parts.append(chunk)
        encoding = response.headers.get("Content-Encoding", "")
        # Decompressing a few megabytes takes as long as many requests: not on the event loop.
        decoded = await asyncio.to_thread(decode_content, b"".join(parts), encoding, cap)
        return ServiceResponse(response.status, CIMultiDict(response.headers), decoded.body)

    def _fault(
        self,
        what: str,
        *,
        charged: bool = False,
        of_the_page: bool = False,
        doubtful: bool = False,
    ) -> ProviderFaultError:
        return ProviderFaultError(
            f"{self._title} {what}", charged=charged, of_the_page=of_the_page, doubtful=doubtful
        )
