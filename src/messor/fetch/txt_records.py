"""TXT records of a name, from the resolver of this machine; no connection to a site is made."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import aiodns

SECONDS = 5.0
MAX_RECORDS = 50


async def txt_records(name: str, servers: Sequence[str] = ()) -> list[str]:
    """The TXT records of a name; none where there are none or nobody answers in time."""
    resolver = aiodns.DNSResolver(nameservers=list(servers) or None, timeout=SECONDS, tries=2)
    try:
        async with asyncio.timeout(2 * SECONDS):
            found = await resolver.query_dns(name, "TXT")
    except (aiodns.error.DNSError, TimeoutError):
        return []
    finally:
        await resolver.close()
    texts = [getattr(each.data, "data", b"") for each in found.answer[:MAX_RECORDS]]
    return [text.decode("utf-8", "replace") for text in texts if isinstance(text, bytes)]
