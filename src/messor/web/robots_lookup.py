"""Finds the deciding rule of a robots.txt group for a raw URL, in few steps.

Many URLs of a site share a beginning: the result of the literals for a beginning is computed when
the first such URL comes. Other patterns are recognised by a key, a text that every matching path
contains. Only a path with a key is compared, and only one with escapes is normalised first.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Generic, TypeVar

from messor.web.robots_rules import Doubts, Literal, Pattern, Rule, RuleSet, robots_path

# A URL that needs no rewriting, as nearly all; its group is the path.
_match_clean_url = re.compile(r"https?://[^/?;#]+(/[!$&-;=?-\[\]_a-z~]*)").fullmatch
_is_clean_path = re.compile(r"/[!$&-;=?-\[\]_a-z~]*").fullmatch

_LONGEST_BEGINNING = 8  # more characters would distinguish pages, rather than parts of a site
_REMEMBERED = 512  # beginnings, including those without a literal
_FEW = 4  # literals that are compared one after the other

Outcome = TypeVar("Outcome")


class Keys(Generic[Outcome]):
    """The keys of patterns that outweigh a literal: a matching path contains one of them."""

    __slots__ = ("_few", "_keys", "_lookup", "_pool")

    def __init__(self, pool: _Pool[Outcome], keys: tuple[str, ...]) -> None:
        self._pool = pool
        self._lookup = pool.lookup
        self._keys = keys
        self._few = tuple([key for key in keys if "?" not in key])  # for paths without a query

    def settle(self, url: str, outcome: Outcome) -> Outcome:
        """The given outcome, unless one of the patterns matches the URL's path."""
        path = url[self._lookup.cut :]
        for key in self._keys if "?" in path else self._few:
            if key in path:
                return self._settle_from(self._keys.index(key), url, path, outcome)
        return outcome

    def _settle_from(self, at: int, url: str, path: str, outcome: Outcome) -> Outcome:
        """`at` is the position of the first key that the path contains."""
        if "%" in path or "#" in path:
            return self._lookup.decide(url)
        pool = self._pool
        test = pool.tests[at]
        if test is None or test(path):
            return pool.outcome(at)
        if not _is_clean_path(path):
            return self._lookup.decide(url)
        for after in range(at + 1, len(self._keys)):
            if self._keys[after] in path:
                test = pool.tests[after]
                if test is None or test(path):
                    return pool.outcome(after)
        return outcome


class _Pool(Generic[Outcome]):
    """The undecided patterns at a stem, heaviest first, with their keys and tests.

    No pattern matches a path without its key. A path with it is tested, unless the match is
    certain. Escaped patterns match no clean path: the heaviest represents all of them, with a key
    that every path contains.
    """

    __slots__ = ("_keys", "_known", "_outcomes", "_patterns", "_plan", "lookup", "tests")

    def __init__(self, lookup: Lookup[Outcome], plan: _Plan[Outcome], doubts: Doubts) -> None:
        ordered = sorted(doubts.patterns, key=lambda pattern: (-pattern.weight, pattern.order))
        heaviest = [pattern for pattern in ordered if pattern.is_escaped][:1]
        patterns = [one for one in ordered if not one.is_escaped or one in heaviest]
        self.lookup = lookup
        self._plan = plan
        self.tests = [_test(pattern, doubts.stem) for pattern in patterns]
        self._patterns = patterns
        self._keys = tuple(["/" if one.is_escaped else one.raw_key() for one in patterns])
        self._outcomes: list[Outcome | None] = [None] * len(patterns)
        self._known: dict[int, Keys[Outcome]] = {}

    def keys_above(self, weight: int) -> Keys[Outcome] | None:
        """The keys of the patterns that outweigh a literal."""
        count = bisect_left(self._patterns, -weight, key=lambda pattern: -pattern.weight)
        if count and count not in self._known:
            self._known[count] = Keys(self, self._keys[:count])
        return self._known.get(count)

    def outcome(self, at: int) -> Outcome:
        outcome = self._outcomes[at]
        if outcome is None:
            outcome = self._outcomes[at] = self._plan.explain(self._patterns[at].rule)
        return outcome


def _test(pattern: Pattern, stem: str) -> Callable[[str], bool] | None:
    """The test whether a pattern matches a path with its key; None where it certainly does."""
    if pattern.is_escaped:
        return _is_about_none
    return None if pattern.is_sure(stem) else pattern.matches


def _is_about_none(_: str) -> bool:
    return False


class Spot(Generic[Outcome]):
    """The outcome for paths that start with a text, unless an undecided pattern matches.

    The text is empty where the beginning of the URL is sufficient; otherwise the next spot covers
    other paths with that beginning.
    """

    __slots__ = ("doubts", "next", "outcome", "text")

    def __init__(
        self,
        outcome: Outcome,
        doubts: Keys[Outcome] | SharedPrefix[Outcome] | None = None,
        text: str = "",
        following: Spot[Outcome] | None = None,
    ) -> None:
        self.text = text
        self.outcome = outcome
        self.doubts = doubts
        self.next = following or self


