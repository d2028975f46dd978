"""Accept-Signature (RFC 9421 5): what a site asks the next signature to be like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from messor.fetch.identity.message_signatures import (
    BadSignatureError,
    SignatureInput,
    SignedComponent,
    inputs_of,
)

STATUSES = frozenset({403, 429})
TAG = "web-bot-auth"
AGENT = "signature-agent"
MAX_COMPONENTS = 10
MAX_NONCE = 256
# What every request of ours has; fields besides these are not invented to please a site.
_OFFERED = frozenset(
    {"@authority", "@method", "@target-uri", "@scheme", "@path", "@query", "@request-target",
     AGENT, "user-agent", "accept", "accept-encoding"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Challenge:
    """A signature as a site wants it."""

    label: str
    components: tuple[SignedComponent, ...]
    nonce: str | None

    @property
    def is_of_url(self) -> bool:
        """Whether a signature fits one URL only, or one use."""
        wide = {"@authority", "@method", "@scheme", AGENT, "user-agent", "accept",
                "accept-encoding"}  # fmt: skip
        return self.nonce is not None or any(each.name not in wide for each in self.components)


def challenge_of(status: int | None, headers: Mapping[str, str]) -> Challenge | None:
    """The first challenge of a response that our signatures can meet."""
    value = headers.get("Accept-Signature")
    if status not in STATUSES or value is None:
        return None
    try:
        asked = inputs_of(value)
    except BadSignatureError:
        return None
    return next((found for each in asked.items() if (found := _met(*each)) is not None), None)


def _met(label: str, asked: SignatureInput) -> Challenge | None:
    nonce = asked.params.get("nonce")
    if (
        asked.params.get("tag", TAG) != TAG
        or asked.params.get("alg", "ed25519") != "ed25519"
        or len(asked.components) > MAX_COMPONENTS
        or (nonce is not None and len(str(nonce)) > MAX_NONCE)
        or any(each.name not in _OFFERED or each.of_request for each in asked.components)
        or any(each.key not in (None, label) for each in asked.components)
    ):
        return None
    return Challenge(
        label, _profiled(label, asked.components), None if nonce is None else str(nonce)
    )


def _profiled(label: str, asked: tuple[SignedComponent, ...]) -> tuple[SignedComponent, ...]:
    """What is asked, and what Web Bot Auth covers in any case."""
    rest = [each for each in asked if each.name not in ("@authority", AGENT)]
    return (SignedComponent("@authority"), *rest, SignedComponent(AGENT, label))
