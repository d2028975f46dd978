"""Read: decodes a response, parses it once and applies the quality gates.

A response with the same bytes as last time is not parsed. The router (another provider?) and the
keeper decide what happens next.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from messor.archive import hashes
from messor.content.documents.errors import DocumentError
from messor.crawl.crash_markers import BlamedDomains, CrashMarker
from messor.crawl.links import NO_HREFS, LinkFilter
from messor.crawl.sandboxed_reader import SandboxedReader
from messor.fetch.gates import GateVerdict, judge
from messor.fetch.outcome import Fetched, Outcome, is_html
from messor.frontier.tasks import Task
from messor.politeness.lanes import Lane
from messor.web.document_formats import DocumentFormat, format_of
from messor.web.encodings import decode
from messor.web.html import PageReading, TooComplexError, read_page
from messor.web.robots_tags import has_directives
from messor.web.urls import LinkCache, LinkResolver, Url, parse

KNOWN_LINKS = 8_000  # resolved hrefs a worker remembers
REDIRECT_TEXT = 500  # fewer characters beside a refresh make a page a redirect
# The first pages of a domain get the full check of nesting depth, later ones a cheaper check. A
# site that abuses this costs one worker its process, once.
WARY_PAGES = 32

_PASSED = GateVerdict()


@dataclass(slots=True)
class PageReadResult:
    """A response, parsed and judged."""

    fetched: Fetched
    url: Url
    text: str = ""
    reading: PageReading | None = None
    verdict: GateVerdict = _PASSED
    raw_hash: bytes | None = None  # of the site's own response, to compare the next one with
    body_hash: bytes | None = None  # of these bytes, whichever provider delivered them
    needs_sandbox: bool = False  # parsing it may crash or stall the process
    fault: Exception | None = None  # raised while reading it
    same_shell: bool = False  # the same shell over HTTP as when another provider was needed
    shell_hash: bytes | None = None  # of the site's own response, where another provider is needed
    document: DocumentFormat | None = None  # if it is not HTML


class Reader:
    """Parses and judges responses for one worker."""

    def __init__(
        self,
        link_filter: LinkFilter,
        crash_marker: CrashMarker,
        blamed: BlamedDomains,
        *,
        agent: str,
    ) -> None:
        self._link_filter = link_filter
        self._blamed = blamed
        self._pages_read: Counter[UUID] = Counter()  # by domain
        self._crash_marker = crash_marker
        self._agent = agent
        self._sandboxed_reader = SandboxedReader(agent=agent)
        self._links = LinkCache(KNOWN_LINKS)

    def read(self, lane: Lane, task: Task, fetched: Fetched) -> PageReadResult:
        """Parse a response, set its outcome and the gates it failed."""
        url = parse(task.url)
        assert url is not None, "tasks hold web addresses"
        is_blamed = (
            lane.sandboxed or task.deaths > 0 or lane.policy.domain_id in self._blamed.domains
        )
        read_result = PageReadResult(fetched, url, needs_sandbox=is_blamed)
        try:
            self._read(read_result, task, lane)
        except Exception as error:  # noqa: BLE001 - a page that breaks its reader is quarantined
            fetched.result, read_result.fault = fetched.result.broken(), error
            read_result.raw_hash = read_result.body_hash = None
        return read_result

    def _read(self, read_result: PageReadResult, task: Task, lane: Lane) -> None:
        fetched = read_result.fetched
        if fetched.outcome is Outcome.OK:
            self._read_page(read_result, task, lane)
            return
        read_result.needs_sandbox = False
        if fetched.outcome is Outcome.UNCHANGED:
            _check_unchanged(read_result, task)
        elif fetched.status is not None and fetched.outcome in (Outcome.BLOCKED, Outcome.ERROR):
            self._judge_refusal(read_result)
        elif fetched.outcome is Outcome.EMPTY:
            read_result.verdict = GateVerdict(("size", "empty"), None, ("empty",))
            fetched.gate = "empty"

    def _read_page(self, read_result: PageReadResult, task: Task, lane: Lane) -> None:
        fetched = read_result.fetched
        is_own = fetched.provider == "http"  # other providers never deliver the site's own response
        read_result.body_hash = task.raw_hash if fetched.is_known else hashes.raw_hash(fetched.body)
        read_result.raw_hash = read_result.body_hash if is_own else None
        same = is_own and read_result.raw_hash == task.raw_hash and task.snapshot_id is not None
        if same and (fetched.is_known or not has_directives(fetched.raw_headers)):
            if task.provider is not None:
                read_result.same_shell = True
                fetched.gate = "spa_shell"
            else:
                fetched.result = fetched.result.unchanged()
            read_result.needs_sandbox = False
            return
        read_result.document = format_of(fetched.content_type, fetched.body)
        if read_result.document is not None:
            read_result.needs_sandbox = True
            return
        read_result.text, _ = decode(fetched.body, fetched.content_type)
        if read_result.needs_sandbox:
            return
        self._crash_marker.set(task.page_id)
        try:
            read_result.reading = read_page(
                read_result.text,
                task.url,
                resolver=LinkResolver(read_result.url, self._links),
                agent=self._agent,
                known=NO_HREFS
                if task.ahead
                else self._link_filter.known_hrefs(read_result.url, lane, task),
                is_site_known=self._is_known(lane),
            )
        except TooComplexError:
            read_result.needs_sandbox = True
            return
        finally:
            self._crash_marker.clear()
        self._classify(read_result)

    def _is_known(self, lane: Lane) -> bool:
        """Whether this worker has read enough pages of the domain without harm."""
        read = self._pages_read[lane.policy.domain_id]
        if read < WARY_PAGES:
            self._pages_read[lane.policy.domain_id] = read + 1
        return read >= WARY_PAGES

    async def close(self) -> None:
        """Stop the idle sandbox processes."""
        await self._sandboxed_reader.close()

    def _classify(self, read_result: PageReadResult) -> None:
        """Treat a page that only refreshes to another URL as a redirect; judge any other."""
        reading, fetched = read_result.reading, read_result.fetched
        assert reading is not None
        target = reading.refresh
        if target not in (None, read_result.url.href) and reading.text_length < REDIRECT_TEXT:
            fetched.result = fetched.result.redirected(target)
            read_result.reading = None
        else:
            fetched.result = fetched.result.judged(self._judge(read_result))

    async def read_in_sandbox(self, task: Task, read_result: PageReadResult) -> None:
        """Parse a possibly harmful page in the sandbox."""
        fetched = read_result.fetched
        if read_result.document is not None:
            await self._read_document(task, read_result, read_result.document)
            return
        try:
            read_result.reading = await self._sandboxed_reader.read(read_result.text, task.url)
        except TooComplexError as error:
            fetched.result = fetched.result.too_complex(str(error))
        else:
            self._classify(read_result)

    async def _read_document(
        self, task: Task, read_result: PageReadResult, kind: DocumentFormat
    ) -> None:
        """Convert and parse a document. Gates judge web pages; a document only lacks text or not."""
        fetched = read_result.fetched
        try:
            read_result.text, reading = await self._sandboxed_reader.read_document(
                fetched.body, kind, fetched.content_type, task.url
            )
        except DocumentError as error:
            fetched.result = fetched.result.broken(str(error))
        except TooComplexError as error:
            fetched.result = fetched.result.too_complex(str(error))
        else:
            if reading.text_length:
                read_result.reading = reading
            else:
                fetched.result = fetched.result.empty(
                    "the document has no text: its pages are pictures, or it is blank"
                )

    def _judge(self, read_result: PageReadResult) -> GateVerdict:
        """Apply the quality gates; note what they found."""
        fetched = read_result.fetched
        assert fetched.status is not None
        verdict = judge(
            status=fetched.status,
            headers=fetched.headers,
            html=read_result.text,
            reading=read_result.reading,
            size=fetched.size,
        )
        read_result.verdict = verdict
        fetched.gate = verdict.gate
        if verdict.signals:
            fetched.detail = {**(fetched.detail or {}), "signals": list(verdict.signals)}
        return verdict

    def _judge_refusal(self, read_result: PageReadResult) -> None:
        """Identify who refused, if the body shows it."""
        fetched = read_result.fetched
        if fetched.body and is_html(fetched.content_type, fetched.body):
            read_result.text, _ = decode(fetched.body[: hashes.MAX_JUDGED], fetched.content_type)
        fetched.result = fetched.result.judged_refusal(self._judge(read_result))


def _check_unchanged(read_result: PageReadResult, task: Task) -> None:
    """Check a 304: without a snapshot the request was unconditional, so it is an error."""
    fetched = read_result.fetched
    if task.snapshot_id is None:
        error = "the site answered 304 to an unconditional request"
        fetched.result = fetched.result.broken(error)
    elif task.provider is not None and fetched.provider == "http":
        read_result.same_shell = True
