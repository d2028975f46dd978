"""Signs requests to sites as Web Bot Auth asks (draft-ietf-webbotauth-httpsig-protocol-01).

A signature covers the authority and who signs, so it serves all requests to one authority; it is
used for at most a minute. What a challenge or a price adds is signed for that request alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from messor.fetch.identity.challenge import AGENT, TAG, Challenge, challenge_of
from messor.fetch.identity.message_signatures import (
    HttpMessage,
    SignatureInput,
    SignedComponent,
    as_field,
    sign,
    thumbprint,
)
from messor.settings import Settings
from messor.web.urls import Url

REUSE_SECONDS = 60
LIFETIME_SECONDS = 180  # longer than a request takes, with clocks that differ by a minute
LABEL = "sig1"
KEPT = 10_000  # authorities whose signature or challenge is remembered
CHALLENGE_SECONDS = 86_400.0

Value = TypeVar("Value")
Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RequestKey:
    """The key that signs now; `number` is what the fetch log names it by."""

    number: int
    private: Ed25519PrivateKey
    name: str  # its thumbprint

    @classmethod
    def of(cls, number: int, private: Ed25519PrivateKey) -> RequestKey:
        return cls(number, private, thumbprint(private.public_key().public_bytes_raw()))


@dataclass(frozen=True, slots=True)
class Signature:
    """The fields that sign a request, and the key that made them."""

    fields: Fields
    lines: bytes  # the fields as they are written
    key: int


class RequestSigner:
    """Signs the requests of one worker; without a key it signs nothing."""

    def __init__(self, agent: str, *, clock: Callable[[], float] = time.time) -> None:
        self._agent = f'"{agent}"'
        self._clock = clock
        self._key: RequestKey | None = None
        self._kept: dict[str, tuple[float, Signature]] = {}
        self._challenges: dict[str, tuple[float, Challenge]] = {}

    def use(self, key: RequestKey | None) -> None:
        """Sign with this key from now on."""
        if key is None or self._key is None or key.name != self._key.name:
            self._key = key
            self._kept.clear()

    @property
    def is_on(self) -> bool:
        return self._key is not None

    def sign(
        self, url: Url, headers: Mapping[str, str] | None = None, price: Fields = ()
    ) -> Signature | None:
        """The fields that sign a GET of a URL; `price` is covered, and sent by the caller."""
        if self._key is None:
            return None
        now = self._clock()
        challenge = self._challenge(url.authority, now)
        if price or (challenge is not None and challenge.is_of_url):
            return self._sign(url, challenge, headers or {}, price)
        kept = self._kept.get(url.authority)
        if kept is not None and 0 <= now - kept[0] < REUSE_SECONDS:
            return kept[1]
        made = self._sign(url, challenge, headers or {}, ())
        _remember(self._kept, url.authority, (now, made))
        return made

    def challenged(self, url: Url, status: int | None, headers: Mapping[str, str]) -> bool:
        """Remember what a response asks for; whether a new signature may satisfy it."""
        asked = None if self._key is None else challenge_of(status, headers)
        if asked is None:
            return False
        known = self._challenges.get(url.authority)
        _remember(self._challenges, url.authority, (self._clock(), asked))
        self._kept.pop(url.authority, None)
        return known is None or known[1] != asked or asked.nonce is not None

    def _challenge(self, authority: str, now: float) -> Challenge | None:
        if not self._challenges:
            return None
        known = self._challenges.get(authority)
        if known is None or now - known[0] < CHALLENGE_SECONDS:
            return None if known is None else known[1]
        del self._challenges[authority]
        return None

    def _sign(
        self, url: Url, challenge: Challenge | None, headers: Mapping[str, str], price: Fields
    ) -> Signature:
        key, now = self._key, int(self._clock())
        assert key is not None
        label = LABEL if challenge is None else challenge.label
        components = (
            (SignedComponent("@authority"), SignedComponent(AGENT, label))
            if challenge is None
            else challenge.components
        )
        components += tuple(SignedComponent(name.lower()) for name, _ in price)
        params: dict[str, str | int] = {"created": now, "expires": now + LIFETIME_SECONDS}
        params |= {"keyid": key.name, "alg": "ed25519"}
        if challenge is not None and challenge.nonce is not None:
            params["nonce"] = challenge.nonce
        params["tag"] = TAG
        agent = f"{label}={self._agent}"
        known = {name.lower(): value for name, value in (*headers.items(), *price)}
        covered = SignatureInput(components, params)
        made = sign(HttpMessage(url.href, {**known, AGENT: agent}), covered, key.private)
        fields = (
            ("Signature-Agent", agent),
            ("Signature-Input", f"{label}={covered}"),
            ("Signature", f"{label}={as_field(made)}"),
        )
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields).encode("ascii")
        return Signature(fields, lines, key.number)


def make_signer(settings: Settings) -> RequestSigner | None:
    """The signer of this installation; None while no public address is set."""
    url = settings.identity_url
    return None if url is None else RequestSigner(url.rstrip("/"))


def _remember(kept: dict[str, Value], authority: str, value: Value) -> None:
    if len(kept) >= KEPT and authority not in kept:
        kept.clear()
    kept[authority] = value
