"""An OpenID Connect provider named in the configuration: where it sends people, and who it says
they are.

Authorization code flow with PKCE (RFC 7636). The ID token is authoritative: its signature by the
provider's published keys, issuer, audience, time and nonce. Mapping it to a member is left to
`access`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import aiohttp
import jwt
import msgspec
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from messor.errors import UnavailableError
from messor.fetch.guard import operator_socket

SECONDS = 15.0
MAX_BYTES = 1_000_000
LEEWAY = 60  # maximum clock difference to the provider, in seconds
SCOPES = "openid email profile"
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")


@dataclass(frozen=True, slots=True)
class Identity:
    """A person's identity according to the provider."""

    issuer: str
    subject: str
    email: str | None  # only if verified by the provider
    name: str | None


class Attempt(msgspec.Struct, frozen=True):
    """What must come back unchanged from the provider; kept encrypted in the browser meanwhile."""

    state: str
    nonce: str
    verifier: str
    redirect_uri: str
    target: str  # console path to open afterwards


class RefusedError(UnavailableError):
    """The provider, or the response in its name, denies the login."""

    code = "sign_on_refused"


class IdentityProvider:
    """Client of one provider; its published metadata is read once and cached."""

    def __init__(self, issuer: str, client_id: str, client_secret: str | None) -> None:
        self._issuer = issuer
        self._client_id = client_id
        self._secret = client_secret
        self._about: Mapping[str, Any] | None = None
        self._keys: dict[str, jwt.PyJWK] = {}

    async def begin(self, redirect_uri: str, target: str) -> tuple[str, Attempt]:
        """Where to send the browser, and the state to remember."""
        about = await self._discover()
        attempt = Attempt(
            secrets.token_urlsafe(32),
            secrets.token_urlsafe(32),
            secrets.token_urlsafe(48),
            redirect_uri,
            target,
        )
        challenge = base64.urlsafe_b64encode(hashlib.sha256(attempt.verifier.encode()).digest())
        parameters = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect_uri,
            "scope": SCOPES,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": challenge.rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        place = _url(about, "authorization_endpoint")
        return f"{place}{'&' if '?' in place else '?'}{urlencode(parameters)}", attempt

    async def finish(self, attempt: Attempt, answered: Mapping[str, str]) -> Identity:
        """Who logged in; raises RefusedError when any check fails."""
        if not _equal(answered.get("state", ""), attempt.state):
            raise RefusedError("This login was not started in this browser. Start again.")
        if answered.get("iss", self._issuer) != self._issuer:  # RFC 9207
            raise RefusedError("The response came from another identity provider.")
        if "error" in answered or "code" not in answered:
            why = answered.get("error_description") or answered.get("error") or "no code was sent"
            raise RefusedError(f"The identity provider refused the login: {why[:200]}")
        about = await self._discover()
        tokens = await self._exchange(about, attempt, answered["code"])
        claims = await self._verify(about, str(tokens.get("id_token", "")))
        if not _equal(str(claims.get("nonce", "")), attempt.nonce):
            raise RefusedError("The identity provider's response belongs to another login.")
        email = claims.get("email") if claims.get("email_verified") is True else None
        name = claims.get("name")
        return Identity(
            self._issuer,
            str(claims["sub"]),
            email if isinstance(email, str) else None,
            name if isinstance(name, str) else None,
        )

    async def _discover(self) -> Mapping[str, Any]:
        if self._about is None:
            place = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
            about = await self._request("GET", place)
            if about.get("issuer") != self._issuer:
                raise UnavailableError(
                    f"The identity provider calls itself {str(about.get('issuer'))[:200]!r}. "
                    "Set MESSOR_OIDC_ISSUER to exactly that."
                )
            self._about = about
        return self._about

    async def _exchange(
        self, about: Mapping[str, Any], attempt: Attempt, code: str
    ) -> Mapping[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.redirect_uri,
            "code_verifier": attempt.verifier,
            "client_id": self._client_id,
        }
        if self._secret is not None:
            form["client_secret"] = self._secret
        return await self._request("POST", _url(about, "token_endpoint"), form)

    async def _verify(self, about: Mapping[str, Any], token: str) -> Mapping[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            if algorithm not in ALGORITHMS:
                raise RefusedError(
                    f"The ID token is signed with {algorithm!r}, which is not accepted."
                )
            key = await self._key(about, header.get("kid"))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[str(algorithm)],
                audience=self._client_id,
                issuer=self._issuer,
                leeway=LEEWAY,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )
        except jwt.PyJWTError as error:
            raise RefusedError(f"The ID token is not valid: {error}.") from error
        if claims.get("azp", self._client_id) != self._client_id:
            raise RefusedError("The ID token was issued for another application.")
        return claims

    async def _key(self, about: Mapping[str, Any], kid: str | None) -> jwt.PyJWK:
        if kid is None or kid not in self._keys:  # keys are rotated now and then
            listed = await self._request("GET", _url(about, "jwks_uri"))
            found = list(jwt.PyJWKSet.from_dict(dict(listed)).keys)
            self._keys = {key.key_id: key for key in found if key.key_id is not None}
            if kid is None and len(found) == 1:
                return found[0]
        if kid is None or kid not in self._keys:
            raise RefusedError("The ID token is signed with a key that the provider does not list.")
        return self._keys[kid]

    async def _request(
        self, method: str, url: str, form: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        timeout = ClientTimeout(total=SECONDS)
        try:
            async with (
                ClientSession(
                    connector=TCPConnector(socket_factory=operator_socket),
                    timeout=timeout,
                    cookie_jar=DummyCookieJar(),
                    trust_env=False,
                ) as session,
                session.request(method, url, data=form, allow_redirects=False) as response,
            ):
                status, body = response.status, await _whole(response)
            found = msgspec.json.decode(body)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UnavailableError("The identity provider cannot be reached. Try later.") from error
        except msgspec.DecodeError as error:
            raise UnavailableError(
                f"The identity provider returned {status} without JSON at {url[:200]}."
            ) from error
        if status != 200 or not isinstance(found, dict):
            details = found if isinstance(found, dict) else {}
            why = details.get("error_description") or details.get("error") or "no reason given"
            raise RefusedError(f"The identity provider returned {status}: {str(why)[:200]}")
        return found


def _equal(given: str, expected: str) -> bool:
    """Constant-time comparison; the given text may be anything, non-ASCII included."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    """Read the whole body in any number of chunks; raises when it is too large."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > MAX_BYTES:
            raise UnavailableError(f"The identity provider sent more than {MAX_BYTES} bytes.")
    return bytes(body)


def _url(about: Mapping[str, Any], name: str) -> str:
    """A URL that the provider publishes; plain http only on this machine."""
    url = str(about.get(name, ""))
    parts = urlsplit(url)
    if parts.scheme == "https" or (
        parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    ):
        return url
    raise UnavailableError(f"The identity provider publishes no usable {name}.")
