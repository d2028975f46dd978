"""Hides secrets in what people and logs are shown: in URLs, header lines, settings and payloads.

The one place that knows what a secret looks like. A page's own URL is data and is not masked: it
would no longer lead to the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

MASK = "…"
_LONG_LOGIN = 16  # characters of a login without password: as long as this it is a token

# Names of fields, with underscores: whose values are secrets wherever they stand.
_FIELD = re.compile(
    r"(.*_)?(password|passwd|pwd|passphrase|secret|token|apikey|authorization|cookie|credentials?"
    r"|jwt|signature)|(.*_)?(api|access|private|secret|auth|client|subscription|ai|crawl4ai"
    r"|firecrawl)_key"
)
# Names of query parameters that are secrets as well; as fields of ours they are not.
_PARAMETERS = frozenset(
    {"key", "sig", "auth", "pass", "pw", "sid", "session", "sessionid", "phpsessid", "jsessionid", "hmac"}
)  # fmt: skip

_LOGIN = re.compile(r"(?<=://)([^/\s?#\"'<>]*)@")
_QUERY = re.compile(r"([?&;#])([^=&;#\s\"'<>?]{1,100})=([^&;#\s\"'<>]+)")
_ASSIGNED = re.compile(r"(?i)\b(password|passwd|pwd|secret|api_?key|token)(\s?=\s?)('[^']*'|[^\s&;,'\"]+)")  # fmt: skip
_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-subscription-token)(['\"]?\s*:\s*)[^\r\n]+"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_OWN = re.compile(r"\b(whsec_|messor_)[A-Za-z0-9+/=_-]{16,}")
# What a text without secrets of any kind lacks: most texts are looked at no further.
_HINTS = re.compile(r"(?i)@|=|:\s|bearer|basic|whsec_|messor_")


def is_secret_name(name: str) -> bool:
    """Whether a field of this name holds a secret."""
    return _FIELD.fullmatch(name.lower().replace("-", "_")) is not None


def mask_text(text: str) -> str:
    """The text with every secret in it hidden; what is around them stays."""
    if not _HINTS.search(text):
        return text
    text = _LOGIN.sub(_without_login, text)
    text = _QUERY.sub(_without_value, text)
    text = _ASSIGNED.sub(rf"\1\2{MASK}", text)
    text = _HEADER.sub(rf"\1\2{MASK}", text)
    text = _BEARER.sub(rf"\1 {MASK}", text)
    return _OWN.sub(rf"\1{MASK}", text)


def mask(value: Any, name: str = "") -> Any:
    """The same for whatever JSON can say; secrets are known by their field's name, too."""
    if isinstance(value, str):
        is_hidden = bool(value) and is_secret_name(name) and not _is_id(value)
        return MASK if is_hidden else mask_text(value)
    if isinstance(value, Mapping):
        return {mask_text(str(key)): mask(one, str(key)) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [mask(one, name) for one in value]
    return value


def mask_path(url: str) -> str:
    """An address whose path is a secret, too, as those of many webhooks are: only its origin."""
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


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
