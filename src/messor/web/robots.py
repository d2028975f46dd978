"""robots.txt: parsing and decisions after RFC 9309 and Google's reference matcher.

Pure text in, decisions out. The meaning of an unreachable or missing file, and how long a file
stays in force, is decided in `politeness`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from msgspec import Struct

from messor.web.robots_lookup import Lookup
from messor.web.robots_rules import ASCII_SPACE, Rule, RuleSet
from messor.web.text import storable

MAX_BYTES = 500 * 1024
# Browsers truncate URLs at 2,083 characters; the reference matcher allows lines of eight times
# that.
MAX_LINE = 2083 * 8 - 1
_REMEMBERED_AGENTS = 64

_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_AGENT_PREFIX = re.compile(r"[a-zA-Z_-]*")
_DELAY = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)
_HTML_START = re.compile(
    r"\s*<(?:!doctype|html|head|body|title|meta|script|style|div|p|\?xml)\b", re.IGNORECASE
)

# The reference matcher compares by prefix and tolerates these misspellings.
_PREFIXES = (
    ("disallow", "disallow"),
    ("user-agent", "agent"),
    ("allow", "allow"),
    ("sitemap", "sitemap"),
    ("crawl-delay", "delay"),
    ("useragent", "agent"),
    ("user agent", "agent"),
    ("dissallow", "disallow"),
    ("dissalow", "disallow"),
    ("disalow", "disallow"),
    ("diasllow", "disallow"),
    ("disallaw", "disallow"),
    ("site-map", "sitemap"),
    ("crawldelay", "delay"),
    ("crawl delay", "delay"),
)
_KINDS = dict(_PREFIXES)


class RobotsDecision(Struct, frozen=True, gc=False):
    """Whether an agent may fetch a URL, and by which rule."""

    allowed: bool
    reason: str  # "allow_rule:/x", "disallow_rule:/x", "no_rule", "no_group", …
    matched_rule: str | None
    user_agent: str
    crawl_delay: float | None


@dataclass(slots=True)
class _Group:
    """Consecutive user-agent lines and the rules that follow them."""

    rules: list[Rule] = field(default_factory=list)


@dataclass(slots=True)
class _Agent:
    """A file's rules for one agent name, over all its groups."""

    groups: list[_Group] = field(default_factory=list)
    crawl_delay: float | None = None


def _by_rule(rule: Rule, agent: str, crawl_delay: float | None) -> RobotsDecision:
    text = rule.readable()
    reason = f"allow_rule:{text}" if rule.allow else f"disallow_rule:{text}"
    return RobotsDecision(rule.allow, reason, text, agent, crawl_delay)


class Robots:
    """A parsed robots.txt; `check` decides for any agent and URL."""

    __slots__ = ("_agents", "_asked", "_fixed", "is_html", "sitemaps", "truncated")

    def __init__(self) -> None:
        self.sitemaps: list[str] = []
        self.is_html = False
        self.truncated = False
        self._agents: dict[str, _Agent] = {}
        self._asked: dict[str, Lookup[RobotsDecision]] = {}
        self._fixed: tuple[bool, str] | None = None

    @classmethod
    def parse(cls, body: bytes) -> Robots:
        robots = cls()
        robots.truncated = len(body) > MAX_BYTES
        text = _decode(body[:MAX_BYTES])
        _Parser(robots._agents, robots.sitemaps).feed(text)
        robots.is_html = _HTML_START.match(text) is not None
        return robots

    @classmethod
    def allow_all(cls, reason: str) -> Robots:
        """For a site without the file."""
        return cls._settled(allowed=True, reason=reason)

    @classmethod
    def deny_all(cls, reason: str) -> Robots:
        """For a site whose file cannot be reached."""
        return cls._settled(allowed=False, reason=reason)

    @classmethod
    def _settled(cls, *, allowed: bool, reason: str) -> Robots:
        robots = cls()
        robots._fixed = (allowed, reason)
        return robots

    def check(self, agent_token: str, url: str) -> RobotsDecision:
        """Whether an agent may fetch a URL.

        Every URL of a crawl passes here, so the common steps are inlined.
        """
        try:
            lookup = self._asked[agent_token]
            spot = lookup[url[: lookup.end]]
        except KeyError:
            return self._lookup(agent_token).decide(url)
        while spot.text and not url.startswith(spot.text, lookup.cut):
            spot = spot.next
        doubts = spot.doubts
        return spot.outcome if doubts is None else doubts.settle(url, spot.outcome)

    def crawl_delay(self, agent_token: str) -> float | None:
        found = self._find(agent_token)
        return found.crawl_delay if found else None

    def _find(self, agent_token: str) -> _Agent | None:
        name = agent_token.partition("/")[0].strip().lower()
        return (self._agents.get(name) if name else None) or self._agents.get("*")

    def _lookup(self, agent_token: str) -> Lookup[RobotsDecision]:
        """The lookup for an agent; the first agents are cached."""
        lookup = self._asked.get(agent_token)
        if lookup is None:
            lookup = self._prepare(agent_token)
            if len(self._asked) < _REMEMBERED_AGENTS:
                self._asked[agent_token] = lookup
        return lookup

    def _prepare(self, agent_token: str) -> Lookup[RobotsDecision]:
        found = self._find(agent_token)
        delay = found.crawl_delay if found else None
        allowed, reason = self._fixed or (True, "no_rule" if found else "no_group")

        def explain(rule: Rule | None) -> RobotsDecision:
            if rule is None:
                return RobotsDecision(allowed, reason, None, agent_token, delay)
            return _by_rule(rule, agent_token, delay)

        # Every path starts with a slash: a pattern that starts otherwise matches none.
        rules = (
            rule
            for group in (found.groups if found else ())
            for rule in group.rules
            if rule.pattern[0] in "/*"
        )
        return Lookup(RuleSet(rules), explain)


