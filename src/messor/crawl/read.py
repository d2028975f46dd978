"""Read: from what a provider brought to what it says and whether it may be believed.

Decoding, one parse, the quality gates. An answer whose bytes are the same as last time is not
parsed. What becomes of it is decided by the router (another provider?) and the keeper.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from messor.archive import hashes
from messor.crawl.crash_markers import BlamedDomains, CrashMarker
from messor.crawl.links import NO_HREFS, LinkFilter
from messor.crawl.sandboxed_reader import SandboxedReader
from messor.fetch.classify import is_html
from messor.fetch.gates import GateVerdict, judge
from messor.fetch.outcome import Fetched, Outcome
from messor.frontier.tasks import Task
from messor.politeness.lanes import Lane
from messor.web.encodings import decode
from messor.web.html import PageReading, TooComplexError, read_page
from messor.web.robots_tags import has_directives
from messor.web.urls import LinkCache, LinkResolver, Url, parse

KNOWN_LINKS = 8_000  # resolved hrefs a worker remembers
DOOR_TEXT = 500  # characters of a page that is only there to send one on
# So many pages of a domain are looked at for all that could hide how deeply they nest; then its
# pages are looked at more cheaply. Who misuses that costs one worker its process, once.
WARY_PAGES = 32

_PASSED = GateVerdict()


@dataclass(slots=True)
class PageReadResult:
    """What a provider brought, read and judged."""

    fetched: Fetched
    url: Url
    text: str = ""
    reading: PageReading | None = None
    verdict: GateVerdict = _PASSED
    raw_hash: bytes | None = None  # of what the site itself answered, to compare the next with
    body_hash: bytes | None = None  # of the bytes that are here, whoever brought them
    needs_cage: bool = False  # its page may end or stall the process that reads it
    fault: Exception | None = None  # what reading it did to the reader
    same_shell: bool = False  # HTTP brought the bytes it brought before another provider was asked


class Reader:
    """Reads and judges for one worker."""

    def __init__(
        self, sieve: LinkFilter, mark: CrashMarker, blamed: BlamedDomains, *, agent: str
    ) -> None:
        self._sieve = sieve
        self._blamed = blamed
        self._pages_read: Counter[UUID] = Counter()  # by domain
        self._mark = mark
        self._agent = agent
        self._cage = SandboxedReader(agent=agent)
        self._links = LinkCache(KNOWN_LINKS)

    def read(self, lane: Lane, task: Task, fetched: Fetched) -> PageReadResult:
        """Set the outcome by what the content is, and say which gates it failed."""
        url = parse(task.url)
        assert url is not None, "tasks hold web addresses"
        is_blamed = lane.caged or task.deaths > 0 or lane.policy.domain_id in self._blamed.domains
        answer = PageReadResult(fetched, url, needs_cage=is_blamed)
        try:
            self._read(answer, task, lane)
        except Exception as error:  # noqa: BLE001 - what a page does to its reader is its own fault
            fetched.outcome, answer.fault = Outcome.ERROR, error
            answer.raw_hash = answer.body_hash = None
        return answer

    def _read(self, answer: PageReadResult, task: Task, lane: Lane) -> None:
        fetched = answer.fetched
        if fetched.outcome is Outcome.OK:
            self._read_page(answer, task, lane)
            return
        answer.needs_cage = False
        if fetched.outcome is Outcome.UNCHANGED:
            _check_unchanged(answer, task)
        elif fetched.status is not None and fetched.outcome in (Outcome.BLOCKED, Outcome.ERROR):
            self._judge_refusal(answer)
        elif fetched.outcome is Outcome.EMPTY:
            answer.verdict = GateVerdict(("size", "empty"), None, ("empty",))
            fetched.gate = "empty"

    def _read_page(self, answer: PageReadResult, task: Task, lane: Lane) -> None:
        fetched = answer.fetched
        is_own = fetched.provider == "http"  # what others bring is never the site's own answer
        answer.body_hash = task.raw_hash if fetched.is_known else hashes.raw_hash(fetched.body)
        answer.raw_hash = answer.body_hash if is_own else None
        same = is_own and answer.raw_hash == task.raw_hash and task.snapshot_id is not None
        if same and (fetched.is_known or not has_directives(fetched.raw_headers)):
            if task.provider is not None:
                answer.same_shell = True
                fetched.gate = "spa_shell"
            else:
                fetched.outcome = Outcome.UNCHANGED
            answer.needs_cage = False
            return
        answer.text, _ = decode(fetched.body, fetched.content_type)
        if answer.needs_cage:
            return
        self._mark.set(task.page_id)
        try:
            answer.reading = read_page(
                answer.text,
                task.url,
                resolver=LinkResolver(answer.url, self._links),
                agent=self._agent,
                known=NO_HREFS if task.ahead else self._sieve.known_hrefs(answer.url, lane),
                is_site_known=self._is_known(lane),
            )
        except TooComplexError:
            answer.needs_cage = True
            return
        finally:
            self._mark.clear()
        self._look_at(answer)

    def _is_known(self, lane: Lane) -> bool:
        """Whether enough pages of its domain were read, here, without harm."""
        read = self._pages_read[lane.policy.domain_id]
        if read < WARY_PAGES:
            self._pages_read[lane.policy.domain_id] = read + 1
        return read >= WARY_PAGES

    async def close(self) -> None:
        """End the processes that wait for pages."""
        await self._cage.close()

    def _look_at(self, answer: PageReadResult) -> None:
        """A page that only sends one on is a redirect; any other is judged."""
        reading, fetched = answer.reading, answer.fetched
        assert reading is not None
        if reading.refresh not in (None, answer.url.href) and reading.text_length < DOOR_TEXT:
            fetched.outcome, fetched.location = Outcome.REDIRECTED, reading.refresh
            answer.reading = None
        else:
            self._judge(answer)

    async def read_caged(self, task: Task, answer: PageReadResult) -> None:
        """Read a page that may do harm where it can do none."""
        try:
            answer.reading = await self._cage.read(answer.text, task.url)
        except TooComplexError as error:
            answer.fetched.outcome, answer.fetched.error = Outcome.TOO_COMPLEX, str(error)
        else:
            self._look_at(answer)

    def _judge(self, answer: PageReadResult) -> None:
        fetched = answer.fetched
        assert fetched.status is not None
        verdict = judge(
            status=fetched.status,
            headers=fetched.headers,
            html=answer.text,
            reading=answer.reading,
            size=fetched.size,
        )
        answer.verdict = verdict
        fetched.gate = verdict.gate
        if verdict.signals:
            fetched.detail = {**(fetched.detail or {}), "signals": list(verdict.signals)}
        if verdict.block is not None:
            fetched.outcome = Outcome.BLOCKED
            fetched.error = f"{verdict.block.by}: {verdict.block.evidence}"[:500]
        elif "soft_404" in verdict.gates:
            fetched.outcome, fetched.error = Outcome.NOT_FOUND, "the page says it is not there"
        elif "empty" in verdict.gates or "spa_shell" in verdict.gates:
            fetched.outcome, fetched.error = Outcome.EMPTY, "the page has no text without scripts"

    def _judge_refusal(self, answer: PageReadResult) -> None:
        """Name who refuses, where the body of a refusal tells."""
        fetched = answer.fetched
        if fetched.body and is_html(fetched.content_type, fetched.body):
            answer.text, _ = decode(fetched.body[: hashes.MAX_JUDGED], fetched.content_type)
        before = fetched.outcome
        sentence = fetched.error
        self._judge(answer)
        if answer.verdict.block is None:
            fetched.outcome, fetched.error = before, sentence
        elif sentence:
            fetched.error = f"{sentence} ({fetched.error})"


def _check_unchanged(answer: PageReadResult, task: Task) -> None:
    """Not modified: since what? An answer to a question nobody asked is an error."""
    fetched = answer.fetched
    if task.snapshot_id is None:
        fetched.outcome = Outcome.ERROR
        fetched.error = "the site answered 304 though no copy is held"
    elif task.provider is not None and fetched.provider == "http":
        answer.same_shell = True
