"""Refusals: why a page is not given to the program that asked for it.

ScrapeRefusedError             each with a code for programs
├── ApprovalNeededError        somebody must decide about the domain
├── DomainClosedError          it was rejected, suspended, blacklisted or paused
├── PageErasedError            the page was erased and must not be stored
├── PageRefusedError           robots.txt or another rule denies the request
├── RightsWithheldError        what the site says about use forbids this one
├── PageBlockedError           the site refused to give its content
├── PageMissingError           the site has no such page
├── PageFailedError            the site could not be read
├── NotArchivedError           only the archive was asked, and it holds nothing
├── StillWaitingError          its lane is paced; the same request continues
├── FormatUnavailableError     a form in which the page cannot be given here
└── OptionRefusedError         an option that Messor does not take
"""

from __future__ import annotations

from messor.errors import MessorError


class ScrapeRefusedError(MessorError):
    """A page that is not given, with a stable code."""

    code = "SCRAPE_REFUSED"
    status = 403


class ApprovalNeededError(ScrapeRefusedError):
    code = "APPROVAL_NEEDED"
    retryable = True

    def __init__(self, domain: str) -> None:
        self.domain = domain
        super().__init__(
            f"{domain} awaits approval. A reviewer decides in the console, or with: "
            f"messor domains approve {domain}"
        )


class DomainClosedError(ScrapeRefusedError):
    code = "DOMAIN_CLOSED"


class PageErasedError(ScrapeRefusedError):
    code = "PAGE_ERASED"


class PageRefusedError(ScrapeRefusedError):
    code = "PAGE_REFUSED"


class RightsWithheldError(ScrapeRefusedError):
    code = "RIGHTS_WITHHELD"


class PageBlockedError(ScrapeRefusedError):
    code = "PAGE_BLOCKED"


class PageMissingError(ScrapeRefusedError):
    code = "PAGE_MISSING"
    status = 404


class PageFailedError(ScrapeRefusedError):
    code = "PAGE_FAILED"
    status = 424
    retryable = True


class NotArchivedError(ScrapeRefusedError):
    code = "SCRAPE_LOCKDOWN_CACHE_MISS"
    status = 404


class StillWaitingError(ScrapeRefusedError):
    code = "SCRAPE_TIMEOUT"
    status = 408
    retryable = True

    def __init__(self, why: str, retry_after: float) -> None:
        self.retry_after = max(1, round(retry_after))
        super().__init__(f"{why} Send the same request again in {self.retry_after} s.")


class OptionRefusedError(ScrapeRefusedError):
    code = "OPTION_REFUSED"


class FormatUnavailableError(ScrapeRefusedError):
    code = "FORMAT_UNAVAILABLE"
