"""ID tokens that do not hold, each in one way: nobody comes in by them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from messor.fetch.services.identity_provider import Attempt, IdentityProvider, RefusedError

ISSUER, CLIENT = "https://id.example", "messor"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
ABOUT = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/enter?tenant=1",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
}


class Provider(IdentityProvider):
    """The provider with an answer of one's own in place of the network."""

    def __init__(self) -> None:
        super().__init__(ISSUER, CLIENT, "hush")
        self.token = ""
        self.asked: Mapping[str, str] = {}

    async def _request(
        self, method: str, url: str, form: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        if url == ABOUT["jwks_uri"]:
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
            return {"keys": [{**public, "kid": "one", "use": "sig"}]}
        if url == ABOUT["token_endpoint"]:
            self.asked = form or {}
            return {"id_token": self.token}
        return ABOUT


def claims(attempt: Attempt, **others: object) -> dict[str, Any]:
    now = int(time.time())
    usual = {
        "iss": ISSUER, "sub": "ada", "aud": CLIENT, "iat": now, "exp": now + 300,
        "nonce": attempt.nonce, "email": "ada@example.org", "email_verified": True,
    }  # fmt: skip
    return {name: value for name, value in {**usual, **others}.items() if value is not None}


def signed(said: dict[str, Any], key: Any = KEY, kid: str = "one") -> str:
    return jwt.encode(said, key, "RS256", {"kid": kid})


def by_hand(said: dict[str, Any], algorithm: str, secret: bytes = b"") -> str:
    """A token whose signature no library would make: none, or one with the public key as secret."""
    parts = ({"alg": algorithm, "kid": "one"}, said)
    head = ".".join(_base64(json.dumps(part).encode()) for part in parts)
    made = hmac.digest(secret, head.encode(), "sha256") if secret else b""
    return f"{head}.{_base64(made)}"


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


async def begun() -> tuple[Provider, Attempt]:
    provider = Provider()
    _, attempt = await provider.begin("https://messor.example/login/oidc/callback", "/")
    return provider, attempt


async def test_a_token_that_holds_says_who_it_is() -> None:
    provider = Provider()
    place, attempt = await provider.begin("https://messor.example/login/oidc/callback", "/")
    provider.token = signed(claims(attempt))
    found = await provider.finish(attempt, {"state": attempt.state, "code": "1", "iss": ISSUER})
    assert (found.issuer, found.subject, found.email) == (ISSUER, "ada", "ada@example.org")
    sent = parse_qs(urlsplit(place).query)
    verifier = hashlib.sha256(provider.asked["code_verifier"].encode()).digest()
    assert sent["code_challenge"] == [_base64(verifier)]
    assert sent["tenant"] == ["1"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"iss": "https://other.example"}, {"aud": "other"}, {"aud": None}, {"sub": None},
        {"aud": [CLIENT, "other"], "azp": "other"}, {"exp": 1}, {"exp": None}, {"iat": None},
        {"nonce": "another"}, {"nonce": None}, {"nonce": "é"}, {"nbf": 9_999_999_999},
    ],
    ids=str,
)  # fmt: skip
async def test_a_claim_that_is_wrong(wrong: dict[str, object]) -> None:
    provider, attempt = await begun()
    provider.token = signed(claims(attempt, **wrong))
    with pytest.raises(RefusedError):
        await provider.finish(attempt, {"state": attempt.state, "code": "1"})


async def test_a_signature_that_is_not_the_providers() -> None:
    provider, attempt = await begun()
    said = claims(attempt)
    head, _, signature = signed(said).split(".")
    changed = _base64(json.dumps({**said, "sub": "eve"}).encode())
    for token in (
        signed(said, OTHER), signed(said, OTHER, "two"), by_hand(said, "none"),
        by_hand(said, "HS256", PUBLIC), f"{head}.{changed}.{signature}", "", "a.b.c",
    ):  # fmt: skip
        provider.token = token
        with pytest.raises(RefusedError):
            await provider.finish(attempt, {"state": attempt.state, "code": "1"})


@pytest.mark.parametrize("verified", [None, False, "true", 1])
async def test_an_address_counts_only_if_it_is_verified(verified: object) -> None:
    provider, attempt = await begun()
    provider.token = signed(claims(attempt, email_verified=verified))
    found = await provider.finish(attempt, {"state": attempt.state, "code": "1"})
    assert found.email is None


async def test_an_answer_to_another_question() -> None:
    provider, attempt = await begun()
    provider.token = signed(claims(attempt))
    for answered in (
        {"code": "1"}, {"state": "", "code": "1"}, {"state": "é", "code": "1"},
        {"state": attempt.state}, {"state": attempt.state, "error": "access_denied", "code": "1"},
        {"state": attempt.state, "code": "1", "iss": "https://other.example"},
    ):  # fmt: skip
        with pytest.raises(RefusedError):
            await provider.finish(attempt, answered)
    assert provider.asked == {}  # no code was spent on it
