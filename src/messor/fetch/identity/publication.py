"""What is published about us: key directory, agent card, address ranges. Pure documents.

The directory's response is signed by every key in it (appendix of the draft), so that nobody else
can publish our keys as theirs.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from messor import __version__
from messor.fetch.http import user_agent
from messor.fetch.identity.keys import DIRECTORY_SECONDS, IdentityKey
from messor.fetch.identity.message_signatures import (
    HttpMessage,
    SignatureInput,
    SignedComponent,
    as_field,
    sign,
)
from messor.fetch.identity.signer import RequestKey
from messor.settings import Settings

DIRECTORY = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE = "application/http-message-signatures-directory+json"
CARD = "/.well-known/signature-agent-card"
RANGES = "/bot/ranges.json"
PAGE = "/bot"
FORM = "/bot/opt-out"
TAG = "http-message-signatures-directory"
PROOF_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A published file: where, its type, its bytes, and the fields of its response."""

    path: str
    media_type: str
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AboutBot:
    """What the bot page says."""

    token: str
    user_agent: str
    rate: str
    purposes: tuple[str, ...]
    contact: str
    contact_link: str | None
    ranges: tuple[str, ...]
    ranges_path: str = RANGES
    card_path: str = CARD
    directory_path: str = DIRECTORY
    form_path: str | None = FORM


def base_url(settings: Settings) -> str:
    """The public address of the directory, without a slash at its end."""
    assert settings.identity_url is not None
    return settings.identity_url.rstrip("/")


def directory(
    settings: Settings, keys: Sequence[IdentityKey], proving: Sequence[RequestKey], now: int
) -> PublishedFile:
    """The key directory, with a signature of each key over authority and digest."""
    body = msgspec.json.encode({"keys": [key.jwk for key in keys]})
    digest = f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"
    request = HttpMessage(f"{base_url(settings)}{DIRECTORY}")
    response = HttpMessage(status=200, headers={"content-digest": digest}, request=request)
    inputs, signatures = [], []
    for number, key in enumerate(proving):
        covered = _proof(key.name, now)
        inputs.append(f"binding{number}={covered}")
        signatures.append(f"binding{number}={as_field(sign(response, covered, key.private))}")
    headers = {"Cache-Control": f"max-age={DIRECTORY_SECONDS}", "Content-Digest": digest}
    if inputs:
        headers |= {"Signature-Input": ", ".join(inputs), "Signature": ", ".join(signatures)}
    return PublishedFile(DIRECTORY, DIRECTORY_TYPE, body, headers)


def card(settings: Settings) -> PublishedFile:
    """The signature agent card (draft-meunier-webbotauth-registry-04)."""
    base = base_url(settings)
    about: dict[str, Any] = {
        "client_id": f"{base}{CARD}",
        "client_name": settings.agent_token,
        "client_uri": f"{base}{PAGE}",
        "contacts": [settings.contact],
        "jwks_uri": f"{base}{DIRECTORY}",
        "web_bot_auth": {
            "expected-user-agent": user_agent(settings, __version__),
            "rfc9309-product-token": settings.agent_token,
            "rfc9309-compliance": ["User-Agent", "Allow", "Disallow", "Crawl-delay",
                                   "Content-Usage"],
            "trigger": "crawler",
            "purpose": ", ".join(settings.identity_purposes),
            "rate-control": "Crawl-delay in robots.txt; 429 and 503 with Retry-After",
            "rate-expectation": _rate(settings),
            "ips_uri": f"{base}{RANGES}",
        },
    }  # fmt: skip
    return PublishedFile(CARD, "application/json", msgspec.json.encode(about), _cached())


def ranges(settings: Settings) -> PublishedFile:
    """The addresses that requests come from, in the form that large crawlers publish."""
    prefixes = [
        {"ipv6Prefix" if ":" in each else "ipv4Prefix": each} for each in settings.identity_ranges
    ]
    body = msgspec.json.encode({"prefixes": prefixes})
    return PublishedFile(RANGES, "application/json", body, _cached())


def links(settings: Settings) -> str:
    """The Link field of the bot page (draft-illyes-webbotauth-cbcp)."""
    base = base_url(settings)
    return f'<{base}{RANGES}>; rel="client-ranges", <{base}{CARD}>; rel="describedby"'


def about(settings: Settings) -> AboutBot:
    """What the bot page says."""
    contact = settings.contact
    is_link = contact.startswith(("https://", "http://", "mailto:"))
    return AboutBot(
        token=settings.agent_token,
        user_agent=user_agent(settings, __version__),
        rate=_pace(settings.default_delay),
        purposes=tuple(settings.identity_purposes),
        contact=contact.removeprefix("mailto:"),
        contact_link=contact if is_link else None,
        ranges=tuple(settings.identity_ranges),
    )


def _pace(delay: float) -> str:
    return "a second" if delay in (0, 1) else f"every {delay:g} seconds"


def _rate(settings: Settings) -> str:
    if settings.default_delay <= 0:
        return "as configured for each site"
    return f"max={1 / settings.default_delay:g}rps"


def _cached() -> dict[str, str]:
    return {"Cache-Control": f"max-age={DIRECTORY_SECONDS}"}


def _proof(name: str, now: int) -> SignatureInput:
    params: dict[str, str | int] = {"created": now, "keyid": name, "alg": "ed25519"}
    params |= {"expires": now + PROOF_SECONDS, "tag": TAG}
    return SignatureInput(
        (SignedComponent("@authority", of_request=True), SignedComponent("content-digest")), params
    )
