"""Whether an outside service can be reached: nothing is fetched through it, nothing is spent."""

from __future__ import annotations

import aiohttp
from yarl import URL

SECONDS = 5.0
# The public page of each that says whether it lives; it is asked without the key.
PATHS = {"crawl4ai": "health", "firecrawl": ""}


async def trouble_with(name: str, address: str) -> str | None:
    """Why a service cannot be used, in a few words; None when it answers."""
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    try:
        url = URL(address).joinpath(*filter(None, [PATHS[name]]))
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=False) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            return f"answered {response.status}" if response.status >= 500 else None
    except TimeoutError:
        return f"gave no answer within {SECONDS:g} s"
    except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError, ValueError):
        return "is no http or https URL"
    except (aiohttp.ClientError, OSError) as error:
        reason = getattr(getattr(error, "os_error", None), "strerror", None)
        return f"cannot be reached: {reason or type(error).__name__}"
