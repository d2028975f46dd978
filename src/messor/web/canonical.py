"""Which paths and queries are equivalent: the rules behind the canonical form of a URL.

They are conservative. An escape is decoded only where no server can tell the difference, and a
parameter is dropped only when it is known to identify the visitor rather than the page.
"""

from __future__ import annotations

import re
from string import ascii_letters, digits

_TRACKING_NAMES = """
    gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid fbclid msclkid yclid ysclid
    twclid ttclid li_fat_id igshid igsh mc_cid mc_eid _hsenc _hsmi __hssc __hstc __hsfp
    hsctatracking mkt_tok vero_id vero_conv _openstat srsltid _ga _gl epik ef_id s_kwcid
    wickedid oly_anon_id oly_enc_id rb_clickid pk_campaign pk_kwd pk_source pk_medium
    pk_content pk_cid piwik_campaign piwik_kwd
"""
_TRACKING = frozenset(_TRACKING_NAMES.split())
_TRACKING_PREFIXES = ("utm_", "mtm_", "aspsessionid")
_SESSIONS = frozenset(
    ("jsessionid", "phpsessid", "bv_sessionid", "oscsid", "zenid", "cfid", "cftoken")
)
# These names may also be meaningful; only a value that looks like a token is dropped.
_MAYBE_SESSIONS = frozenset(("sid", "s", "sessid", "session", "sessionid", "session_id"))
_SESSION_TOKEN = re.compile(r"[0-9a-fA-F]{32,}\Z")
# "/..;jsessionid=1" keeps its session: without it, the dots would mean another folder.
_PATH_SESSION = re.compile(
    r"(?<!/\.)(?<!/\.\.);jsessionid=[^/;]*|/\(S\([a-z0-9]{24}\)\)(?=/)", re.IGNORECASE
)
_SLASHES = re.compile(r"(?<!:)/{2,}")

_UNRESERVED = ascii_letters + digits + "-._~"


def _escape_table(decoded: str, kept: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern of what needs rewriting, and what each match becomes.

    Escapes of `decoded` characters are decoded; of the literal characters, those and `kept` stay.
    """
    hexes = "0123456789ABCDEFabcdef"
    table = {"%": "%25"}
    for high in hexes:
        for low in hexes:
            char = chr(int(high + low, 16))
            table[f"%{high}{low}"] = char if char in decoded else f"%{high}{low}".upper()
    for code in range(128):
        if chr(code) not in decoded + kept + "%":
            table[chr(code)] = f"%{code:02X}"
    safe = re.escape(decoded + kept)
    return re.compile(f"%[0-9A-Fa-f]{{2}}|[^{safe}]"), table


# "/", "?", "#", "%", ";" and "+" have a special meaning when literal in a path, and "&", "=", "+",
# "#", "%" and ";" in a query: their escapes are kept.
_PATH_PATTERN, _PATH_TABLE = _escape_table(_UNRESERVED + "!$&'()*,:=@", "/;+")
_QUERY_PATTERN, _QUERY_TABLE = _escape_table(_UNRESERVED + "!$'()*,:@/?", "&=;+")


def canonical_path(path: str) -> str:
    path = _PATH_PATTERN.sub(lambda match: _PATH_TABLE[match[0]], path)
    if ";" in path or "(" in path:
        path = _PATH_SESSION.sub("", path)
    # A URL within the path ("/web/2020/http://…") keeps its slashes.
    return _SLASHES.sub("/", path) if "//" in path else path


def canonical_query(query: str) -> str:
    query = _QUERY_PATTERN.sub(lambda match: _QUERY_TABLE[match[0]], query).replace("+", "%20")
    kept = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if (name or value) and not _is_noise(name.lower(), value):
            kept.append(part if value else name)
    kept.sort()
    return "&".join(kept)


def _is_noise(name: str, value: str) -> bool:
    """Whether a parameter identifies the visitor rather than the page."""
    if name in _TRACKING or name in _SESSIONS or name.startswith(_TRACKING_PREFIXES):
        return True
    return name in _MAYBE_SESSIONS and _SESSION_TOKEN.match(value) is not None
