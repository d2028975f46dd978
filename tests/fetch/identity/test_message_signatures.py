"""RFC 9421 and Web Bot Auth by their published examples; what was altered fails."""

from __future__ import annotations

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from messor.fetch.identity.message_signatures import (
    BadSignatureError,
    HttpMessage,
    SignatureInput,
    SignedComponent,
    authority_of,
    base_of,
    from_base64url,
    inputs_of,
    sign,
    thumbprint,
    verify,
)
from tests.fetch.identity import vectors

KEYS = {vectors.THUMBPRINT: from_base64url(vectors.X)}
PRIVATE = Ed25519PrivateKey.from_private_bytes(from_base64url(vectors.D))
TAG = "web-bot-auth"


def test_the_thumbprint_is_that_of_the_published_key() -> None:
    assert thumbprint(from_base64url(vectors.X)) == vectors.THUMBPRINT


def test_the_example_of_the_rfc() -> None:
    message = HttpMessage(
        "https://example.com/foo?param=Value&Pet=dog", vectors.RFC_HEADERS, method="POST"
    )
    covered = inputs_of(vectors.RFC_INPUT)["sig-b26"]
    known = base64.b64decode(vectors.RFC_SIGNATURE)
    Ed25519PublicKey.from_public_bytes(KEYS[vectors.THUMBPRINT]).verify(
        known, base_of(message, covered)
    )
    assert sign(message, covered, PRIVATE) == known


@pytest.mark.parametrize("headers", vectors.ARCHITECTURE)
def test_the_examples_of_web_bot_auth(headers: dict[str, str]) -> None:
    message = HttpMessage(vectors.URL, headers)
    assert verify(message, KEYS, tag=TAG, now=vectors.CREATED) == vectors.THUMBPRINT
    (label, covered), *_ = inputs_of(headers["signature-input"]).items()
    assert f"{label}={covered}" == headers["signature-input"]
    made = base64.b64encode(sign(message, covered, PRIVATE)).decode()
    assert f"{label}=:{made}:" == headers["signature"]


def test_the_example_of_a_directory_response() -> None:
    response = HttpMessage(
        status=200, headers=vectors.DIRECTORY_HEADERS, request=HttpMessage(vectors.DIRECTORY_URL)
    )
    tag = "http-message-signatures-directory"
    assert verify(response, KEYS, tag=tag, now=vectors.CREATED) == vectors.THUMBPRINT
    stolen = HttpMessage(
        status=200, headers=vectors.DIRECTORY_HEADERS, request=HttpMessage("https://thief.test/")
    )
    with pytest.raises(BadSignatureError, match="does not fit"):
        verify(stolen, KEYS, tag=tag, now=vectors.CREATED)


HEADERS = vectors.ARCHITECTURE[1]


@pytest.mark.parametrize(
    "url, headers, now, why",
    [
        ("https://other.test/", {}, vectors.CREATED, "does not fit"),
        (vectors.URL, {}, vectors.EXPIRES, "expired"),
        (vectors.URL, {}, vectors.CREATED - 60, "future"),
        (vectors.URL, {"signature-agent": 'agent2="https://thief.test"'}, vectors.CREATED, "fit"),
        (vectors.URL, {"signature-agent": '"https://signature-agent.test"'}, vectors.CREATED, "dict"),
        (vectors.URL, {"signature-agent": 'other="https://a.test"'}, vectors.CREATED, "no member"),
        (vectors.URL, {"signature": "sig2=:AAAA:"}, vectors.CREATED, "does not fit"),
        (vectors.URL, {"signature": "sig2"}, vectors.CREATED, "No signature"),
        (vectors.URL, {"signature": "\x00"}, vectors.CREATED, "not a dictionary"),
        (vectors.URL, {"signature-input": ""}, vectors.CREATED, "No signature"),
        (vectors.URL, {"signature-input": "sig2=1"}, vectors.CREATED, "not a list"),
    ],
)  # fmt: skip
def test_what_was_altered_fails(url: str, headers: dict[str, str], now: int, why: str) -> None:
    with pytest.raises(BadSignatureError, match=why):
        verify(HttpMessage(url, {**HEADERS, **headers}), KEYS, tag=TAG, now=now)


@pytest.mark.parametrize(
    "old, new",
    [
        (str(vectors.EXPIRES), str(vectors.EXPIRES + 1)),
        ('"@authority" ', ""),
        (vectors.THUMBPRINT, "nobody"),
        (f";expires={vectors.EXPIRES}", ""),
    ],
)
def test_altered_parameters_fail(old: str, new: str) -> None:
    altered = HEADERS["signature-input"].replace(old, new)
    with pytest.raises(BadSignatureError):
        verify(
            HttpMessage(vectors.URL, {**HEADERS, "signature-input": altered}),
            KEYS,
            tag=TAG,
            now=vectors.CREATED,
        )


@pytest.mark.parametrize(
    "url, authority",
    [
        ("https://Example.com:443/x", "example.com"),
        ("http://a.test:8080", "a.test:8080"),
        ("http://[::1]:80/", "[::1]"),
        ("https://[::1]:80/", "[::1]:80"),
    ],
)
def test_an_authority_leaves_the_default_port_out(url: str, authority: str) -> None:
    assert authority_of(url) == authority


def test_quotes_in_a_parameter_are_escaped() -> None:
    covered = SignatureInput((SignedComponent("@authority"),), {"nonce": 'a"b\\c'})
    assert inputs_of(f"x={covered}")["x"].params["nonce"] == 'a"b\\c'
