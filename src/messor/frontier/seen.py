"""The seen filter: URLs known to be on the frontier, and the depth at which they were found.

Exact: it reports "known" only for URLs learned after their commit, and only while their domain's
terms version is the same: a purged domain returns under a new one. Forgotten URLs are looked up in
the database again, which costs time but never correctness.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from types import MappingProxyType

from messor.web.suffixes import registrable_domain
from messor.web.urls import host_of

NONE_KNOWN: Mapping[bytes, int] = MappingProxyType({})
NEVER_FOUND = 1 << 15  # deeper than any page
MAX_DOMAINS = 100_000  # domains whose terms version is remembered


class SeenFilter:
    """URL hashes by host; the least recently used host is forgotten first."""

    def __init__(self, capacity: int = 500_000) -> None:
        self._capacity = capacity
        self._size = 0
        self._hosts: OrderedDict[str, dict[bytes, int]] = OrderedDict()
        self._names: dict[str | None, set[str]] = {}  # hosts by domain
        self._terms: dict[str, int] = {}
        self.lessons = 0  # number of times it learned, for caches of unknown URLs

    def of(self, host: str) -> Mapping[bytes, int]:
        """The known hashes of a host, with the least depth found; read-only."""
        known = self._hosts.get(host)
        if known is None:
            return NONE_KNOWN
        self._hosts.move_to_end(host)
        return known

    def knows(self, host: str, url_hash: bytes, depth: int) -> bool:
        """Whether a URL is on the frontier at this depth or a lesser one."""
        return self.of(host).get(url_hash, NEVER_FOUND) <= depth

    def learn(self, host: str, depths: Mapping[bytes, int]) -> None:
        """Remember URLs whose rows are committed, by hash, with their depths."""
        known = self._hosts.get(host)
        if known is None:
            known = self._hosts[host] = {}
            self._names.setdefault(_domain_of(host), set()).add(host)
        self._hosts.move_to_end(host)
        before = len(known)
        for url_hash, depth in depths.items():
            if known.get(url_hash, NEVER_FOUND) > depth:
                known[url_hash] = depth
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
