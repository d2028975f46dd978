from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from publicsuffixlist import PublicSuffixList

from messor.web import suffixes
from messor.web.suffixes import is_within, registrable_domain


def test_every_rule_is_there_in_both_forms() -> None:
    assert suffixes._suffixes()._publicsuffix == PublicSuffixList()._publicsuffix
    assert suffixes._delegated()._publicsuffix == PublicSuffixList()._publicsuffix
    assert suffixes._suffixes().accept_unknown
    assert not suffixes._delegated().accept_unknown


@pytest.mark.parametrize(
    "host, domain",
    [
        ("shop.example.co.uk", "example.co.uk"),
        ("me.github.io", "me.github.io"),
        ("github.io", None),
        ("a.b.site.test", "site.test"),
        ("127.0.0.1", None),
        ("[::1]", None),
        ("WWW.Example.COM.", "example.com"),
        ("", None),
        ("a.b..", None),
        ("b.[c.m", None),
    ],
)
def test_registrable_domain(host: str, domain: str | None) -> None:
    assert registrable_domain(host) == domain


def test_is_within() -> None:
    assert is_within("a.example.com", "example.com")
    assert is_within("Example.com", "example.com")
    assert not is_within("badexample.com", "example.com")
    assert not is_within("example.com", "a.example.com")
    assert not is_within("127.0.0.1", "0.1")
    assert not is_within("example.com", "")


@given(st.text())
def test_nothing_raises(host: str) -> None:
    registrable_domain(host)
    is_within(host, host)


def test_public_suffix_cases(corpus: Callable[[str], Any]) -> None:
    for row in corpus("psl.jsonl"):
        assert registrable_domain(row["input"]) == row["registrable"], row["id"]
