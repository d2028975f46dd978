"""Content-Signal lines of a robots.txt: permitted uses of fetched content.

They appear in the groups of user agents, as `Content-Signal: search=yes, ai-train=no`. The group
that names us counts, else the one for all agents. https://contentsignals.org
"""

from __future__ import annotations

import re

_LINE = re.compile(
    rb"^[ \t]*(user-agent|content-signal|[a-z-]+)[ \t]*:[ \t]*([^#\r\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_SIGNAL = re.compile(r"([a-z-]{1,40})\s*=\s*(yes|no)(?![a-z])", re.IGNORECASE)


def content_signals(body: bytes, agent: str) -> dict[str, str]:
    """The signals for an agent; later lines of its groups win."""
    if b"ontent-" not in body:
        return {}
    ours: dict[str, str] = {}
    everybodys: dict[str, str] = {}
    agents: set[str] = set()
    naming = False  # whether the previous line named an agent, too
    for key, raw in _LINE.findall(body):
        value = raw.decode("utf-8", "replace").strip()
        if key.lower() == b"user-agent":
            agents = {*agents, value.lower()} if naming else {value.lower()}
            naming = True
            continue
        naming = False
        if key.lower() != b"content-signal":
            continue
        signals = {name.lower(): choice.lower() for name, choice in _SIGNAL.findall(value)}
        if agent.lower() in agents:
            ours.update(signals)
        if "*" in agents:
            everybodys.update(signals)
    return ours or everybodys
