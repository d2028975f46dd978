"""The options of requests: what is taken, what is ignored with a warning, and what is refused.

Unknown keys are ignored, since clients send those of other versions. So is skipTlsVerification, which
the official clients always send: certificates are verified all the same. Refused are options that would
have Messor act against a site's rules, hide who it is, or claim what it does not do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from messor.api.models.base import Address, text
from messor.errors import UsageError
from messor.scrape.archived import understand
from messor.scrape.documents import FORMATS, Shape
from messor.scrape.jobs import CrawlOrder
from messor.scrape.pages import TWO_DAYS, WantedPage
from messor.scrape.refusals import FormatUnavailableError, OptionRefusedError
from messor.web.urls import Url

DEFAULT_TIMEOUT = 30_000  # milliseconds
WITHIN = 0.95  # of it: clients give up at that moment, so the answer comes before
Ms = Annotated[int, Field(ge=0, le=10**12)]
Selector = Annotated[str, text(300, 1)]
Pattern = Annotated[str, text(300, 1)]
Whatever = dict[str, Any]

_OLD_NAMES = {
    "raw_html": "rawHtml",
    "change_tracking": "changeTracking",
    "extract": "json",
    "json_options": "json",
    "html@v1": "html",
}
_BY_MODEL = frozenset({"question", "highlights", "query", "branding"})


class LenientIn(BaseModel):
    """A request body; unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)


class AuditIn(LenientIn):
    username: Annotated[str, text(320, 1)] | None = None


class ScrapeOptionsIn(LenientIn):
    """How pages are wanted."""

    formats: list[str | Whatever] | None = Field(None, max_length=20)
    only_main_content: bool | None = None
    include_tags: list[Selector] | None = Field(None, max_length=50)
    exclude_tags: list[Selector] | None = Field(None, max_length=50)
    max_age: Ms | None = None
    min_age: Ms | None = None
    timeout: Ms | None = None
    lockdown: bool | None = None
    remove_base64_images: bool | None = Field(None, alias="removeBase64Images")
    store_in_cache: bool | None = None
    headers: dict[str, str] | None = None
    proxy: str | Whatever | None = None
    actions: list[Whatever] | None = None
    wait_for: Ms | None = None
    mobile: bool | None = None
    location: Whatever | None = None
    profile: Whatever | None = None
    redact_pii: bool | Whatever | None = Field(None, alias="redactPII")
    check_prompt_injection: bool | Whatever | None = None
    threat_protection: bool | Whatever | None = None
    json_options: Whatever | None = None  # of v1
    extract: Whatever | None = None  # of v1
    change_tracking_options: Whatever | None = None  # of v1
    audit_metadata: AuditIn | None = None

    def check(self) -> list[str]:
        """Raise for what is refused; returns warnings about what is ignored."""
        if self.proxy not in (None, "auto", "basic"):
            raise OptionRefusedError(
                "proxy: Messor does not disguise its requests. Leave it out, or use basic or auto."
            )
        if self.headers:
            raise OptionRefusedError("headers: requests say who asks; callers cannot add headers.")
        if self.actions:
            raise OptionRefusedError("actions: pages are read as they come, not operated.")
        if self.redact_pii:
            raise OptionRefusedError("redactPII: nothing is blacked out here; leave it out.")
        if self.profile:
            raise OptionRefusedError("profile: no logins are kept for sites.")
        if self.store_in_cache is False:
            raise OptionRefusedError("storeInCache: what is fetched is archived, as proof.")
        ignorable = {"waitFor": self.wait_for, "mobile": self.mobile, "location": self.location}
        ignored = [name for name, value in ignorable.items() if value]
        told = [f"{name} is ignored: pages are fetched in one way." for name in ignored]
        unchecked = {
            "checkPromptInjection": self.check_prompt_injection,
            "threatProtection": self.threat_protection,
        }
        told += [f"{name}: the page was not checked." for name, value in unchecked.items() if value]
        return told + self._tracking_told()

    def _tracking_told(self) -> list[str]:
        for one in self.formats or ():
            if isinstance(one, dict) and "json" in (one.get("modes") or ()):
                return ["changeTracking: the mode json needs a model; git-diff is given instead."]
        return []

    @property
    def on_behalf_of(self) -> str | None:
        return self.audit_metadata.username if self.audit_metadata else None

    def shape(self) -> Shape:
        """The forms that are asked for; raises for those that cannot be given."""
        named: dict[str, Mapping[str, Any]] = {}
        for given in ["markdown"] if self.formats is None else self.formats:
            name = given if isinstance(given, str) else str(given.get("type", ""))
            named[_known(name)] = {} if isinstance(given, str) else given
        names = tuple(named)
        if "changeTracking" in names and "markdown" not in names:
            raise UsageError("The format changeTracking requires the format markdown.")
        tracking = named.get("changeTracking") or self.change_tracking_options or {}
        return Shape(
            names,
            self.only_main_content is not False,
            tuple(self.include_tags or ()),
            tuple(self.exclude_tags or ()),
            self.remove_base64_images is not False,
            _attributes(named.get("attributes", {})),
            _schema(named.get("json", {}), self.json_options or self.extract or {}),
            bool(tracking.get("modes")),
        )

    def oldest(self, default: float = TWO_DAYS) -> float:
        """Seconds that an archived answer may be old."""
        return default if self.max_age is None else self.max_age / 1000


