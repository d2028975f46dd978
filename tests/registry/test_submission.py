"""What a person types, understood: which domain it belongs to, where to start."""

from __future__ import annotations

import pytest

from messor.errors import UsageError
from messor.registry.domains import Submission


@pytest.mark.parametrize(
    "text, domain, base_url",
    [
        ("example.org", "example.org", "https://example.org/"),
        ("  Example.ORG \n", "example.org", "https://example.org/"),
        ("www.example.co.uk", "example.co.uk", "https://www.example.co.uk/"),
        ("http://shop.example.org/a/b?c#d", "example.org", "http://shop.example.org/"),
        ("https://example.org:8443/x", "example.org", "https://example.org:8443/"),
        ("https://example.org:443/", "example.org", "https://example.org/"),
        ("http://user:secret@example.org/", "example.org", "http://example.org/"),
        ("bücher.example", "xn--bcher-kva.example", "https://xn--bcher-kva.example/"),
        ("https://例え.テスト/", "xn--r8jz45g.xn--zckzah", "https://xn--r8jz45g.xn--zckzah/"),
        ("someone.github.io", "someone.github.io", "https://someone.github.io/"),
        ("http://example.org\\@evil.example/", "example.org", "http://example.org/"),
    ],
)
def test_it_is_understood(text: str, domain: str, base_url: str) -> None:
    assert Submission.understand(text) == Submission(domain, base_url)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "https://",
        "file:///etc/passwd",
        "ftp://example.org/",
        "javascript:alert(1)",
        "data://text/html,hello",
        "gopher://example.org/",
        "127.0.0.1",
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "https://[::1]/",
        "localhost",
        "com",
        "co.uk",
        "github.io",
        "http://exa mple.org/",
        "http://example.org:99999/",
        "a" * 10_000,
        "https://example.org/" + "a" * 10_000,
        "nul\x00byte.example",
    ],
)
def test_it_is_refused_in_a_short_sentence(text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        Submission.understand(text)
    assert len(str(refusal.value)) < 400
    said = str(refusal.value)
    assert "such as" in said or "give it a name: MESSOR_ALLOWED_NETWORKS__NAMES" in said
