"""E-mail addresses in a text, including "info (at) example (dot) org".

Pages hide addresses from machines: with invisible text inside them, or as numbers that a Cloudflare
script decodes. The search is bounded around each character that may stand for @, so it takes linear
time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from messor.content.evidence import NORMALISERS
from messor.content.plain import from_html, one_space

_LOCAL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}\Z")
_DOMAIN = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}[A-Za-z]{2,24}(?![\w-])"
)
_IN_BRACKETS = (
    r"[(\[{<]\s?(?:at|ät|arroba|chiocciola|arobase|zavin[aá]č|małpa|kukac|apenstaartje|snabel-a|@|"
    r"собака)\s?[)\]}>]"
)
_AT = re.compile(rf"@|\s{{0,2}}{_IN_BRACKETS}\s{{0,2}}", re.IGNORECASE)
_BRACKETED = re.compile(_IN_BRACKETS, re.IGNORECASE)
_DOT = re.compile(
    r"\s{0,2}[(\[{<]\s?(?:dot|punkt|punto|point|ponto|kropka|\.)\s?[)\]}>]\s{0,2}", re.IGNORECASE
)
_MAX_TRIES = 500
# Target of Cloudflare's address links; the numbers follow a # or are in an attribute.
VEIL = "/cdn-cgi/l/email-protection"
_OBFUSCATED = re.compile(r"(?:^|#)((?:[0-9a-fA-F]{2}){4,200})$")
# Invisible text within a line. It contains no tag, so nothing is scanned twice.
_INVISIBLE = re.compile(
    r"<(\w{1,10})\s[^<>]{0,200}?(?:display\s?:\s?none|visibility\s?:\s?hidden)[^<>]{0,200}>"
    r"[^<>]{0,200}</\1>",
    re.IGNORECASE,
)
# File name extensions and placeholder endings.
_NO_TLD = frozenset(
    ("png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "js", "css", "html", "ico")
)
_NOBODY = re.compile(
    r"@(?:example\.|domain\.|email\.|yourdomain\.|mail\.com|test\.|sentry\.|2x|3x)|^(?:you|your|name|user|yourname|"
    r"firstname|vorname\.name|nombre|john\.doe|max\.mustermann|someone|example|u[0-9a-f]{4})@"
)


def may_have(text: str) -> bool:
    """Cheap check whether a text may contain an address."""
    if "@" in text:
        return True
    bracketed = "(" in text or "[" in text or "{" in text or "<" in text
    return bracketed and _BRACKETED.search(text) is not None


def read_email(text: str) -> str | None:
    """Return the first address in a text, in lower case; None if there is none."""
    return next((address for address, _ in emails(text)), None)


def emails(text: str) -> Iterator[tuple[str, str]]:
    """Yield the addresses in a text, each with its spelling there."""
    if text[:7].lower() == "mailto:":
        text = unquote(text[7:].partition("?")[0])
    for at in islice(_AT.finditer(text), _MAX_TRIES):
        if not (
            text[at.end() : at.end() + 1].isalnum()
            and text[max(0, at.start() - 1) : at.start()].strip()
        ):
            continue
        local = _LOCAL.search(text, max(0, at.start() - 64), at.start())
        if local is None:
            continue
        behind = text[at.end() : at.end() + 200]
        plain = _DOT.sub(".", behind)
        domain = _DOMAIN.match(plain)
        if domain is None:
            continue
        address = f"{local[0].strip('.')}@{domain[0]}".lower()
        if _is_somebody(address):
            yield address, text[local.start() : at.end() + _length(behind, domain[0])]


def _is_somebody(address: str) -> bool:
    local, _, domain = address.partition("@")
    top = domain.rpartition(".")[2]
    return bool(local) and top not in _NO_TLD and not _NOBODY.search(address)


def _length(written: str, domain: str) -> int:
    """Return how many characters after the @ make up the domain."""
    if written.startswith(domain):
        return len(domain)
    end = 0
    for label in domain.split("."):
        end = written.index(label, end) + len(label)
    return end


def has_hidden_text(quote: str) -> bool:
    """Whether a quote contains invisible text."""
    return "<" in quote and _INVISIBLE.search(quote) is not None


def read_visible_email(quote: str) -> str | None:
    """Return the first address in a piece of HTML, ignoring invisible text."""
    return read_email(one_space(from_html(_INVISIBLE.sub("", quote))))


def read_obfuscated_email(text: str) -> str | None:
    """Decode an address obfuscated by Cloudflare: all numbers are XORed with the first."""
    match = _OBFUSCATED.search(text.strip())
    if match is None:
        return None
    key, *mixed = bytes.fromhex(match[1])
    return read_email(bytes(each ^ key for each in mixed).decode("utf-8", "ignore"))


NORMALISERS.add("email", read_email)
NORMALISERS.add("shown_email", read_visible_email, raw=True)
NORMALISERS.add("veiled_email", read_obfuscated_email)