def _decode(body: bytes) -> str:
    """One character per octet, as rules are compared by octets."""
    encoding = _UTF16_BOMS.get(body[:2])
    if encoding is not None:
        body = body[2:].decode(encoding, "replace").encode("utf-8", "replace")
    for size in (3, 2, 1):  # a damaged byte-order mark is skipped as well
        if body.startswith(_UTF8_BOM[:size]):
            body = body[size:]
            break
    return body.decode("latin-1")


def _agent_prefix(text: str) -> str:
    match = _AGENT_PREFIX.match(text)
    return match[0].lower() if match else ""


class _Parser:
    """Parses lines into agents and groups."""

    def __init__(self, agents: dict[str, _Agent], sitemaps: list[str]) -> None:
        self._agents = agents
        self._sitemaps = sitemaps
        self._group = _Group()
        self._current: list[_Agent] = []
        # A crawl-delay does not end a group's agent lines for rules, but it does for delays: it
        # never applies to earlier agents that already have their own.
        self._delayed: list[_Agent] = []
        self._has_rules = False
        self._has_delay = False

    def feed(self, text: str) -> None:
        for raw in text.replace("\r", "\n").split("\n"):
            line = raw[:MAX_LINE] if len(raw) > MAX_LINE else raw
            if "#" in line:
                line = line.partition("#")[0]
            key, colon, value = line.partition(":")
            if not colon:
                key, value = _split_at_space(line)
            key = key.strip(ASCII_SPACE).lower()
            if not key:
                continue
            kind = _KINDS.get(key) or _kind_by_prefix(key)
            if kind is not None:
                self._handle(kind, value.strip(ASCII_SPACE))

    def _handle(self, kind: str, value: str) -> None:
        if kind == "agent":
            self._add_agent(value)
        elif kind == "sitemap":
            if value:
                self._sitemaps.append(_readable(value))
        elif kind == "delay":
            self._set_delay(value)
        elif self._current:
            self._has_rules = True
            if value:
                self._group.rules.append(Rule(kind == "allow", value))

    def _add_agent(self, value: str) -> None:
        if self._has_rules:
            self._group, self._current, self._has_rules = _Group(), [], False
        if self._has_delay or not self._current:
            self._delayed, self._has_delay = [], False
        is_global = value[:1] == "*" and (len(value) == 1 or value[1] in ASCII_SPACE)
        agent = self._agents.setdefault("*" if is_global else _agent_prefix(value), _Agent())
        if not agent.groups or agent.groups[-1] is not self._group:
            agent.groups.append(self._group)
        self._current.append(agent)
        self._delayed.append(agent)

    def _set_delay(self, value: str) -> None:
        if not _DELAY.fullmatch(value):
            return
        self._has_delay = True
        for agent in self._delayed:
            if agent.crawl_delay is None:
                agent.crawl_delay = float(value)


def _kind_by_prefix(key: str) -> str | None:
    for prefix, kind in _PREFIXES:
        if key.startswith(prefix):
            return kind
    return None


def _split_at_space(line: str) -> tuple[str, str]:
    """A missing colon is tolerated when the line is exactly two words."""
    words = line.split()
    return (words[0], words[1]) if len(words) == 2 else ("", "")


def _readable(value: str) -> str:
    return storable(value.encode("latin-1", "replace").decode("utf-8", "replace"))
