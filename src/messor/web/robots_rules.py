"""The rules of one robots.txt group: which of them decides about a path, fast.

The longest matching pattern wins and an allow wins a tie (RFC 9309 section 2.2.2). Matching is
linear in the path: between two `*` the leftmost occurrence is always good enough.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Generic, TypeVar

from msgspec import Struct

ASCII_SPACE = " \t\x0b\x0c"

_TO_NORMALISE = re.compile(r"%[0-9a-fA-F]{2}|[^!#-;=?-\[\]_a-z~]")
_PATH_START = re.compile(r"[/?;]")
# A URL that needs no rewriting, which is nearly every one; its group is the path.
match_clean_url = re.compile(r"https?://[^/?;#]+(/[!$&-;=?-\[\]_a-z~]*)").fullmatch

Outcome = TypeVar("Outcome")


def normalise(text: str) -> str:
    """What no URL holds bare is escaped, escapes are in upper case.

    `text` has one character per octet. Escapes are not undone: "/%62" and "/b" stay
    different, as in the reference matcher.
    """
    return _TO_NORMALISE.sub(_normalised, text)


def _normalised(match: re.Match[str]) -> str:
    token = match[0]
    return f"%{ord(token):02X}" if len(token) == 1 else token.upper()


def robots_path(url: str) -> str:
    """What rules are compared with: path, parameters and query, without fragment."""
    start = 2 if url.startswith("//") else 0
    scheme_end = url.find("://", start)
    early = _PATH_START.search(url, start)
    if scheme_end >= 0 and (early is None or early.start() > scheme_end):
        early = _PATH_START.search(url, scheme_end + 3)
    if early is None:
        return "/"
    cut = url.find("#", start)
    if cut >= 0 and cut < early.start():
        return "/"
    path = url[early.start() :] if cut < 0 else url[early.start() : cut]
    if path[0] != "/":
        path = f"/{path}"
    if not path.isascii():
        path = path.encode("utf-8", "replace").decode("latin-1")
    return normalise(path)


class Rule(Struct, frozen=True):
    """One allow or disallow line, as written (one character per octet)."""

    allow: bool
    pattern: str

    def readable(self) -> str:
        text = self.pattern.encode("latin-1", "replace").decode("utf-8", "replace")
        return text.replace("\x00", "")


class _Node(Generic[Outcome]):
    """A literal pattern, the longest other one it starts with, and what weighs most of both."""

    __slots__ = ("outcome", "parent", "text", "weight")

    def __init__(self, text: str, weight: int, outcome: Outcome) -> None:
        self.text = text
        self.weight = weight
        self.outcome = outcome
        self.parent = self


class _Wildcard(Generic[Outcome]):
    """A pattern with `*` inside, cut into its literal pieces."""

    __slots__ = ("anchored", "head", "outcome", "pieces", "tail", "weight")

    def __init__(self, text: str, weight: int, outcome: Outcome, *, anchored: bool) -> None:
        self.weight = weight
        self.outcome = outcome
        self.anchored = anchored
        self.head, *pieces, self.tail = text.split("*")
        if not anchored:
            pieces.append(self.tail)
        self.pieces = [piece for piece in pieces if piece]

    def key(self) -> str:
        """The longest piece: no path matches without it, and looking for it is cheap."""
        return max((self.head, *self.pieces, self.tail), key=len)

    def matches(self, path: str) -> bool:
        if not path.startswith(self.head):
            return False
        at = len(self.head)
        for piece in self.pieces:
            at = path.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        return not self.anchored or (len(path) - len(self.tail) >= at and path.endswith(self.tail))


class RuleSet(Generic[Outcome]):
    """Rules with their outcomes, indexed: literals in a sorted list, then the few wildcards.

    A weight is twice the pattern's length, plus one for an allow.
    """

    __slots__ = ("_exact", "_nodes", "_texts", "_wildcards", "_wildest")

    def __init__(self, rules: Iterable[tuple[Rule, Outcome]], otherwise: Outcome) -> None:
        self._exact: dict[str, _Node[Outcome]] = {}
        self._wildcards: list[tuple[str, _Wildcard[Outcome]]] = []
        literals: dict[str, _Node[Outcome]] = {"": _Node("", 0, otherwise)}
        for rule, outcome in rules:
            pattern = normalise(rule.pattern)
            self._add(pattern, rule.allow, outcome, literals)
            folder, slash, name = pattern.rpartition("/")
            # The reference matcher lets "allow: /x/index.html" open "/x/" as well.
            if rule.allow and slash and name.startswith("index.htm"):
                self._add(f"{folder}/$", rule.allow, outcome, literals)
        self._wildcards.sort(key=lambda keyed: keyed[1].weight, reverse=True)
        self._wildest = self._wildcards[0][1].weight if self._wildcards else -1
        self._nodes = [literals[text] for text in sorted(literals)]
        self._texts = [node.text for node in self._nodes]
        self._link_parents()

    def _add(
        self, pattern: str, allow: bool, outcome: Outcome, literals: dict[str, _Node[Outcome]]
    ) -> None:
        weight = 2 * len(pattern) + allow
        text = pattern.removesuffix("$")
        anchored = text != pattern
        if not anchored:
            text = pattern.rstrip("*")  # a final "*" says nothing, but counts
        if "*" in text:
            wildcard = _Wildcard(text, weight, outcome, anchored=anchored)
            self._wildcards.append((wildcard.key(), wildcard))
            return
        table = self._exact if anchored else literals
        if text not in table or table[text].weight < weight:
            table[text] = _Node(text, weight, outcome)

    def _link_parents(self) -> None:
        """In sorted order, a text's longest prefix is the nearest one still open before it."""
        open_nodes: list[_Node[Outcome]] = []
        for node in self._nodes:
            while open_nodes and not node.text.startswith(open_nodes[-1].text):
                open_nodes.pop()
            if open_nodes:
                node.parent = open_nodes[-1]
                if node.parent.weight > node.weight:
                    node.weight, node.outcome = node.parent.weight, node.parent.outcome
            open_nodes.append(node)

    def decide(self, path: str) -> Outcome:
        """The outcome of the rule that weighs most for a normalised path."""
        node = self._nodes[bisect_right(self._texts, path) - 1]
        while not path.startswith(node.text):
            node = node.parent
        if self._exact:
            exact = self._exact.get(path)
            if exact is not None and exact.weight > node.weight:
                node = exact
        if self._wildest > node.weight:
            for key, wildcard in self._wildcards:
                if key in path and wildcard.matches(path):
                    return wildcard.outcome if wildcard.weight > node.weight else node.outcome
        return node.outcome
