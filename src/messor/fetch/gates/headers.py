"""Protection vendors recognised by headers and cookies.

A few headers mean that this response is a challenge; most only show that a vendor fronts the site,
which is a trace and not a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from messor.fetch.gates.verdict import Block

# Header → vendor and the values that mean a challenge or denial (empty: any value).
_CHALLENGES: dict[str, tuple[str, frozenset[str]]] = {
    "cf-mitigated": ("cloudflare", frozenset()),
    "x-vercel-mitigated": ("vercel", frozenset()),
    "x-vercel-challenge-token": ("vercel", frozenset()),
    "x-amzn-waf-action": ("aws-waf", frozenset({"challenge", "captcha", "block"})),
    "sg-captcha": ("siteground", frozenset()),
    "x-sucuri-block": ("sucuri", frozenset()),
    "x-kpsdk-im": ("kasada", frozenset()),
}

_TRACES = {
    "x-datadome": "datadome",
    "x-datadome-cid": "datadome",
    "x-dd-b": "datadome",
    "x-kasada": "kasada",
    "x-kpsdk-ct": "kasada",
    "x-kpsdk-cd": "kasada",
    "x-kpsdk-r": "kasada",
    "x-kpsdk-c": "kasada",
    "x-kpsdk-v": "kasada",
    "x-px-vid": "perimeterx",
    "x-iinfo": "imperva",
    "x-sucuri-id": "sucuri",
    "x-sucuri-cache": "sucuri",
    "akamai-grn": "akamai",
    "x-akamai-session-info": "akamai",
    "x-amzn-waf-action": "aws-waf",
    "x-distil-cs": "imperva",
    "x-queueit-connector": "queue-it",
}

# Header → substring of its value → vendor.
_VALUES: dict[str, tuple[tuple[str, str], ...]] = {
    "server": (
        ("akamaighost", "akamai"),
        ("ddos-guard", "ddos-guard"),
        ("sucuri", "sucuri"),
        ("reblaze", "reblaze"),
        ("datadome", "datadome"),
        ("imperva", "imperva"),
        ("incapsula", "imperva"),
        ("kasada", "kasada"),
        ("qrator", "qrator"),
        ("variti", "variti"),
        ("imunify360", "imunify360"),
        ("bigip", "f5"),
        ("big-ip", "f5"),
        ("stackpath", "stackpath"),
        ("yunjiasu", "yunjiasu"),
    ),
    "akamai-cache-status": (("error", "akamai"),),
    "x-cdn": (("imperva", "imperva"), ("incapsula", "imperva")),
    "x-cache": (("error from cloudfront", "cloudfront"),),
    "x-powered-by": (("anubis", "anubis"), ("reblaze", "reblaze")),
    "via": (("imperva", "imperva"), ("incapsula", "imperva")),
}

_COOKIES = {
    "cf_clearance": "cloudflare",
    "cf_chl_rc_i": "cloudflare",
    "cf_chl_rc_m": "cloudflare",
    "cf_chl_rc_ni": "cloudflare",
    "_abck": "akamai",
    "ak_bmsc": "akamai",
    "bm_sz": "akamai",
    "bm_sv": "akamai",
    "bm_mi": "akamai",
    "bm_so": "akamai",
    "bm_lso": "akamai",
    "sec_cpt": "akamai",
    "datadome": "datadome",
    "_px": "perimeterx",
    "_px2": "perimeterx",
    "_px3": "perimeterx",
    "_pxhd": "perimeterx",
    "_pxvid": "perimeterx",
    "_pxde": "perimeterx",
    "_pxff": "perimeterx",
    "_pxcaptcha": "perimeterx",
    "pxcts": "perimeterx",
    "reese84": "imperva",
    "___utmvc": "imperva",
    "___utmvm": "imperva",
    "x-d-token": "imperva",
    "d_id": "imperva",
    "aws-waf-token": "aws-waf",
    "rbzid": "reblaze",
    "rbzsessionid": "reblaze",
    "rbzreqid": "reblaze",
    "__uzma": "radware",
    "__uzmb": "radware",
    "__uzmc": "radware",
    "__uzmd": "radware",
    "__uzme": "radware",
    "__uzmf": "radware",
    "__ddg1_": "ddos-guard",
    "__ddg2_": "ddos-guard",
    "__ddgid_": "ddos-guard",
    "__ddgmark_": "ddos-guard",
    "_vcrcs": "vercel",
    "x5sec": "alibaba",
    "acw_sc__v2": "alibaba",
    "acw_sc__v3": "alibaba",
    "__jsl_clearance": "jiasule",
    "__jsl_clearance_s": "jiasule",
    "qrator_jsid": "qrator",
    "qrator_jsr": "qrator",
    "__cfwaitingroom": "cloudflare",
    "tspd_101": "f5",
    "spravka": "yandex",
    "wsidchk": "imunify360",
    "wfwaf-authcookie": "wordfence",
}

_COOKIE_PREFIXES = (
    ("visid_incap_", "imperva"),
    ("incap_ses_", "imperva"),
    ("nlbi_", "imperva"),
    ("incap_", "imperva"),
    ("cf_chl_", "cloudflare"),
    ("__ddg", "ddos-guard"),
    ("kp_uid", "kasada"),
    ("kpsdk", "kasada"),
    ("queueit", "queue-it"),
    ("_fs_ch_", "fastly"),
    ("techaro.lol-anubis", "anubis"),
    ("within.website-x-cmd-anubis", "anubis"),
    ("tspd_", "f5"),
    ("_pxmvid", "perimeterx"),
    ("sucuri_cloudproxy", "sucuri"),
    ("sucuricp_", "sucuri"),
    ("rbz", "reblaze"),
    ("__uzm", "radware"),
)
_PREFIXES = tuple(prefix for prefix, _ in _COOKIE_PREFIXES)


_TELLING = frozenset({"set-cookie", *_VALUES, *_CHALLENGES, *_TRACES})


@dataclass(slots=True)
class HeaderReading:
    """The block that the headers prove by themselves, and the vendors they name."""

    block: Block | None
    traces: list[str]


def read_headers(headers: Mapping[str, str]) -> HeaderReading:
    """Scan the headers once; names are case-insensitive."""
    found = HeaderReading(None, [])
    for given, value in headers.items():
        name = given.lower()
        if name not in _TELLING:
            continue
        if name == "set-cookie":
            _read_cookies(value, found.traces)
        elif name in _VALUES:
            lowered = value.lower()
            found.traces += [vendor for part, vendor in _VALUES[name] if part in lowered]
        elif name in _CHALLENGES:
            _read_challenge(name, value, found)
        elif name in _TRACES:
            found.traces.append(_TRACES[name])
    return found


def _read_challenge(name: str, value: str, found: HeaderReading) -> None:
    vendor, values = _CHALLENGES[name]
    if not values or value.strip().lower() in values:
        found.block = found.block or Block(vendor, f"{name}: {value.strip()[:100]}")
    elif name in _TRACES:
        found.traces.append(_TRACES[name])


def _read_cookies(value: str, traces: list[str]) -> None:
    """Vendors by cookie name; one value may hold several cookies, one per line."""
    for line in value.split("\n"):
        name = line.partition("=")[0].strip().lower()
        if name in _COOKIES:
            traces.append(_COOKIES[name])
        elif name.startswith(_PREFIXES):
            traces.append(next(v for prefix, v in _COOKIE_PREFIXES if name.startswith(prefix)))
