"""The gates' verdict on one response."""

from __future__ import annotations

from dataclasses import dataclass

# In the order in which a verdict lists them.
GATES = (
    "status",
    "size",
    "spa_shell",
    "text_ratio",
    "bot_block",
    "soft_404",
    "login_wall",
    "consent_wall",
    "empty",
)

# The same, most informative first: a shell is also small, but being a shell says more.
TELLING = (
    "bot_block",
    "login_wall",
    "consent_wall",
    "soft_404",
    "spa_shell",
    "empty",
    "status",
    "text_ratio",
    "size",
)

# Kinds of block that are not a vendor's challenge; these are also their friction signals.
DENIED = "denied"
RATE_LIMIT = "rate_limit"
GEO_BLOCK = "geo_block"
WAITING_ROOM = "waiting_room"
UNAVAILABLE = "unavailable"
PAYWALL = "paywall"
LOGIN_WALL = "login_wall"
CONSENT_WALL = "consent_wall"
EMPTY = "empty"
KINDS = frozenset(
    {DENIED, RATE_LIMIT, GEO_BLOCK, WAITING_ROOM, UNAVAILABLE, PAYWALL, LOGIN_WALL, CONSENT_WALL}
)
# A bot check of an unidentified vendor.
CHALLENGE = "bot_check"

# Statuses that are friction by themselves, with the kind of block.
FRICTION_STATUS = {
    401: LOGIN_WALL,
    402: PAYWALL,
    403: DENIED,
    407: DENIED,
    429: RATE_LIMIT,
    430: RATE_LIMIT,
    451: GEO_BLOCK,
    503: UNAVAILABLE,
    999: DENIED,
}

# Gates whose failure means that there is no content; a small page, or much markup, is content.
_NO_CONTENT = frozenset(GATES) - {"size", "text_ratio"}


@dataclass(frozen=True, slots=True)
class Block:
    """A page shown in place of the content."""

    by: str  # the vendor, or the kind of block
    evidence: str  # the exact text or header that shows it


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The gates a response failed, the block it is if any, and the friction seen."""

    gates: tuple[str, ...] = ()  # failed ones, in the order of GATES
    block: Block | None = None
    # "403", "challenge:VENDOR", "rate_limit", "empty"; "trace:VENDOR" is not friction.
    signals: tuple[str, ...] = ()

    @property
    def gate(self) -> str | None:
        """The most informative failed gate."""
        return min(self.gates, key=TELLING.index, default=None)

    @property
    def may_replace(self) -> bool:
        """Whether this content may replace earlier good content."""
        return self.block is None and _NO_CONTENT.isdisjoint(self.gates)
