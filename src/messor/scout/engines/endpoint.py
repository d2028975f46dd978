"""HTTP access to a search engine: an operator endpoint with GET and other key headers.

Everything else is the endpoint of `fetch.services`: one origin, no redirects, no proxy, a bound on
what is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from messor.fetch.content_decoding import BadEncodingError, BodyTooLargeError
from messor.fetch.failures import words
from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.endpoint import ServiceEndpoint
from messor.scout.engines.model import SearchFaultError


@dataclass(frozen=True, slots=True)
class EngineRequest:
    """One request: a GET with a query, or a POST of JSON if there is a body."""

    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


class EngineEndpoint(ServiceEndpoint):
    """Sends requests to one search engine."""

    @property
    def key(self) -> str:
        return self._key

    async def ask(self, call: EngineRequest) -> ServiceResponse:
        """The whole response; raises SearchFaultError if none comes."""
        url = self.url_of(call.path).update_query(call.query)
        headers = dict(call.headers)
        try:
            if call.body is None:
                asking = self._session.get(url, headers=headers, allow_redirects=False)
            else:
                asking = self._session.post(
                    url, json=call.body, headers=headers, allow_redirects=False
                )
            async with asking as response:
                return await self._read(response)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise self._lost(f"cannot be reached: {words(error)}") from error
        except TimeoutError as error:
            raise self._lost("sent no complete response in time", charged=True) from error
        except BodyTooLargeError as error:
            raise self._lost(
                f"sent more than {self._settings.max_answer_bytes} bytes", charged=True
            ) from error
        except BadEncodingError as error:
            raise self._lost(
                f"sent a response that cannot be decompressed: {error}", charged=True
            ) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self._lost(f"broke off: {words(error)}", charged=True) from error

    def _lost(self, what: str, *, charged: bool = False) -> SearchFaultError:
        return SearchFaultError(f"{self._title} {what}.", charged=charged)
