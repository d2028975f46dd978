"""What a reader remembers between pages: the pages of a site repeat menus, labels and class names.

Whoever owns the reading creates one `Memory` and passes it with each page; without one, each page
starts afresh. It only saves time: every entry is the value of a pure function, so no result depends
on it. Every part is bounded. It is meant for one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")
Part = TypeVar("Part")

# About a hundred menus of a hundred entries.
MAX_ENTRIES = 16_384
MAX_KEY = 400  # characters of a text that is likely to recur


class Bounded(dict[Key, Value]):
    """A dict that forgets everything when it is full."""

    __slots__ = ()
    limit = MAX_ENTRIES

    def keep(self, key: Key, value: Value) -> None:
        if len(self) >= self.limit:
            self.clear()
        self[key] = value


class Memo(Bounded[Key, Value]):
    """Values of a pure function by argument: a dict lookup is cheaper than any call."""

    __slots__ = ("_compute",)

    def __init__(self, compute: Callable[[Key], Value]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: Key) -> Value:
        value = self._compute(key)
        if not isinstance(key, str) or len(key) <= MAX_KEY:
            self.keep(key, value)
        return value


class KnownTexts(Generic[Value]):
    """Texts examined before, and the meanings of those that have one, as few do.

    New texts are examined in one batch, so that a word can be searched in all of them at once.
    """

    __slots__ = ("_known", "_meanings", "_read")

    def __init__(self, read: Callable[[Collection[str]], Mapping[str, Value]]) -> None:
        self._read = read  # returns the meanings of the texts that have one
        self._known: set[str] = set()
        self._meanings: dict[str, Value] = {}

    def lookup(self, texts: AbstractSet[str]) -> dict[str, Value]:
        """Return the texts that have a meaning, with it."""
        meanings = self._meanings
        found = {text: meanings[text] for text in meanings.keys() & texts}
        fresh = texts - self._known
        if fresh:
            new = self._read(fresh)
            self._keep(fresh, new)
            found.update(new)
        return found

    def _keep(self, fresh: AbstractSet[str], new: Mapping[str, Value]) -> None:
        short = fresh
        if max(map(len, fresh)) > MAX_KEY:
            short = {text for text in fresh if len(text) <= MAX_KEY}
        if len(self._known) + len(short) > MAX_ENTRIES:
            self._known.clear()
            self._meanings.clear()
        if len(short) <= MAX_ENTRIES:
            self._meanings.update({text: new[text] for text in new.keys() & short})
            self._known.update(short)


class Memory:
    """The parts that a reader's modules keep, each created on first use."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: dict[object, Any] = {}

    def part(self, create: Callable[[], Part]) -> Part:
        """Return what this class or function created for the reader."""
        part: Part | None = self._parts.get(create)
        if part is None:
            part = self._parts[create] = create()
        return part

    def memo(self, compute: Callable[[Key], Value]) -> Memo[Key, Value]:
        """Return the known values of a pure function."""
        memo: Memo[Key, Value] | None = self._parts.get(compute)
        if memo is None:
            memo = self._parts[compute] = Memo(compute)
        return memo

    def texts(self, read: Callable[[Collection[str]], Mapping[str, Value]]) -> KnownTexts[Value]:
        """Return the texts whose meanings this pure function has read."""
        known: KnownTexts[Value] | None = self._parts.get(read)
        if known is None:
            known = self._parts[read] = KnownTexts(read)
        return known
