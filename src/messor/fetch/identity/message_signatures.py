"""HTTP Message Signatures (RFC 9421), as far as Web Bot Auth needs them: Ed25519, derived components,
fields and their dictionary members. Pure functions; keys and time are given.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit, urlunsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from http_sf import StructuredFieldError, parse, ser

from messor.errors import MessorError

_PORTS = {"http": "80", "https": "443"}
MAX_FIELD = 16_384  # characters of a field that is parsed


class BadSignatureError(MessorError):
    """A signature does not hold; the message says why."""

    code = "bad_signature"


@dataclass(frozen=True, slots=True)
class SignedComponent:
    """What a signature covers: a field, a member of a dictionary field, or a derived component."""

    name: str
    key: str | None = None  # of a dictionary field's member
    of_request: bool = False  # in the signature of a response: taken from its request

    def __str__(self) -> str:
        member = f";key={_quoted(self.key)}" if self.key is not None else ""
        return f"{_quoted(self.name)}{member}{';req' if self.of_request else ''}"


@dataclass(frozen=True, slots=True)
class HttpMessage:
    """A request, or a response with its request, as far as a signature may cover it."""

    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    method: str = "GET"
    status: int | None = None
    request: HttpMessage | None = None

    def value_of(self, component: SignedComponent) -> str:
        """The value of a component; raises where the message has none."""
        source = self.request if component.of_request else self
        if source is None:
            raise BadSignatureError(f"{component} is of a request that is not known.")
        if component.name.startswith("@"):
            return source.derived(component.name)
        value = source.headers.get(component.name)
        if value is None:
            raise BadSignatureError(f"The message has no field {component.name}.")
        return value.strip() if component.key is None else _member(value, component)

    def derived(self, name: str) -> str:
        """A derived component (RFC 9421 2.2)."""
        if name == "@status" and self.status is not None:
            return str(self.status)
        derive = _DERIVED.get(name)
        if derive is None:
            raise BadSignatureError(f"The component {name} is not supported.")
        return derive(self, urlsplit(self.url))


# RFC 9421 2.2.1 to 2.2.7.
_DERIVED: Mapping[str, Callable[[HttpMessage, SplitResult], str]] = {
    "@method": lambda message, _: message.method,
    "@target-uri": lambda message, _: message.url,
    "@authority": lambda message, _: authority_of(message.url),
    "@scheme": lambda _, parts: parts.scheme,
    "@path": lambda _, parts: parts.path or "/",
    "@query": lambda _, parts: f"?{parts.query}",
    "@request-target": lambda _, parts: urlunsplit(("", "", parts.path or "/", parts.query, "")),
}


@dataclass(frozen=True, slots=True)
class SignatureInput:
    """What a signature covers, and its parameters in their order."""

    components: tuple[SignedComponent, ...]
    params: Mapping[str, str | int]

    def __str__(self) -> str:
        covered = " ".join(map(str, self.components))
        said = (
            f";{name}={value if isinstance(value, int) else _quoted(value)}"
            for name, value in self.params.items()
        )
        return f"({covered}){''.join(said)}"


def authority_of(url: str) -> str:
    """The authority in lower case, without the scheme's default port."""
    parts = urlsplit(url)
    authority = parts.netloc.rpartition("@")[2].lower()
    return authority.removesuffix(f":{_PORTS.get(parts.scheme, '')}")


def base_of(message: HttpMessage, covered: SignatureInput) -> bytes:
    """The signature base (RFC 9421 2.5)."""
    lines = [f"{component}: {message.value_of(component)}" for component in covered.components]
    return "\n".join([*lines, f'"@signature-params": {covered}']).encode()


def sign(message: HttpMessage, covered: SignatureInput, key: Ed25519PrivateKey) -> bytes:
    return key.sign(base_of(message, covered))


def as_field(signature: bytes) -> str:
    """A signature as a byte sequence of a structured field."""
    return f":{base64.b64encode(signature).decode()}:"


