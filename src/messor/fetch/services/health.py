"""Whether an external service can be used: it is reachable and accepts our key.

Nothing is fetched through it and nothing is spent. Health pages are public, so they prove no key:
the scraping route gets an empty request instead. A service checks the key before the request, so
401 concerns the key, and 400 or 422 means that the key was accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from pydantic import SecretStr
from yarl import URL

from messor.fetch.failures import words
from messor.fetch.guard import operator_socket
from messor.fetch.tls import verifying_context

SECONDS = 5.0
# The public health page of each; it is requested without the key.
PATHS = {"crawl4ai": "health", "firecrawl": ""}
# The scraping routes, the current contract first.
ROUTES = {"crawl4ai": ("crawl",), "firecrawl": ("v2/scrape", "v1/scrape")}
MODEL_ROUTES = ("chat/completions",)
_UNDERSTOOD = (400, 413, 415, 422)  # the request is at fault: the sender was authenticated
_ELSEWHERE = (404, 405)
_NO_URL = "is not an http or https URL"


@dataclass(frozen=True, slots=True)
class ServiceHealth:
    """A service's reply to an empty request."""

    sentence: str
    is_good: bool = False


async def trouble_with(name: str, address: str, *, ca_file: Path | None = None) -> str | None:
    """Why a service cannot be reached, in a few words; None when it responds."""
    found = await _status("GET", address, PATHS[name], {}, ca_file)
    if isinstance(found, str):
        return found
    return f"answered {found}" if found >= 500 else None


async def standing_of(
    address: str, routes: tuple[str, ...], key: SecretStr | None, *, ca_file: Path | None = None
) -> ServiceHealth:
    """Whether a service responds and accepts the key, by an empty request with and without it."""
    route, status = await _first_known(address, routes, _bearer(key), ca_file)
    if isinstance(status, str):
        return ServiceHealth(status)
    if status in _ELSEWHERE:
        return ServiceHealth(
            f"returned {status} to POST /{route}: it is another service or version"
        )
    if status not in _UNDERSTOOD:
        return ServiceHealth(meaning_of(status, has_key=key is not None))
    if key is None:
        return ServiceHealth("responds; it requires no key", is_good=True)
    _, without = await _first_known(address, (route,), {}, ca_file)
    if without in (401, 403):
        return ServiceHealth("responds and accepts the key", is_good=True)
    return ServiceHealth("responds; it does not check the key", is_good=True)


def meaning_of(status: int, *, has_key: bool) -> str:
    """The problem shown by the status of an empty request, if any."""
    match status:
        case 401 | 403:
            return f"rejects the key ({status})" if has_key else f"requires a key ({status})"
        case 402:
            return "has no credits left (402)"
        case 429:
            return "asks us to slow down (429)"
        case _:
            return f"returned {status} to an empty request"


def _bearer(key: SecretStr | None) -> dict[str, str]:
    return {} if key is None else {"Authorization": f"Bearer {key.get_secret_value()}"}


async def _first_known(
    address: str, routes: tuple[str, ...], headers: Mapping[str, str], ca_file: Path | None
) -> tuple[str, int | str]:
    """The first route that exists, and its status for an empty request."""
    for route in routes:
        found = await _status("POST", address, route, headers, ca_file)
        if found not in _ELSEWHERE:
            break
    return route, found


async def _status(
    method: str, address: str, path: str, headers: Mapping[str, str], ca_file: Path | None
) -> int | str:
    """The status of a response, or why there is none."""
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    try:
        url = URL(address).joinpath(*filter(None, path.split("/")))
        connector = aiohttp.TCPConnector(
            ssl=verifying_context(ca_file), socket_factory=operator_socket
        )
        async with aiohttp.ClientSession(
            connector=connector, timeout=timeout, trust_env=False
        ) as session:
            if method == "GET":
                request = session.get(url, allow_redirects=False)
            else:
                request = session.post(url, json={}, headers=headers, allow_redirects=False)
            async with request as response:
                return response.status
    except TimeoutError:
        return f"did not respond within {SECONDS:g} s"
    except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError):
        return _NO_URL
    except (aiohttp.ClientError, OSError) as error:  # an invalid certificate is a ValueError, too
        return f"cannot be reached: {words(error)}"
    except ValueError:
        return _NO_URL