class ScrapeIn(ScrapeOptionsIn):
    url: Address
    ignore_robots_txt: bool | None = None
    zero_data_retention: bool | None = None

    def wanted(self, *, max_age: float = TWO_DAYS) -> WantedPage:
        check_conduct(self)
        return WantedPage(
            address(self.url),
            self.oldest(max_age),
            None if self.min_age is None else self.min_age / 1000,
            bool(self.lockdown),
            (self.timeout or DEFAULT_TIMEOUT) / 1000 * WITHIN,
        )


class JobWebhookIn(LenientIn):
    url: Address
    headers: dict[str, str] | None = None
    metadata: Whatever | None = None
    events: list[str] | None = None


class CrawlIn(LenientIn):
    """A crawl; the last three are names of v1."""

    url: Address
    include_paths: list[Pattern] | None = None
    exclude_paths: list[Pattern] | None = None
    max_discovery_depth: Annotated[int, Field(ge=0, le=10_000)] | None = None
    limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    sitemap: str | None = None
    ignore_query_parameters: bool | None = None
    crawl_entire_domain: bool | None = None
    allow_external_links: bool | None = None
    allow_subdomains: bool | None = None
    ignore_robots_txt: bool | None = None
    robots_user_agent: str | None = None
    delay: Annotated[float, Field(ge=0, le=86_400)] | None = None
    regex_on_full_url: bool | None = Field(None, alias="regexOnFullURL")
    zero_data_retention: bool | None = None
    prompt: str | None = None
    webhook: JobWebhookIn | str | None = None
    scrape_options: ScrapeOptionsIn | None = None
    audit_metadata: AuditIn | None = None
    max_depth: Annotated[int, Field(ge=0, le=10_000)] | None = None
    ignore_sitemap: bool | None = None
    allow_backward_links: bool | None = None

    @property
    def options(self) -> ScrapeOptionsIn:
        return self.scrape_options or ScrapeOptionsIn.model_validate({})

    @property
    def on_behalf_of(self) -> str | None:
        return self.audit_metadata.username if self.audit_metadata else self.options.on_behalf_of

    def order(self) -> CrawlOrder:
        """What is to be crawled; raises for what is refused."""
        check_conduct(self)
        if self.allow_external_links:
            raise OptionRefusedError(
                "allowExternalLinks: each domain is approved by itself; start a crawl for each."
            )
        if self.sitemap not in (None, "include", "skip"):
            raise OptionRefusedError("sitemap: use include or skip; for the list itself use map.")
        if self.prompt:
            raise OptionRefusedError("prompt: no model chooses what is crawled; give paths.")
        self.options.check()
        return CrawlOrder(
            address(self.url),
            self.max_depth if self.max_discovery_depth is None else self.max_discovery_depth,
            self.limit or 10_000,
            self.delay,
            tuple(self.include_paths or ()),
            tuple(self.exclude_paths or ()),
            bool(self.regex_on_full_url),
            bool(self.crawl_entire_domain or self.allow_backward_links),
            bool(self.allow_subdomains),
            bool(self.ignore_query_parameters),
            self.sitemap != "skip" and not self.ignore_sitemap,
            self.options.max_age == 0,
            self.options.shape(),
        )


