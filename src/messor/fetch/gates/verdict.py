"""What the gates say of one answer."""

from __future__ import annotations

from dataclasses import dataclass

# In the order in which a verdict names them.
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

# The same with the most telling first: a shell is small, too, but that it is a shell says more.
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

# Kinds of block that are no vendor's challenge; they are friction signals by these names.
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
# A bot check that shows no vendor's name.
CHALLENGE = "bot_check"

# Statuses that are friction in themselves, and the kind of block each one is.
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

# Gates whose failure means that no content came; a small page, or much markup, is content.
_NO_CONTENT = frozenset(GATES) - {"size", "text_ratio"}


@dataclass(frozen=True, slots=True)
class Block:
    """A page that stands in the content's place."""

    by: str  # the vendor, or the kind of block
    evidence: str  # the exact text or header that shows it


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """The gates an answer failed, the block it is if any, and the friction seen."""

    gates: tuple[str, ...] = ()  # names of those failed, in the order of GATES
    block: Block | None = None
    # "403", "challenge:VENDOR", "rate_limit", "empty"; "trace:VENDOR" is no friction.
    signals: tuple[str, ...] = ()

    @property
    def gate(self) -> str | None:
        """The failed gate that tells most."""
        return min(self.gates, key=TELLING.index, default=None)

    @property
    def may_replace(self) -> bool:
        """Whether what came may take the place of content that was good before."""
        return self.block is None and _NO_CONTENT.isdisjoint(self.gates)
