"""HTTP: one request, within limits, to a typed outcome. Redirects are reported, not followed.

Following one would be a request of its own, perhaps to another host: it becomes a task in that
host's lane and is decided on and paced there.
"""

from __future__ import annotations

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from messor.core import clock
from messor.fetch.client import Client, HttpReply
from messor.fetch.connector import PermitConnector, make_connector
from messor.fetch.content_decoding import (
    BadEncodingError,
    BodyTooLargeError,
    Decoded,
    decode_content,
)
from messor.fetch.failures import of_error
from messor.fetch.guard import AddressGuard
from messor.fetch.identity.signer import Fields, RequestSigner
from messor.fetch.outcome import Fetched, failed
from messor.fetch.proxies.proxy import Proxy
from messor.fetch.proxies.tunnel import ProxyClients
from messor.fetch.wire import digest_of, tag_of, unpacked_size
from messor.politeness.pace import Permit
from messor.settings import Settings
from messor.web.robots_tags import has_directives
from messor.web.urls import parse


def user_agent(settings: Settings, version: str) -> str:
    """The User-Agent: the robots token and a contact."""
    return f"Mozilla/5.0 (compatible; {settings.agent_token}/{version}; +{settings.contact})"


class HttpFetcher:
    """Fetches over HTTP; every request needs a permit."""

    def __init__(
        self, settings: Settings, version: str, signer: RequestSigner | None = None
    ) -> None:
        self._settings = settings
        self.signer = signer
        self.guard = AddressGuard(settings.allowed_networks)
        self._connector = make_connector(self.guard, ca_file=settings.ca_file)
        self._agent = user_agent(settings, version)
        self._client = self._make_client(self._connector)
        self._proxied = ProxyClients(
            self._connector, self.guard, self._make_client, ca_file=settings.ca_file
        )

    def _make_client(self, connector: PermitConnector) -> Client:
        settings = self._settings
        headers = {
            "User-Agent": self._agent,
            "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
            "Accept-Encoding": "gzip, deflate",
        }
        return Client(
            connector,
            headers,
            seconds=settings.total_timeout,
            connect_seconds=settings.connect_timeout,
            signer=self.signer,
        )

    async def close(self) -> None:
        await self._proxied.close()
        await self._client.close()

    async def address_of(self, host: str, port: int) -> str | None:
        """The address group of a host: its smallest address, stable under DNS rotation."""
        try:
            found = await self._connector._resolve_host(host, port)  # noqa: SLF001 - shares the cache
        except OSError:
            return None
        return min((result["host"] for result in found), default=None)

    async def fetch(
        self,
        href: str,
        permit: Permit,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        cut_at: int | None = None,
        wire_tag: int | None = None,
        via: Proxy | None = None,
        verify: bool = True,
        price: Fields = (),
    ) -> Fetched:
        """Send one request and read its response; never raises for faults of a site or proxy.

        With `cut_at` a longer body is truncated instead of refused. A body with the given
        `wire_tag` is already known and not decompressed. Certificates are verified unless the
        domain's terms say otherwise.
        """
        url = parse(href)
        started = clock.now()
        refusal = "not a web address" if url is None else self.guard.refusal_of_url(url)
        if url is None or refusal is not None:
            return Fetched(failed("refused_address", refusal or ""), began_at=started)
        conditions, received = [], 0
        if etag:
            conditions.append(("If-None-Match", etag))
        if last_modified:
            conditions.append(("If-Modified-Since", last_modified))
        try:
            client = self._proxied.by(via) if via else self._client
            reply = await client.get(
                url,
                permit,
                conditions,
                cap=cut_at or self._settings.max_body_bytes,
                cut=cut_at is not None,
                verify=verify,
                price=price,
            )
            received = len(reply.body)
            fetched = self._unpack(reply, cut_at, wire_tag)
            if self.signer is not None:
                fetched.is_challenged = self.signer.challenged(url, reply.status, reply.headers)
        except TimeoutError:
            fetched = Fetched(failed("timeout", "no complete response in time"))
        except BodyTooLargeError as error:
            received = max(received, error.received)
            fetched = Fetched(failed("too_large", str(error)))
        except BadEncodingError as error:
            fetched = Fetched(failed("bad_encoding", str(error)))
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError) as error:
            fetched = of_error(error)
        permit.missed()
        fetched.received = received
        fetched.proxy_id = via.id if via else None
        fetched.take_times(permit, started)
        return fetched

    def _unpack(self, reply: HttpReply, cut_at: int | None, known: int | None) -> Fetched:
        wire = reply.body
        digest = digest_of(wire) if reply.status == 200 and wire else None
        tag = tag_of(digest) if digest else None
        if tag is not None and tag == known and not has_directives(reply.raw_headers):
            return _known(reply, tag)
        decoded = decode_content(
            wire,
            reply.headers.get("Content-Encoding", ""),
            cut_at or self._settings.max_decoded_bytes,
            cut=cut_at is not None,
        )
        fetched = _judge(reply, decoded)
        fetched.wire_digest, fetched.wire_tag = digest, tag
        return fetched


def _judge(reply: HttpReply, decoded: Decoded) -> Fetched:
    """Decode and classify a response."""
    body = decoded.body
    return Fetched(
        status=reply.status,
        headers=reply.headers,
        raw_headers=reply.raw_headers,
        wire=reply.body,
        keeps_gzip=decoded.plain_gzip,
        body=body,
        size=len(body),
        reason=reply.reason,
    ).classify()


def _known(reply: HttpReply, tag: int) -> Fetched:
    """The result for a body identical to the last good one."""
    return Fetched(
        status=reply.status,
        headers=reply.headers,
        raw_headers=reply.raw_headers,
        size=unpacked_size(reply.body, reply.headers),
        reason=reply.reason,
        wire_tag=tag,
        is_known=True,
    )
