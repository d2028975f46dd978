"""The seen filter: URLs known to be on the frontier.

Exact: it reports "known" only for URLs learned after their commit, and only while their domain's
terms version is the same: a purged domain returns under a new one. Forgotten URLs are looked up in
the database again, which costs time but never correctness.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from messor.web.suffixes import registrable_domain
from messor.web.urls import host_of

NONE_KNOWN: AbstractSet[bytes] = frozenset()
MAX_DOMAINS = 100_000  # domains whose terms version is remembered


class SeenFilter:
    """URL hashes by host; the least recently used host is forgotten first."""

    def __init__(self, capacity: int = 500_000) -> None:
        self._capacity = capacity
        self._size = 0
        self._hosts: OrderedDict[str, set[bytes]] = OrderedDict()
        self._names: dict[str | None, set[str]] = {}  # hosts by domain
        self._terms: dict[str, int] = {}
        self.lessons = 0  # number of times it learned, for caches of unknown URLs

    def of(self, host: str) -> AbstractSet[bytes]:
        """The known hashes of a host; read-only."""
        known = self._hosts.get(host)
        if known is None:
            return NONE_KNOWN
        self._hosts.move_to_end(host)
        return known

    def learn(self, host: str, hashes: Iterable[bytes]) -> None:
        """Remember URLs whose rows are committed."""
        known = self._hosts.get(host)
        if known is None:
            known = self._hosts[host] = set()
            self._names.setdefault(_domain_of(host), set()).add(host)
        self._hosts.move_to_end(host)
        before = len(known)
        known.update(hashes)
        self._size += len(known) - before
        self.lessons += 1
        while self._size > self._capacity and self._hosts:
            self._forget(next(iter(self._hosts)))

    def meet(self, domain: str, terms: int) -> None:
        """Note a domain's terms version; forget what was learned under another."""
        if self._terms.get(domain) == terms:
            return
        if len(self._terms) >= MAX_DOMAINS:
            self._terms.clear()
        self._terms[domain] = terms
        for host in list(self._names.get(domain, ())):
            self._forget(host)

    def _forget(self, host: str) -> None:
        self._size -= len(self._hosts.pop(host))
        domain = _domain_of(host)
        names = self._names[domain]
        names.remove(host)
        if not names:
            del self._names[domain]

    def __len__(self) -> int:
        return self._size


def _domain_of(host: str) -> str | None:
    return registrable_domain(host_of(host))
