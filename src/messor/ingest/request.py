"""The request of an ingestion, parsed and checked before anything is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from messor.errors import UsageError
from messor.registry.domains import Submission
from messor.registry.submissions import Submitter
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, parse, url_hash

POLICY_VERSION = "orbitBehaviourContract.v1.1.0"

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MAX_SLUG = 100


class Mode(StrEnum):
    LIGHT = "light"
    STANDARD = "standard"
    USER_ASSISTED = "user_assisted"


@dataclass(frozen=True, slots=True)
class ModeTerms:
    """How much a mode requests from a site."""

    cap: int  # page requests of a run, redirects included
    delay: float  # seconds between two requests, unless the site or its risk demands more
    discovers: bool  # discovers pages itself


MODES = {
    Mode.LIGHT: ModeTerms(12, 0.8, discovers=True),
    Mode.STANDARD: ModeTerms(25, 1.0, discovers=True),
    Mode.USER_ASSISTED: ModeTerms(50, 1.0, discovers=False),
}


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """An ingestion as requested."""

    url: str
    actor: str
    mode: str = Mode.STANDARD
    user_urls: tuple[str, ...] = ()  # the pages of user-assisted mode
    orbit: str | None = None  # its slug; made from the domain when missing
    may_approve: bool = False  # the actor is a reviewer or an admin
    submitter_type: str = "admin"
    member_id: UUID | None = None  # the actor's, or of the member whose key it is

    @property
    def submitter(self) -> Submitter:
        return Submitter(self.actor, self.submitter_type, member_id=self.member_id)


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A valid request."""

    request: IngestRequest
    submission: Submission
    mode: Mode
    url: Url
    home: Url
    pages: tuple[Url, ...]
    slug: str

    @property
    def terms(self) -> ModeTerms:
        return MODES[self.mode]

    @classmethod
    def understand(cls, request: IngestRequest) -> CheckedRequest:
        """Check a request; every problem is one sentence."""
        if request.mode not in MODES:
            raise UsageError(
                f"{request.mode[:50]!r} is not an ingestion mode; choose {', '.join(MODES)}."
            )
        mode = Mode(request.mode)
        submission = Submission.understand(request.url)
        home = parse(submission.base_url)
        assert home is not None
        slug = request.orbit or slug_of(submission.domain)
        if not _SLUG.fullmatch(slug) or len(slug) > _MAX_SLUG:
            raise UsageError(
                f"{slug[:120]!r} cannot name an orbit: use lower-case letters, digits and single "
                f"hyphens, at most {_MAX_SLUG} characters, such as example-org."
            )
        pages = _given_pages(mode, request.user_urls, submission.domain)
        return cls(request, submission, mode, _parsed(request.url), home, pages, slug)


def slug_of(domain: str) -> str:
    """The default orbit of a domain: example.org → example-org."""
    return re.sub(r"[^a-z0-9]+", "-", domain).strip("-")[:_MAX_SLUG].rstrip("-")


def _given_pages(mode: Mode, texts: tuple[str, ...], domain: str) -> tuple[Url, ...]:
    terms = MODES[mode]
    if terms.discovers:
        if texts:
            raise UsageError(f"Pages can be given in user_assisted mode only, not in {mode}.")
        return ()
    if not texts:
        raise UsageError("user_assisted mode fetches the pages you give: give at least one.")
    pages: dict[bytes, Url] = {}
    for text in texts:
        url = _parsed(text)
        if registrable_domain(url.host) != domain:
            raise UsageError(f"{url.href[:200]} is not a page of {domain}.")
        pages.setdefault(url_hash(url), url)
    if len(pages) > terms.cap:
        raise UsageError(f"At most {terms.cap} pages fit one run; {len(pages)} were given.")
    return tuple(pages.values())


def _parsed(text: str) -> Url:
    text = text.strip()
    url = parse(text if "://" in text else f"https://{text}")
    if url is None:
        raise UsageError(f"{text[:200]!r} is not a web address such as https://example.org/page.")
    return url
