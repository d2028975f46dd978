"""How the simulated web changes: which pages appear, change or vanish in which epoch.

A page's edition is the last epoch in which it changed. Its content depends on the edition alone,
so a page that did not change is the same to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

_SCALE = 1 << 32


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of pages: changing and vanishing per epoch, and not yet there at epoch 0."""

    change: float = 0.0
    vanish: float = 0.0
    appear: float = 0.0


STEADY = Rates()
VANISH_HORIZON = 8  # epochs in which a page may vanish; later ones only change


def share(*names: object) -> float:
    """A fixed number in [0, 1) for these names; cheaper than a generator."""
    digest = blake2b("/".join(map(str, names)).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") / _SCALE


def edition(epoch: int, rates: Rates, *names: object) -> int | None:
    """The edition current at `epoch`; None if the page does not exist (yet, or any more)."""
    born = 1 + int(share("born", *names) * 3) if share("appears", *names) < rates.appear else 0
    if epoch < born or has_vanished(epoch, rates, *names):
        return None
    if not rates.change:
        return born
    changes = (e for e in range(epoch, born, -1) if share("change", e, *names) < rates.change)
    return next(changes, born)


def has_vanished(epoch: int, rates: Rates, *names: object) -> bool:
    if not rates.vanish:
        return False
    horizon = min(epoch, VANISH_HORIZON)
    return any(share("vanish", e, *names) < rates.vanish for e in range(1, horizon + 1))


def last_event(epoch: int, rates: Rates, *names: object) -> int:
    """The last epoch up to `epoch` in which the page appeared, changed or vanished."""
    if not has_vanished(epoch, rates, *names):
        return edition(epoch, rates, *names) or 0
    return next(e for e in range(1, epoch + 1) if has_vanished(e, rates, *names))