class SharedPrefix(Generic[Outcome]):
    """The spots of many literals with the same beginning, found by binary search."""

    __slots__ = ("_lookup", "_spots", "_texts")

    def __init__(
        self, lookup: Lookup[Outcome], texts: list[str], spots: list[Spot[Outcome]]
    ) -> None:
        self._lookup = lookup
        self._texts = texts
        self._spots = spots  # one more than texts: the first is for paths before all of them

    def settle(self, url: str, _: Outcome) -> Outcome:
        """The outcome of the longest literal that the URL's path starts with, or of none."""
        path = url[self._lookup.cut :]
        spot = self._spots[bisect_right(self._texts, path)]
        while spot.text and not path.startswith(spot.text):
            spot = spot.next
        doubts = spot.doubts
        return spot.outcome if doubts is None else doubts.settle(url, spot.outcome)


class _Plan(Generic[Outcome]):
    """Builds the spots of a rule set; beginnings are keyed by their first `size` characters."""

    __slots__ = (
        "_explain",
        "_explained",
        "_literals",
        "_lookup",
        "_pools",
        "_texts",
        "rest",
        "size",
    )

    def __init__(
        self, lookup: Lookup[Outcome], rules: RuleSet, explain: Callable[[Rule | None], Outcome]
    ) -> None:
        self._lookup = lookup
        self._explain = explain
        self._explained: dict[Rule | None, Outcome] = {}
        self._pools: dict[Doubts, _Pool[Outcome]] = {}
        plain = [literal for literal in rules.literals if "%" not in literal.text]
        # The first are "" and perhaps "/": the last of them matches every path.
        start = sum(literal.text in {"", "/"} for literal in plain[:2])
        self._literals = plain[start:]
        self._texts = [literal.text for literal in self._literals]
        shortest = min(map(len, self._texts), default=2 if rules.exact else 1)
        self.size = min(shortest, _LONGEST_BEGINNING)
        self.rest = self._spot(plain[start - 1])

    def find(self, begin: str) -> Spot[Outcome] | None:
        """The spot for paths with a beginning; None where no literal has it."""
        first = bisect_left(self._texts, begin)
        literals = self._literals[first : bisect_right(self._texts, f"{begin}\U0010ffff", first)]
        if len(literals) > _FEW:
            return self._crowd(literals)
        return self._row(literals) if literals else None

    def _row(self, literals: list[Literal]) -> Spot[Outcome]:
        """The last of the sorted texts comes first: where several match, it is the longest."""
        spot = self.rest
        for literal in literals:
            spot = self._spot(literal, spot)
        return spot

    def _crowd(self, literals: list[Literal]) -> Spot[Outcome]:
        spots: dict[str, Spot[Outcome]] = {}
        for literal in literals:
            spots[literal.text] = self._spot(literal, spots.get(literal.parent.text, self.rest))
        crowd = SharedPrefix(self._lookup, list(spots), [self.rest, *spots.values()])
        return Spot(self.rest.outcome, crowd)

    def _spot(self, literal: Literal, following: Spot[Outcome] | None = None) -> Spot[Outcome]:
        pool = self._pools.get(literal.doubts)
        if pool is None:
            pool = self._pools[literal.doubts] = _Pool(self._lookup, self, literal.doubts)
        text = literal.text if len(literal.text) > self.size else ""
        return Spot(self.explain(literal.rule), pool.keys_above(literal.weight), text, following)

    def explain(self, rule: Rule | None) -> Outcome:
        """The outcome of a rule, or of none; computed once."""
        outcome = self._explained.get(rule)
        if outcome is None:
            outcome = self._explained[rule] = self._explain(rule)
        return outcome


class Lookup(dict[str, Spot[Outcome]]):
    """The spots of a rule set by the beginnings of URLs, each computed on first use.

    A file covers one origin, which is taken from the first URL. Its URLs have their path from `cut`
    on, and their beginning up to `end`.
    """

    # Only what each decision needs: with thousands of files, memory is the slow part.
    __slots__ = ("_origin", "_plan", "_rules", "cut", "end")

    def __init__(self, rules: RuleSet, explain: Callable[[Rule | None], Outcome]) -> None:
        """The patterns start with a slash or a wildcard."""
        super().__init__()
        self._rules = rules
        self._plan = _Plan(self, rules, explain)
        self._origin = "\n"
        self.cut = self.end = 0

    def __missing__(self, begin: str) -> Spot[Outcome]:
        """Raises KeyError for a beginning without information, such as another origin's."""
        path = begin[self.cut :]
        if not begin.startswith(self._origin) or "#" in path:
            raise KeyError(begin)
        whole = len(path) < self._plan.size
        found = None if whole else self._plan.find(path)
        if found is not None:
            self[begin] = found
            return found
        spot = Spot(self.decide(begin)) if whole else self._plan.rest
        if len(self) < _REMEMBERED:
            self[begin] = spot
        return spot

    def decide(self, url: str) -> Outcome:
        """The outcome for a URL of any origin."""
        clean = _match_clean_url(url)
        if clean is not None and not self.cut:
            self.cut = clean.start(1)
            self.end = self.cut + self._plan.size
            self._origin = f"{url[: self.cut]}/"
        path = robots_path(url) if clean is None else clean[1]
        return self._plan.explain(self._rules.decide(path))
