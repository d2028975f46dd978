"""Content-Signal lines: whose group counts, and what is not one."""

from __future__ import annotations

import pytest

from messor.web.content_signals import content_signals


@pytest.mark.parametrize(
    "body, expected",
    [
        (b"User-agent: *\nContent-Signal: search=yes, ai-train=no\n", {"search": "yes", "ai-train": "no"}),
        (b"user-agent: *\r\ncontent-signal: AI-Train = NO # really\r\n", {"ai-train": "no"}),
        (b"User-agent: *\nContent-Signal: search=yes\nUser-agent: MessorBot\nContent-Signal: search=no\n",
         {"search": "no"}),
        (b"User-agent: Other\nUser-agent: messorbot\nAllow: /\nContent-Signal: ai-input=no\n", {"ai-input": "no"}),
        (b"User-agent: Other\nContent-Signal: search=no\n", {}),
        (b"Content-Signal: search=no\n", {}),
        (b"User-agent: *\nContent-Signal: search=maybe, x\n", {}),
        (b"User-agent: *\n# Content-Signal: search=no\n", {}),
        (b"", {}),
        (b"\xff\xfe\x00Content-Signal:" * 1000, {}),
    ],
)  # fmt: skip
def test_the_signals_meant_for_us(body: bytes, expected: dict[str, str]) -> None:
    assert content_signals(body, "MessorBot") == expected
