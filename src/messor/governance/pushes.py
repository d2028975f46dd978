"""The IndexNow inlet: owners of approved domains push URLs, which are due at once, within pace.

The key file is fetched in the host's lane before the first push counts. URLs that wait for it are
kept; those fetched a moment ago are not asked for again, so repeated pushes are harmless.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec

from messor.access import ratelimits
from messor.access.ratelimits import Limit
from messor.errors import MessorError
from messor.frontier.batch_lines import BatchItem, Line
from messor.frontier.batches import BatchSubmitter
from messor.frontier.tasks import ASKED_PRIORITY
from messor.governance import site_proofs
from messor.registry import domains
from messor.registry.domains import Domain
from messor.store.database import Connection, Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, parse, url_hash

MAX_URLS = 10_000
PER_DAY = Limit(2 * MAX_URLS, timedelta(days=1))  # URLs of one host
PER_HOST = Limit(60, timedelta(hours=1))  # pushes
KEY_SECONDS = 30 * 86_400.0  # how long a proven key counts
REFUSED_SECONDS = 3_600.0  # before a refused key is checked again
RECENT = timedelta(minutes=10)
_KEY = re.compile(r"[A-Za-z0-9-]{8,128}")

STATUS = "SELECT status FROM messor.domains WHERE domain = $1"
KEEP = """
INSERT INTO messor.pushed_urls (host, expected, url)
SELECT $1, $2, u FROM unnest($3::text[]) u
 WHERE (SELECT count(*) FROM messor.pushed_urls WHERE host = $1) < $4
ON CONFLICT DO NOTHING
"""
TAKE = "DELETE FROM messor.pushed_urls WHERE host = $1 AND expected = $2 RETURNING url"
# Of pages that are due already, or were fetched a moment ago.
RECENTLY = """
SELECT p.url_hash FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
  JOIN messor.crawl_tasks t ON t.page_id = p.id
 WHERE h.host = $1 AND p.url_hash = ANY ($2::bytea[])
   AND (t.due_at <= messor.clock() OR t.last_fetched_at > messor.clock() - $3::interval)
"""


class PushRefusedError(MessorError):
    """A push that is not accepted, with the status that IndexNow gives it."""

    code = "push_refused"

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Push:
    """A push as it was sent, understood."""

    url: Url  # the site: its root
    key: str
    key_url: Url
    urls: tuple[Url, ...]


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of a push: 200, or 202 while its key is checked."""

    status: int
    message: str
    due: int = 0


def understood(body: bytes) -> Push:
    """Parse `{host, key, keyLocation, urlList}`; refused as the protocol says."""
    try:
        given = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise PushRefusedError(400, "The body is not JSON.") from error
    if not isinstance(given, dict) or not isinstance(given.get("urlList"), list):
        raise PushRefusedError(400, "Send host, key and urlList.")
    host, key, listed = str(given.get("host", "")), given.get("key"), given["urlList"]
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise PushRefusedError(400, "The key must have 8 to 128 letters, digits or hyphens.")
    if not 1 <= len(listed) <= MAX_URLS:
        raise PushRefusedError(400, f"urlList must name 1 to {MAX_URLS:,} URLs.")
    urls = [parse(each) if isinstance(each, str) else None for each in listed]
    return _placed(host, key, given.get("keyLocation"), urls)


def _placed(host: str, key: str, location: Any, urls: Sequence[Url | None]) -> Push:
    first = urls[0]
    site = parse(f"{first.scheme}://{host}/") if first is not None else None
    if (
        site is None
        or site.path != "/"
        or any(url is None or url.authority != site.authority for url in urls)
    ):
        raise PushRefusedError(422, "Every URL must be a web address of the host.")
    place = location if isinstance(location, str) else f"{site.origin}/{key}.txt"
    key_url = parse(place)
    if key_url is None or key_url.authority != site.authority:
        raise PushRefusedError(422, "The key file must be on the host.")
    folder = key_url.path.rpartition("/")[0] + "/"
    known = [url for url in urls if url is not None]
    if not all(url.path.startswith(folder) for url in known):
        raise PushRefusedError(422, "The key file covers only URLs of its own folder.")
    return Push(site, key, key_url, tuple(known))


async def take(database: Database, push: Push) -> Pushed:
    """Accept a push: its pages are due, or wait until its key file was read."""
    domain = await _approved(database, push)
    host = push.url.authority
    (await ratelimits.take(database, f"push:{host}", PER_HOST)).require()
    (await ratelimits.take(database, f"pushed:{host}", PER_DAY, cost=len(push.urls))).require()
    known = await site_proofs.standing(database, host, _expected(push), "push", KEY_SECONDS)
    state = known[0] if known is not None else None
    if state == "proved":
        due = await submit(database, host, push.urls)
        return Pushed(200, f"{due} of {len(push.urls)} pages are due.", due)
    if state == "refused":
        recent = await site_proofs.standing(
            database, host, _expected(push), "push", REFUSED_SECONDS
        )
        if recent is not None:
            raise PushRefusedError(403, f"The key is not valid: {recent[1]}.")
    async with database.transaction() as connection:
        hrefs = [url.href for url in push.urls]
        await connection.execute(KEEP, host, _expected(push), hrefs, MAX_URLS)
        if state != "waiting":
            locked = await domains.lock(connection, domain.domain)
            await site_proofs.ask(
                connection, locked, push.key_url, expected=_expected(push), purpose="push"
            )
    return Pushed(202, "The pages are due once the key file has been read.")


async def key_proved(connection: Connection, host: str, expected: str) -> list[Url]:
    """The URLs that waited for this key; the caller submits them once this is committed."""
    rows = await connection.fetch(TAKE, host, expected)
    return [url for row in rows if (url := parse(row["url"])) is not None]


async def submit(database: Database, host: str, urls: Sequence[Url]) -> int:
    """Make pages due, but for those that are due or were fetched a moment ago."""
    hashes = {url_hash(url): url for url in urls}
    rows = await database.fetch(RECENTLY, host, list(hashes), RECENT)
    fresh = {bytes(row["url_hash"]) for row in rows}
    wanted = [url for key, url in hashes.items() if key not in fresh]
    if not wanted:
        return 0

    async def lines() -> AsyncIterator[Line]:
        for number, url in enumerate(wanted, 1):
            yield BatchItem(number, url.href, url)

    submitter = BatchSubmitter(database, actor=f"indexnow:{host}", priority=ASKED_PRIORITY)
    report = await submitter.submit(
        lines(), name=f"IndexNow {host}", source="indexnow", form="lines"
    )
    return report.accepted


def _expected(push: Push) -> str:
    return push.key


async def _approved(database: Database, push: Push) -> Domain:
    name = registrable_domain(push.url.host) or ""
    if await database.fetchval(STATUS, name) != "approved":
        raise PushRefusedError(403, f"{name or push.url.host} is not approved to be crawled here.")
    return await domains.get(database, name)