def thumbprint(public: bytes) -> str:
    """The JWK thumbprint of an Ed25519 key (RFC 7638, RFC 8037 appendix A.3)."""
    members = {"crv": "Ed25519", "kty": "OKP", "x": base64url(public)}
    return base64url(hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).digest())


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def inputs_of(value: str) -> dict[str, SignatureInput]:
    """The members of a Signature-Input or Accept-Signature field."""
    try:
        found = parse(value[:MAX_FIELD].encode("ascii"), tltype="dictionary")
    except (StructuredFieldError, UnicodeEncodeError) as error:
        raise BadSignatureError("The field is not a dictionary of RFC 9651.") from error
    assert isinstance(found, dict)
    return {str(label): _input(member) for label, member in found.items()}


def verify(
    message: HttpMessage, keys: Mapping[str, bytes], *, tag: str, now: int, skew: int = 5
) -> str:
    """The key id of a valid signature; raises where none of the message's signatures holds."""
    signatures = _signatures(message)
    reason = f"No signature has the tag {tag}."
    for label, covered in inputs_of(message.headers.get("signature-input", "")).items():
        if covered.params.get("tag") != tag or label not in signatures:
            continue
        try:
            key_id = _current(covered, now, skew)
            _check(message, covered, signatures[label], keys.get(key_id))
        except BadSignatureError as error:
            reason = str(error)
        else:
            return key_id
    raise BadSignatureError(reason)


def _current(covered: SignatureInput, now: int, skew: int) -> str:
    """The key id of a signature that is in force now."""
    created, expires = covered.params.get("created"), covered.params.get("expires")
    if not isinstance(created, int) or not isinstance(expires, int):
        raise BadSignatureError("The signature does not say when it was created and expires.")
    if created > now + skew:
        raise BadSignatureError("The signature was created in the future.")
    if expires <= now:
        raise BadSignatureError("The signature has expired.")
    return str(covered.params.get("keyid", ""))


def _check(
    message: HttpMessage, covered: SignatureInput, signature: bytes, public: bytes | None
) -> None:
    if public is None:
        raise BadSignatureError("The signature was made with an unknown key.")
    if not any(each.name in ("@authority", "@target-uri") for each in covered.components):
        raise BadSignatureError("The signature covers neither authority nor target.")
    try:
        key = Ed25519PublicKey.from_public_bytes(public)
        key.verify(signature, base_of(message, covered))
    except (InvalidSignature, ValueError) as error:
        raise BadSignatureError("The signature does not fit the message.") from error


def _signatures(message: HttpMessage) -> dict[str, bytes]:
    try:
        found = parse(message.headers.get("signature", "").encode("ascii"), tltype="dictionary")
    except (StructuredFieldError, UnicodeEncodeError) as error:
        raise BadSignatureError("The field Signature is not a dictionary of RFC 9651.") from error
    assert isinstance(found, dict)
    bare = {label: _bare(member) for label, member in found.items()}
    return {str(label): value for label, value in bare.items() if isinstance(value, bytes)}


def _input(member: object) -> SignatureInput:
    if not isinstance(member, tuple) or not isinstance(member[0], list):
        raise BadSignatureError("A member of the field is not a list of components.")
    items, params = member
    kept = {
        str(name): value if isinstance(value, int) and not isinstance(value, bool) else str(value)
        for name, value in params.items()
    }
    return SignatureInput(tuple(_component(item) for item in items), kept)


def _component(item: object) -> SignedComponent:
    name, params = item if isinstance(item, tuple) else (item, {})
    if not isinstance(name, str) or not set(params) <= {"key", "req"}:
        raise BadSignatureError("A component has a parameter that is not supported.")
    key = params.get("key")
    return SignedComponent(str(name), None if key is None else str(key), bool(params.get("req")))


def _member(value: str, component: SignedComponent) -> str:
    """One member of a dictionary field, serialised strictly (RFC 9421 2.1.2)."""
    try:
        found = parse(value.encode("ascii"), tltype="dictionary")
    except (StructuredFieldError, UnicodeEncodeError) as error:
        raise BadSignatureError(f"The field {component.name} is not a dictionary.") from error
    assert isinstance(found, dict)
    if component.key not in found:
        raise BadSignatureError(f"The field {component.name} has no member {component.key}.")
    return str(ser(cast(Any, found[component.key])))


def _bare(member: object) -> object:
    return member[0] if isinstance(member, tuple) else member


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
