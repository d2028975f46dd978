"""Statements in robots.txt: Content-Usage rules, Content-Signal lines and the addresses of licences.

Rules and signals belong to the groups of user agents: those that name us count, else those for all
agents. Lines before any user agent are for all. Among Content-Usage rules with a path the longest
match counts, and where several are equally long, all of them do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from messor.web.robots_rules import Pattern, normalise, robots_path
from messor.web.usage import aipref, content_signal
from messor.web.usage.statement import Answer, Statement

_SPEAKS = re.compile(rb"content-(usage|signal)|license", re.IGNORECASE)
_KEYS = frozenset(("content-usage", "content-signal"))
LICENCE = "license"


class UsageLine(NamedTuple):
    """A line of robots.txt that speaks of use."""

    number: int
    key: str
    value: str

    @property
    def place(self) -> str:
        return f"robots.txt, line {self.number}"


class RobotsUsage:
    """The lines of a robots.txt that count for us."""

    __slots__ = ("_rules", "_signals", "licences", "lines")

    def __init__(self, lines: Sequence[UsageLine]) -> None:
        self.lines = lines
        self.licences = [line.value for line in lines if line.key == LICENCE]
        self._signals = [
            one
            for line in lines
            if line.key == "content-signal"
            for one in content_signal.statements_of(line.value, line.place)
        ]
        self._rules = [_rule(line) for line in lines if line.key == "content-usage"]

    @classmethod
    def read(cls, body: bytes, agent: str) -> RobotsUsage:
        """Those of a file that count for an agent."""
        return cls(_lines_of(body, agent))

    @property
    def signals(self) -> dict[str, str]:
        """The Content-Signal lines alone, as yes or no; later lines win."""
        known = (Answer.YES, Answer.NO)
        return {one.use.value: one.answer.value for one in self._signals if one.answer in known}

    def __bool__(self) -> bool:
        return bool(self.lines)

    def statements_of(self, url: str) -> list[Statement]:
        """What it states of a URL."""
        if not self._rules:
            return self._signals
        path = robots_path(url)
        matching = [
            (weight, said) for pattern, weight, said in self._rules if pattern.matches(path)
        ]
        longest = max((weight for weight, _ in matching), default=0)
        return [
            *self._signals,
            *(one for weight, said in matching if weight == longest for one in said),
        ]


def _rule(line: UsageLine) -> tuple[Pattern, int, list[Statement]]:
    first, _, rest = line.value.partition(" ")
    path, value = (first, rest.strip()) if first.startswith(("/", "*")) else ("/", line.value)
    anchored = path.endswith("$")
    escaped = normalise(
        (path[:-1] if anchored else path).encode("utf-8", "replace").decode("latin-1")
    )
    pattern = Pattern(escaped, len(escaped), None, anchored=anchored)
    return pattern, len(path), aipref.statements_of(value, line.place)


def _lines_of(body: bytes, agent: str) -> list[UsageLine]:
    """The lines that count for an agent, and those that name licences."""
    if _SPEAKS.search(body) is None:
        return []
    ours: list[UsageLine] = []
    everybodys: list[UsageLine] = []
    licences: list[UsageLine] = []
    agents, is_naming = {"*"}, False
    for number, line in enumerate(body.decode("utf-8", "replace").splitlines(), 1):
        key, colon, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            agents = {*agents, value.lower()} if is_naming else {value.lower()}
        elif key == LICENCE and value:
            licences.append(UsageLine(number, key, line.partition(":")[2].strip()))
        elif key in _KEYS:
            found = UsageLine(number, key, value)
            ours += [found] if agent.lower() in agents else []
            everybodys += [found] if "*" in agents else []
        is_naming = key == "user-agent"
    return [*(ours or everybodys), *licences]
