"""The rules of one robots.txt group: which of them decides about a path, fast.

The longest matching pattern wins and an allow wins a tie (RFC 9309 section 2.2.2). Matching is
linear in the path: between two `*` the leftmost occurrence is always good enough.

Most URLs are decided as they stand, by the literals and keys of a bucket (`Robots.check`); only
those that a rule with `*`, `$` or an escape might be about are normalised first.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

ASCII_SPACE = " \t\x0b\x0c"

_TO_NORMALISE = re.compile(r"%[0-9a-fA-F]{2}|[^!#-;=?-\[\]_a-z~]")
_PATH_START = re.compile(r"[/?;]")
# A URL that needs no rewriting, which is nearly every one; its group is the path.
match_clean_url = re.compile(r"https?://[^/?;#]+(/[!$&-;=?-\[\]_a-z~]*)").fullmatch
is_clean_path = re.compile(r"/[!$&-;=?-\[\]_a-z~]*").fullmatch

_HEX = "0123456789ABCDEF"
_SHARED_DOUBTS = 32
_REMEMBERED = 2_048

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


def raw_key(text: str) -> str:
    """The longest part of a normalised text that a path must hold even before it is normalised.

    Normalising touches escapes only: what it adds starts with "%" and goes on in hex digits.
    """
    return max((part.lstrip(_HEX) for part in text.split("%")), key=len)


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


# Those for paths without a query, and all of them; empty where there are none.
Keys: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]] | tuple[()]


class Rule(Struct, frozen=True):
    """One allow or disallow line, as written (one character per octet)."""

    allow: bool
    pattern: str

    def readable(self) -> str:
        text = self.pattern.encode("latin-1", "replace").decode("utf-8", "replace")
        return text.replace("\x00", "")


class _Node(Generic[Outcome]):
    """A literal pattern, the longest other one it starts with, and what weighs most of both."""

    __slots__ = ("is_plain", "keys", "outcome", "parent", "text", "weight")

    is_sure = False  # see _Wildcard

    def __init__(self, text: str, weight: int, outcome: Outcome) -> None:
        self.text = text
        self.weight = weight
        self.outcome = outcome
        self.parent = self
        self.is_plain = "%" not in text  # then a path without escapes need not be normalised
        self.keys: Keys = ()  # of the rules in doubt that outweigh it

    def matches(self, path: str) -> bool:
        return path.startswith(self.text)


class _Exact(_Node[Outcome]):
    """A pattern without `*` that ends in `$`."""

    __slots__ = ()

    def matches(self, path: str) -> bool:
        return path == self.text


class _Wildcard(Generic[Outcome]):
    """A pattern with `*` inside, cut into its literal pieces."""

    __slots__ = ("anchored", "head", "is_plain", "is_sure", "outcome", "pieces", "tail", "weight")

    def __init__(self, text: str, weight: int, outcome: Outcome, *, anchored: bool) -> None:
        self.weight = weight
        self.outcome = outcome
        self.anchored = anchored
        self.head, *pieces, self.tail = text.split("*")
        if not anchored:
            pieces.append(self.tail)
        self.pieces = [piece for piece in pieces if piece]
        self.is_plain = "%" not in text
        # Whether it is about every path that holds its key, like the usual "/*key"; the key must
        # be the whole of the piece, and not what is left without its hex digits.
        self.is_sure = (
            len(self.pieces) == 1
            and not anchored
            and raw_key(self.pieces[0]) == self.pieces[0]
            and (not self.head or (self.head == "/" and self.tail[0] != "/"))
        )

    def key(self) -> str:
        """The longest piece: no path matches without it, and looking for it is cheap."""
        return max((self.head, *self.pieces, self.tail), key=len)

    def raw_key(self) -> str:
        return max(map(raw_key, (*self.pieces, self.tail)), key=len) or raw_key(self.head)

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


_Doubt: TypeAlias = tuple[str, _Node[Outcome] | _Wildcard[Outcome]]


class _Doubts(Generic[Outcome]):
    """The rules that need a normalised path, the heaviest first, each known by a key.

    A rule is not about a path that, as it stands in its URL, is without the rule's key.
    """

    __slots__ = ("keys", "rules")

    def __init__(self, doubts: Iterable[_Doubt[Outcome]]) -> None:
        ordered = sorted(doubts, key=lambda doubt: -doubt[1].weight)
        self.keys = tuple(key for key, _ in ordered)
        self.rules = [rule for _, rule in ordered]

    def keys_above(self, weight: int) -> Keys:
        """The keys of the rules that outweigh a literal of this weight."""
        keys = self.keys
        if self.rules and self.rules[-1].weight <= weight:
            keys = keys[: bisect_left(self.rules, -weight, key=lambda rule: -rule.weight)]
        return (tuple(key for key in keys if "?" not in key), keys) if keys else ()


class Bucket(Generic[Outcome]):
    """The literals with one beginning: a single one, or sorted texts and their nodes.

    A path that starts with `begin` (empty where all of them do) has the single one's outcome,
    unless a rule outweighs it whose key is among `own_keys`; what no literal is about has the
    base's outcome, unless a rule does whose key is among `keys`.
    """

    __slots__ = ("base", "begin", "keys", "nodes", "outcome", "own_keys", "rules", "texts")

    def __init__(
        self,
        base: _Node[Outcome],
        nodes: list[_Node[Outcome]],
        doubts: _Doubts[Outcome],
        size: int = 0,
    ) -> None:
        first = nodes[0] if nodes else base
        self.base = base
        self.begin = first.text if nodes and len(first.text) > size else ""
        self.outcome = first.outcome
        self.nodes = [base, *nodes] if len(nodes) > 1 else []
        self.texts = [node.text for node in self.nodes] or None
        self.rules = doubts.rules
        self.keys = doubts.keys_above(base.weight)
        self.own_keys = doubts.keys_above(first.weight)
        for node in nodes:
            node.keys = doubts.keys_above(node.weight)

    def settle(self, path: str, keys: tuple[str, ...], outcome: Outcome) -> Outcome:
        """The outcome for a normalised path: the one at hand, unless one of these rules matches."""
        for key, rule in zip(keys, self.rules, strict=False):
            if key in path and rule.matches(path):
                return rule.outcome
        return outcome


class _Buckets(dict[str, Bucket[Outcome]]):
    """Buckets by origin and beginning; beginnings that no literal has are remembered, too."""

    __slots__ = ("origin", "rest")

    def __init__(
        self, origin: str, rest: Bucket[Outcome], known: Iterable[tuple[str, Bucket[Outcome]]] = ()
    ) -> None:
        super().__init__(known)
        self.origin = origin
        self.rest = rest

    def __missing__(self, begin: str) -> Bucket[Outcome]:
        """What is about all other paths of the origin; other origins are no key."""
        if not begin.startswith(self.origin):
            raise KeyError(begin)
        if len(self) < _REMEMBERED:
            self[begin] = self.rest
        return self.rest


class _Index(Generic[Outcome]):
    """What decides about paths as they stand in URLs, found by their first `size` characters."""

    __slots__ = ("buckets", "rest", "size")

    def __init__(
        self,
        nodes: list[_Node[Outcome]],
        exact: Iterable[_Exact[Outcome]],
        wildcards: Iterable[_Wildcard[Outcome]],
    ) -> None:
        # Every path starts with "/", so this node is about all of them.
        base = [node for node in nodes if node.text in {"", "/"}][-1]
        plain = [n for n in nodes if n.text[:1] == "/" and len(n.text) > 1 and "%" not in n.text]
        wild = [one for one in wildcards if one.weight > base.weight]
        sizes = {len(node.text) for node in plain} or {len(one.head) for one in wild}
        self.size = min((size for size in sizes if size > 1), default=1)
        everywhere: list[_Doubt[Outcome]] = [
            (raw_key(node.text), node) for node in nodes if "%" in node.text
        ]
        local: dict[str, list[_Doubt[Outcome]]] = {}
        for full in exact:
            if "%" in full.text:
                everywhere.append((raw_key(full.text), full))
                continue
            local.setdefault(full.text[: self.size], []).append((full.text, full))
            if len(full.text) < self.size:
                everywhere.append(("#", full))  # a fragment hides that the path ends
        for one in wild:
            begin = one.head[: self.size]
            known = 1 < self.size == len(begin) and "%" not in begin
            (local.setdefault(begin, []) if known else everywhere).append((one.raw_key(), one))
        if len(everywhere) > _SHARED_DOUBTS:  # repeated in each bucket they would take much room
            everywhere.extend(doubt for own in local.values() for doubt in own)
            local = {}
        doubts = _Doubts(everywhere)
        self.rest = Bucket(base, [], doubts)
        grouped: dict[str, list[_Node[Outcome]]] = {begin: [] for begin in local}
        for node in plain:
            grouped.setdefault(node.text[: self.size], []).append(node)
        self.buckets = {
            begin: Bucket(
                base,
                found,
                _Doubts(everywhere + local[begin]) if begin in local else doubts,
                self.size,
            )
            for begin, found in grouped.items()
        }


class RuleSet(Generic[Outcome]):
    """Rules with their outcomes, indexed: literals in a sorted list, then the few wildcards.

    A weight is twice the pattern's length, plus one for an allow. A URL of the file's origin has its
    path from `cut` on, and its bucket under what it is up to `end`.
    """

    __slots__ = (
        "_exact",
        "_local",
        "_nodes",
        "_size",
        "_texts",
        "_wildcards",
        "_wildest",
        "buckets",
        "cut",
        "end",
        "outcome",
        "rest",
    )

    def __init__(self, rules: Iterable[tuple[Rule, Outcome]], otherwise: Outcome) -> None:
        self._exact: dict[str, _Exact[Outcome]] = {}
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
        index = _Index(self._nodes, self._exact.values(), (one for _, one in self._wildcards))
        self._local, self.rest, self._size = index.buckets, index.rest, index.size
        self.outcome = index.rest.outcome
        # A file is about one origin: it is learnt from the first URL, "https://host/".
        self.buckets: _Buckets[Outcome] = _Buckets("\n", index.rest)
        self.cut = self.end = 0

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
        if anchored:
            if text not in self._exact or self._exact[text].weight < weight:
                self._exact[text] = _Exact(text, weight, outcome)
        elif text not in literals or literals[text].weight < weight:
            literals[text] = _Node(text, weight, outcome)

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

    def decide_doubtful(
        self, url: str, bucket: Bucket[Outcome], keys: tuple[str, ...], outcome: Outcome
    ) -> Outcome:
        """The outcome for a URL whose path holds one of a bucket's keys."""
        path = url[self.cut :]
        if not is_clean_path(path):
            return self.decide(robots_path(url))
        return bucket.settle(path, keys, outcome)

    def decide_elsewhere(self, url: str) -> Outcome:
        """The outcome for a URL of any origin."""
        clean = match_clean_url(url)
        if clean is None:
            return self.decide(robots_path(url))
        if self.cut == 0:
            self.cut = clean.start(1)
            self.end = self.cut + self._size
            before = url[: self.cut]
            known = ((before + begin, bucket) for begin, bucket in self._local.items())
            self.buckets = _Buckets(f"{before}/", self.rest, known)
            self._local = {}
        return self.decide(clean[1])

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
