"""Masks secrets in everything shown or logged: URLs, header lines, settings and payloads.

The only place that knows what a secret looks like. A page's own URL is data and is not masked: it
would no longer lead to the page.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

MASK = "…"
_LONG_LOGIN = 16  # characters of a login without password: from this length on it is a token

# Field names, in lower case, whose values are always secrets (sslpassword, authToken).
_FIELD = re.compile(
    r".*(password|passwd|pwd|passphrase|secret|token|apikey|credential)s?"
    r"|(.*_)?(authorization|cookies?|jwt|signature)"
    r"|.*(api|access|private|secret|auth|client|subscription)_?key|(.*_)?(ai|crawl4ai|firecrawl)_key"
)
# Query parameters that are secrets as well; fields of our own with these names are not.
_PARAMETERS = frozenset(
    {"key", "sig", "auth", "pass", "pw", "sid", "session", "sessionid", "phpsessid", "jsessionid", "hmac"}
)  # fmt: skip

# The second form has a slash in its password, where it should be written %2F.
_LOGIN = re.compile(r"(?<=://)([^/\s?#\"'<>]*|[^/\s?#\"'<>:@\[]+:(?!\d+[/?#])[^\s\"'<>@]{1,200})@")
# Pieces after a semicolon without a name belong to the value before it.
_QUERY = re.compile(
    r"([?&;#])([^=&;#\s\"'<>?]{1,100})=([^&;#\s\"'<>]+(?:;[^=&;#\s\"'<>]*+(?=[&;#\s\"'<>]|\Z))*)"
)
_NAMED = r"[\w-]{0,60}(?:password|passwd|pwd|passphrase|secret|api_?key|token)"
_ASSIGNED = re.compile(
    rf"(?i)(?<![\w-])({_NAMED})(\s?=\s?)('(?:[^'\\]|\\.)*'|(?:\\.|[^\s&;,'\"\\])+)"
)
_QUOTED = re.compile(rf"(?i)([\"'])({_NAMED})\1(\s*:\s*)([\"'])(?:(?!\4)[^\\]|\\.)+\4")
_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-subscription-token)(['\"]?\s*:\s*)[^\r\n]+"
)
_SCHEME = re.compile(
    r"(?i)(\bauthorization['\"]?\s*[=:,]\s*['\"]?)?\b(bearer|basic)\s+([A-Za-z0-9._~+/=-]{4,})"
)
_WORD = re.compile(r"[A-Za-z][a-z]*(-[a-z]+)?")
_LONG_WORD = 20  # letters: from this length on it may be a token
_SHORT_TOKEN = 8
# Names of tables and backups start with messor_, too: only text in the form of a key is one.
_OWN = re.compile(r"\b(whsec_)[A-Za-z0-9+/=_-]{16,}|(messor_)[0-9a-f]{12}_[A-Za-z0-9_-]{43}")
# Absent from any text without secrets: most texts need no further search.
_HINTS = re.compile(r"(?i)@|=|:\s|[\"']\s*:|bearer|basic|whsec_|messor_")


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret."""
    return _FIELD.fullmatch(name.lower().replace("-", "_")) is not None


def mask_text(text: str) -> str:
    """The text with every secret in it masked."""
    if not _HINTS.search(text):
        return text
    text = _LOGIN.sub(_without_login, text)
    text = _QUERY.sub(_without_value, text)
    text = _ASSIGNED.sub(rf"\1\2{MASK}", text)
    text = _QUOTED.sub(rf"\1\2\1\3\4{MASK}\4", text)
    text = _HEADER.sub(rf"\1\2{MASK}", text)
    text = _SCHEME.sub(_without_credentials, text)
    return _OWN.sub(rf"\1\2{MASK}", text)


def mask(value: Any, name: str = "") -> Any:
    """The same for any JSON value; secrets are also recognised by their field's name."""
    if isinstance(value, str):
        is_hidden = bool(value) and is_secret_name(name) and not _is_id(value)
        return MASK if is_hidden else mask_text(value)
    if isinstance(value, Mapping):
        within = name if is_secret_name(name) else ""  # everything inside a secret is secret
        return {mask_text(str(key)): mask(one, within or str(key)) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [mask(one, name) for one in value]
    return value


def mask_except_pages(facts: Mapping[str, Any], fields: Collection[str]) -> dict[str, Any]:
    """The same for facts about pages; these fields hold pages' own URLs, where only a login is
    masked.
    """
    shown: dict[str, Any] = mask(facts)
    pages = {name: facts[name] for name in fields if isinstance(facts.get(name), str)}
    return shown | {name: _LOGIN.sub(_without_login, url) for name, url in pages.items()}


def mask_path(url: str) -> str:
    """Only the origin of a URL whose path is secret, too, as with many webhooks."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return MASK
    origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    return origin if parts.path in ("", "/") and not parts.query else f"{origin}/{MASK}"


def _without_login(found: re.Match[str]) -> str:
    user, colon, _ = found[1].partition(":")
    if colon:
        return f"{user}:{MASK}@"
    return f"{MASK}@" if len(user) >= _LONG_LOGIN else found[0]


def _without_value(found: re.Match[str]) -> str:
    name = unquote(found[2]).lower()
    if name in _PARAMETERS or is_secret_name(name) or name.startswith("x-amz-sig"):
        return f"{found[1]}{found[2]}={MASK}"
    return found[0]


def _without_credentials(found: re.Match[str]) -> str:
    """Bearer and Basic are ordinary words, too: the next word is masked if it can be a credential."""
    before, scheme, given = found[1] or "", found[2], found[3].rstrip(".")
    if not before and not _are_credentials(scheme, given):
        return found[0]
    return f"{before}{scheme} {MASK}"


def _are_credentials(scheme: str, given: str) -> bool:
    if len(given) < _LONG_WORD and _WORD.fullmatch(given):
        return False
    if scheme.lower() == "bearer":
        return len(given) >= _SHORT_TOKEN
    try:
        return b":" in base64.b64decode(given + "=" * (-len(given) % 4), validate=True)
    except binascii.Error:
        return False


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
