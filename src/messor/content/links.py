"""Links in records: the URL as written, and the social network it leads to."""

from __future__ import annotations

import re

from messor.content.evidence import NORMALISERS

_SCHEME = re.compile(r"(?:https?:)?//[^\s/]{3,}|/(?!/)|\?|[\w.-]+/|[\w-]+\.\w{2,5}$", re.IGNORECASE)
_NETWORKS = {
    "facebook.com": "facebook", "fb.com": "facebook", "instagram.com": "instagram",
    "twitter.com": "x", "x.com": "x", "linkedin.com": "linkedin", "youtube.com": "youtube",
    "tiktok.com": "tiktok", "xing.com": "xing", "pinterest.com": "pinterest",
    "threads.net": "threads", "bsky.app": "bluesky", "github.com": "github", "t.me": "telegram",
    "wa.me": "whatsapp", "vk.com": "vk", "vimeo.com": "vimeo", "mastodon.social": "mastodon",
    "flickr.com": "flickr", "snapchat.com": "snapchat",
}  # fmt: skip
_PROFILE = re.compile(
    r"(?:https?:)?//(?:[a-z]{2,3}\.|www\.|m\.|web\.)?([a-z]+\.[a-z]+)/(.+)", re.IGNORECASE
)
# Paths that share, log in or show one post are not profiles.
_NO_PROFILE = re.compile(
    r"(?:sharer|share|intent|dialog|plugins|login|signup|home|hashtag|search|watch|embed|p|reel|"
    r"status|tr|policies|privacy|legal|help|about|explore|shorts|playlist|sharing|sharearticle|"
    r"cws|pin|v\d|maps|groups/share|send|feed|events|photo|posts|privacy\.php|sharer\.php|"
    r"share\.php|home\.php)(?:[/?#.]|$)",
    re.IGNORECASE,
)


def read_url(text: str) -> str | None:
    """Return a link as written, without white space; relative ones stay relative."""
    text = text.strip()
    if len(text) > 2_000 or " " in text or not _SCHEME.match(text):
        return None
    return text


def read_network(text: str) -> str | None:
    """Return the social network of a profile URL; None if it is not a profile."""
    if not _is_network(text.partition("//")[2].partition("/")[0]):  # nearly all links
        return None
    match = _PROFILE.match(text.strip()[:500])
    if match is None:
        return None
    network = _NETWORKS.get(match[1].lower())
    rest = match[2].strip("/@ ")
    if network is None or not rest or _NO_PROFILE.match(rest) or "/status/" in rest:
        return None
    if network in ("facebook", "x", "instagram", "github") and rest.count("/") > 1:
        return None
    return network


def _is_network(host: str) -> bool:
    return ".".join(host.lower().split(".")[-2:]) in _NETWORKS


def read_profile(text: str) -> str | None:
    """Return the URL of a social profile as written."""
    return text.strip() if read_network(text) else None


NORMALISERS.add("link", read_url)
NORMALISERS.add("network", read_network)
NORMALISERS.add("profile", read_profile)