class BatchScrapeIn(ScrapeOptionsIn):
    urls: list[Address] = Field(min_length=1, max_length=10_000)
    ignore_invalid_urls: bool | None = Field(None, alias="ignoreInvalidURLs")
    append_to_id: UUID | None = None
    webhook: JobWebhookIn | str | None = None
    ignore_robots_txt: bool | None = None
    zero_data_retention: bool | None = None

    def understood(self) -> tuple[list[Url], list[str]]:
        """The URLs, and those that are none."""
        check_conduct(self)
        pairs = [(written, understand(written)) for written in self.urls]
        invalid = [written for written, url in pairs if url is None]
        if invalid and self.ignore_invalid_urls is False:
            raise UsageError(f"{invalid[0][:200]!r} is not a web address.")
        return [url for _, url in pairs if url is not None], invalid


class MapIn(LenientIn):
    url: Address
    search: Annotated[str, text(500)] | None = None
    sitemap: str | None = None
    include_subdomains: bool | None = None
    ignore_query_parameters: bool | None = None
    limit: Annotated[int, Field(ge=1, le=100_000)] | None = None
    audit_metadata: AuditIn | None = None


class SearchIn(LenientIn):
    query: Annotated[str, text(2_000, 1)]
    limit: Annotated[int, Field(ge=1, le=100)] | None = None
    sources: list[str | Whatever] | None = None
    tbs: str | None = None
    location: str | None = None
    country: str | None = None
    categories: list[Any] | None = None
    include_domains: list[str] | None = None
    exclude_domains: list[str] | None = None
    scrape_options: ScrapeOptionsIn | None = None

    @property
    def ignored(self) -> list[str]:
        """What narrows a search of the web, and does nothing to one of the archive."""
        given = {
            "tbs": self.tbs,
            "location": self.location,
            "categories": self.categories,
            "includeDomains": self.include_domains,
            "excludeDomains": self.exclude_domains,
        }
        return [name for name, value in given.items() if value]


class ExtractIn(LenientIn):
    urls: list[Address] = Field(min_length=1, max_length=100)
    schema_: Whatever | None = Field(None, alias="schema")
    prompt: str | None = None
    enable_web_search: bool | None = None
    webhook: JobWebhookIn | str | None = None


def check_conduct(given: Any) -> None:
    """Refuse options that break a site's rules, hide who asks, or ask for no proof."""
    if given.ignore_robots_txt:
        raise OptionRefusedError("ignoreRobotsTxt: robots.txt is always followed.")
    if getattr(given, "robots_user_agent", None):
        raise OptionRefusedError("robotsUserAgent: rules are matched by Messor's own name.")
    if given.zero_data_retention:
        raise OptionRefusedError("zeroDataRetention: what is fetched is archived, as proof.")


def address(written: str) -> Url:
    url = understand(written)
    if url is None:
        raise UsageError(f"{written[:200]!r} is not a web address.")
    return url


def _known(name: str) -> str:
    plain = _OLD_NAMES.get(name, name)
    if plain in FORMATS:
        return plain
    if plain in _BY_MODEL:
        raise FormatUnavailableError(
            f"The format {plain} needs a model, and none writes answers here."
        )
    if plain.startswith("screenshot"):
        raise FormatUnavailableError("The format screenshot: no pictures of pages are taken here.")
    raise UsageError(f"Unknown format {plain[:50]!r}; known: {', '.join(sorted(FORMATS))}.")


def _attributes(given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    chosen = given.get("selectors") or []
    if not isinstance(chosen, list) or len(chosen) > 50:
        raise UsageError("The format attributes takes a list of at most 50 selectors.")
    pairs = []
    for each in chosen:
        if not isinstance(each, dict) or not each.get("selector") or not each.get("attribute"):
            raise UsageError("Each of the selectors needs a selector and an attribute.")
        pairs.append((str(each["selector"])[:300], str(each["attribute"])[:100]))
    return tuple(pairs)


def _schema(given: Mapping[str, Any], older: Mapping[str, Any]) -> Mapping[str, Any] | None:
    schema = given.get("schema") or older.get("schema")
    if schema is None and (given.get("prompt") or older.get("prompt")):
        raise FormatUnavailableError(
            "The format json with a prompt alone needs a model; give a schema, which is filled "
            "from what the page states."
        )
    if schema is not None and not isinstance(schema, dict):
        raise UsageError("The schema of the format json is a JSON object.")
    return schema
