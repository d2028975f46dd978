"""Registrable domains, after the public suffix list with its private section.

Governance applies to what this module calls a domain; whether a domain may be crawled is decided in
the registry.
"""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from pathlib import Path

from publicsuffixlist import PSLFILE, PublicSuffixList, encode_idn

_CACHE_SIZE = 65_536


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    # Built on first use. By itself the package encodes all rules, which takes most of the time.
    rules = Path(PSLFILE).read_text(encoding="utf-8").splitlines()
    encoded = [encode_idn(rule) for rule in rules if not (rule.isascii() or rule.startswith("//"))]
    return PublicSuffixList(
        rules + encoded, accept_unknown=True, accept_encoded_idn=False, only_icann=False
    )


def _folded(host: str) -> str:
    return host.lower().removesuffix(".")


def is_ip_literal(host: str) -> bool:
    """Whether a host, as URL parsing leaves it, is an IPv4 or bracketed IPv6 address."""
    if host.startswith("["):
        return True
    labels = host.split(".")
    return len(labels) == 4 and all(label.isdigit() and label.isascii() for label in labels)


@lru_cache(maxsize=_CACHE_SIZE)
def registrable_domain(host: str) -> str | None:
    """The registrable domain, in lower case and in the form given (Unicode or ASCII).

    None for a public suffix itself, for a malformed name, and for IP addresses: nobody registers
    these, so they are governed by exact host or not at all. An unknown top-level domain (".test")
    counts as a suffix.
    """
    name = _folded(host)
    if is_ip_literal(name) or "[" in name or not all(name.split(".")):
        return None
    domain: str | None = _suffixes().privatesuffix(name)
    return domain


# Reserved for examples and tests (RFC 2606): not delegated, and never part of a private network.
_RESERVED = frozenset({"example", "test", "invalid"})


@lru_cache(maxsize=_CACHE_SIZE)
def is_public_name(host: str) -> bool:
    """Whether a name can belong to the public web: two labels or more, below a known suffix.

    Names such as "localhost", "instance-data" or "kubernetes.default" are meaningful only within a
    private network.
    """
    name = _folded(host)
    if "." not in name:
        return False
    if name.rpartition(".")[2] in _RESERVED:
        return True
    return _delegated().publicsuffix(name) is not None


@lru_cache(maxsize=1)
def _delegated() -> PublicSuffixList:
    known = copy(_suffixes())  # a parsed list is not changed any more
    known.accept_unknown = False
    return known


def is_within(host: str, domain: str) -> bool:
    """Whether a host is the domain or one of its subdomains."""
    host, domain = _folded(host), _folded(domain)
    if not domain:
        return False
    return host == domain or (host.endswith(f".{domain}") and not is_ip_literal(host))
