"""The rules of one robots.txt group, and which of them decides about a normalised path.

The longest matching pattern wins and an allow wins a tie (RFC 9309 section 2.2.2). Matching is
linear in the path: between two `*` the leftmost occurrence is always sufficient. Deciding most URLs
without normalising them is left to `robots_lookup`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

from msgspec import Struct

ASCII_SPACE = " \t\x0b\x0c"

_TO_NORMALISE = re.compile(r"%[0-9a-fA-F]{2}|[^!#-;=?-\[\]_a-z~]")
_PATH_START = re.compile(r"[/?;]")
_HEX = "0123456789ABCDEF"
_INHERITED = 32


def normalise(text: str) -> str:
    """Escape characters that no URL contains literally; escapes in upper case.

    `text` has one character per octet. Escapes are not decoded: "/%62" and "/b" stay different, as
    in the reference matcher.
    """
    return _TO_NORMALISE.sub(_normalised, text)


def _normalised(match: re.Match[str]) -> str:
    token = match[0]
    return f"%{ord(token):02X}" if len(token) == 1 else token.upper()


def robots_path(url: str) -> str:
    """The text that rules are compared with: path, parameters and query, without fragment."""
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


class Rule(Struct, frozen=True, gc=False):
    """One allow or disallow line, as written (one character per octet)."""

    allow: bool
    pattern: str

    def readable(self) -> str:
        text = self.pattern.encode("latin-1", "replace").decode("utf-8", "replace")
        return text.replace("\x00", "")


class Pattern:
    """A pattern with `*`, a final `$` or an escape, split at each `*`; `head` is its first piece."""

    __slots__ = ("anchored", "head", "order", "pieces", "rule", "tail", "weight")

    def __init__(self, text: str, weight: int, rule: Rule | None, *, anchored: bool) -> None:
        self.weight = weight
        self.order = 0  # among patterns of the same weight
        self.rule = rule
        self.anchored = anchored
        self.head, *pieces = text.split("*")
        self.tail = pieces.pop() if anchored and pieces else ""
        self.pieces = [piece for piece in pieces if piece]

    @property
    def stem(self) -> str:
        """The prefix of every matching path, even before the path is normalised."""
        return self.head.partition("%")[0]

    @property
    def is_escaped(self) -> bool:
        return any("%" in piece for piece in (self.head, *self.pieces, self.tail))

    def key(self) -> str:
        """The longest piece: no path matches without it, and searching for it is cheap."""
        return max((self.head, *self.pieces, self.tail), key=len)

    def raw_key(self) -> str:
        """The longest text that a matching path contains even before it is normalised.

        Normalising changes escapes only: what it adds starts with "%" followed by hex digits.
        """
        keys = (piece.lstrip(_HEX) for piece in (*self.pieces, self.tail))
        return max(keys, key=len) or self.head.lstrip(_HEX)

    def is_sure(self, stem: str) -> bool:
        """Whether it matches every path that starts with a stem and contains its raw key.

        The usual "/*key" does. Its key must be the whole of its only piece, and must not overlap
        the head at the start of a path.
        """
        return (
            not self.anchored
            and stem.startswith(self.head)
            and self.pieces == [self.raw_key()]
            and self.pieces[0][0] not in self.head
        )

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


class Exact(Pattern):
    """A pattern without `*` that ends in `$`."""

    __slots__ = ()

    def __init__(self, text: str, weight: int, rule: Rule) -> None:
        super().__init__(text, weight, rule, anchored=True)

    def matches(self, path: str) -> bool:
        return path == self.head


class Doubts:
    """The patterns that may match a path with a stem, depending on the rest of the path."""

    __slots__ = ("patterns", "stem")

    def __init__(self, stem: str, patterns: list[Pattern]) -> None:
        self.stem = stem
        self.patterns = patterns

    def add(self, stem: str, patterns: list[Pattern]) -> Doubts:
        """Add these and those of a longer stem."""
        if not patterns:
            return self
        if len(self.patterns) > _INHERITED:  # copies for many stems would take too much memory
            self.patterns += patterns
            return self
        return Doubts(stem, self.patterns + patterns)


class Literal:
    """A prefix, the longest other literal that is a prefix of it, and the heaviest rule of both.

    It is a pattern, or the stem of patterns: then it has no weight of its own.
    """

    __slots__ = ("doubts", "parent", "patterns", "rule", "text", "weight")

    def __init__(self, text: str, weight: int = -1, rule: Rule | None = None) -> None:
        self.text = text
        self.weight = weight
        self.rule = rule
        self.patterns: list[Pattern] = []
        self.parent = self
        self.doubts = Doubts(text, self.patterns)

    def link(self, parent: Literal) -> None:
        self.parent = parent
        if parent.weight > self.weight:
            self.weight, self.rule = parent.weight, parent.rule
        self.doubts = parent.doubts.add(self.text, self.patterns)


class RuleSet:
    """Indexed rules: the literals in a sorted list, then those that end in `$`, then wildcards.

    A weight is twice the pattern's length, plus one for an allow.
    """

    __slots__ = ("_known", "_texts", "_wildcards", "exact", "literals")

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.exact: dict[str, Exact] = {}
        self._wildcards: list[tuple[str, Pattern]] = []
        self._known = {"": Literal("", 0)}
        for rule in rules:
            pattern = normalise(rule.pattern)
            self._add(pattern, rule)
            folder, slash, name = pattern.rpartition("/")
            # In the reference matcher "allow: /x/index.html" opens "/x/" as well.
            if rule.allow and slash and name.startswith("index.htm"):
                self._add(f"{folder}/$", rule)
        self._wildcards.sort(key=lambda keyed: keyed[1].weight, reverse=True)
        self._sort_out_doubts()
        self.literals = [self._known[text] for text in sorted(self._known)]
        self._texts = [literal.text for literal in self.literals]
        self._link_literals()

    def _add(self, pattern: str, rule: Rule) -> None:
        weight = 2 * len(pattern) + rule.allow
        text = pattern.removesuffix("$")
        anchored = text != pattern
        if not anchored:
            text = pattern.rstrip("*")  # a final "*" matches nothing more, but counts
        if "*" in text:
            wildcard = Pattern(text, weight, rule, anchored=anchored)
            self._wildcards.append((wildcard.key(), wildcard))
        elif anchored:
            if text not in self.exact or self.exact[text].weight < weight:
                self.exact[text] = Exact(text, weight, rule)
        elif text not in self._known or self._known[text].weight < weight:
            self._known[text] = Literal(text, weight, rule)

    def _sort_out_doubts(self) -> None:
        """Assign each pattern that no literal comparison decides to its stem.

        Except "/$": it matches one path only, which no longer one can be mistaken for.
        """
        escaped = [literal for text, literal in self._known.items() if "%" in text]
        patterns = (
            *(exact for text, exact in self.exact.items() if len(text) > 1),
            *(wildcard for _, wildcard in self._wildcards),
            *(Pattern(one.text, one.weight, one.rule, anchored=False) for one in escaped),
        )
        for order, pattern in enumerate(patterns):
            pattern.order = order
            stem = pattern.stem
            if stem not in self._known:
                self._known[stem] = Literal(stem)
            self._known[stem].patterns.append(pattern)

    def _link_literals(self) -> None:
        """In sorted order, a text's longest prefix is the nearest one still open before it."""
        open_literals: list[Literal] = []
        for literal in self.literals:
            while open_literals and not literal.text.startswith(open_literals[-1].text):
                open_literals.pop()
            if open_literals:
                literal.link(open_literals[-1])
            open_literals.append(literal)

    def decide(self, path: str) -> Rule | None:
        """The heaviest rule for a normalised path."""
        literal = self.literals[bisect_right(self._texts, path) - 1]
        while not path.startswith(literal.text):
            literal = literal.parent
        exact = self.exact.get(path)
        best = exact if exact is not None and exact.weight > literal.weight else literal
        for key, wildcard in self._wildcards:
            if wildcard.weight <= best.weight:
                break
            if key in path and wildcard.matches(path):
                return wildcard.rule
        return best.rule
